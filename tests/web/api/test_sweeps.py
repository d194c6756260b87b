"""Sweeps over REST: previewed, made, listed, stopped and deleted; refused by field; for those who may."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from django.test import Client
from rest_framework.test import APIClient

from accounts.api_tokens import TokenWish, create_token
from accounts.models import Project, TokenScope, User
from audit.models import AuditEntry
from runs.models import Run, Sweep
from sweeps.advance import advance_all
from sweeps.services import create_sweep
from tests.web.conftest import MakeProject
from tests.web.sweeps.swept_runs import plan, runs_of, train

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
ADDRESS = "/api/v1/sweeps"
RATE = "optimizer.learning_rate"


def body(project: Project, **fields: Any) -> dict[str, Any]:
    return {"project": str(project.pk), "sweep": plan(**fields)}


def test_a_sweep_is_made_of_yaml_listed_and_read_with_its_points(api: APIClient, project: Project) -> None:
    text = yaml.safe_dump(plan(num_seeds=2, budget_gpu_hours=3))
    made = api.post(ADDRESS, {"project": str(project.pk), "sweep": text})
    assert made.status_code == 201
    one = f"{ADDRESS}/{made.json()['id']}"
    assert [point["values"] for point in made.json()["points"]] == [{RATE: rate} for rate in (1e-4, 2e-4, 3e-4, 4e-4)]
    advance_all()
    for run, reward in zip(runs_of(Sweep.objects.get()), [0.2, 0.4, 0.5, 0.5], strict=False):
        train(run, {5: reward / 2, 10: reward})
    (line,) = api.get(ADDRESS, {"project": str(project.pk), "state": "running"}).json()["results"]
    assert (line["num_points"], line["num_runs"], line["num_runs_live"], line["budget_gpu_hours"]) == (4, 8, 8, 3)
    read = api.get(one).json()
    assert [(point["value"], point["least"], point["greatest"]) for point in read["points"][:3]] == [
        (pytest.approx(0.3), 0.2, 0.4),
        (0.5, 0.5, 0.5),
        (None, None, None),
    ]
    assert [(step["point"], round(step["value"], 6)) for step in read["best_so_far"]] == [
        (1, 0.15),
        (1, 0.3),
        (2, 0.5),
    ]
    run = api.get(f"/api/v1/runs/{read['points'][0]['runs'][1]['id']}").json()
    assert run["sweep"] == {"id": line["id"], "name": "rates", "point": 1, "seed": 1}
    listed = api.get("/api/v1/runs").json()["results"]
    assert {row["sweep"]["name"] for row in listed} == {"rates"}


def test_lists_cost_the_same_however_many_runs_a_sweep_has(
    api: APIClient, project: Project, django_assert_max_num_queries: Any
) -> None:
    for num_seeds in (1, 3, 5):
        api.post(ADDRESS, body(project, num_seeds=num_seeds))
    advance_all()
    with django_assert_max_num_queries(8):
        assert len(api.get(ADDRESS).json()["results"]) == 3
    with django_assert_max_num_queries(14):
        api.get(f"{ADDRESS}/{Sweep.objects.order_by('-created_at')[0].pk}")


def test_a_preview_tells_the_points_and_makes_nothing(client_of: ClientOf, viewer: User, project: Project) -> None:
    asked = body(project, pruner={"kind": "successive_halving", "min_samples": 8, "reduction_factor": 2}, num_seeds=3)
    found = client_of(viewer).post(f"{ADDRESS}:preview", asked).json()
    assert (len(found["points"]), found["num_runs"], found["num_samples"]) == (4, 12, 12 * 40)
    assert found["rungs"] == [8, 16, 32]
    assert not Sweep.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"space": {RATE: {"kind": "choice", "values": [1e-3, -1]}}}, f"sweep.space.{RATE}", "1 of 2 points"),
        ({"space": {"lora.rnak": {"kind": "int", "low": 1, "high": 2}}}, "sweep.space.lora.rnak", "did you mean"),
        ({"space": {"seed.x": {"kind": "int", "low": 1, "high": 2}}}, "sweep.space.seed.x", "no section"),
        ({"space": {"num_batches": {"kind": "int", "low": 1, "high": 300}}}, "sweep.space", "≤ 256 points, got 300"),
        (
            {
                "space": {"batch.group_size": {"kind": "choice", "values": [2, 3]}},
                "spec": plan()["spec"] | {"batch": {"num_prompts_per_batch": 2, "group_size": 2, "fragment_size": 2}},
            },
            "sweep.spec.batch.fragment_size",
            "batch.group_size = 3",
        ),
        ({"objective": {"metric": "eval/rewrad"}}, "sweep.objective.metric", "must be one of"),
        (
            {"pruner": {"kind": "successive_halving", "min_samples": 40}},
            "sweep.pruner.min_samples",
            "must be < 40 (the samples of 10 batches of 4)",
        ),
        (
            {
                "space": {"lora.rank": {"kind": "choice", "values": [4, -1]}},
                "sampler": {"kind": "random", "num_points": 2},
            },
            "sweep.space",
            "gave 1 different valid points in 8 draws",
        ),
        ({"spec": {"rewards": []}}, "sweep.spec.prompts", "is missing"),
    ],
)
def test_a_sweep_with_an_invalid_point_is_refused_by_field(
    api: APIClient, project: Project, fields: dict[str, Any], field: str, said: str
) -> None:
    refused = api.post(ADDRESS, body(project, **fields))
    assert refused.status_code == 400
    assert said in " ".join(refused.json()["errors"][field])
    assert not Sweep.objects.exists()


def test_an_invalid_draw_is_counted_and_another_taken(api: APIClient, project: Project) -> None:
    space = {"lora.rank": {"kind": "int", "low": -12, "high": 12}}
    made = api.post(ADDRESS, body(project, space=space, sampler={"kind": "random", "num_points": 6})).json()
    assert len(made["points"]) == 6
    assert made["num_invalid_draws"] > 0
    assert made["invalid_draw"].startswith("lora.rank = ")
    assert all(point["values"]["lora.rank"] > 0 for point in made["points"])


def test_members_see_a_sweep_editors_make_and_end_it_and_outsiders_see_nothing(
    client_of: ClientOf, api: APIClient, project: Project, bob: User, viewer: User, charlie: User
) -> None:
    one = f"{ADDRESS}/{api.post(ADDRESS, body(project)).json()['id']}"
    assert client_of(viewer).get(one).status_code == 200
    for method, address in (("post", ADDRESS), ("post", f"{one}/stop"), ("delete", one)):
        sent = body(project) if address == ADDRESS else {}
        refused = getattr(client_of(viewer), method)(address, sent)
        assert (refused.status_code, "editor" in refused.json()["detail"]) == (403, True)
        assert getattr(client_of(charlie), method)(address, sent).status_code == 404
        assert getattr(APIClient(), method)(address, sent, format="json").status_code == 401
    assert client_of(charlie).get(one).status_code == 404
    assert client_of(charlie).post(f"{ADDRESS}:preview", body(project)).status_code == 404
    assert client_of(charlie).get(ADDRESS).json()["results"] == []
    assert client_of(bob).post(f"{one}/stop").status_code == 200


def test_a_token_of_another_project_sees_no_sweep_and_one_that_reads_makes_none(
    api: APIClient, alice: User, project: Project, make_project: MakeProject
) -> None:
    one = f"{ADDRESS}/{api.post(ADDRESS, body(project)).json()['id']}"

    def with_token(**limits: Any) -> APIClient:
        _, token = create_token(user=alice, wish=TokenWish(name="ci", **limits))
        return APIClient(headers={"Authorization": f"Bearer {token}"})

    other = make_project("Other", owner=alice)
    elsewhere = with_token(scopes=frozenset({TokenScope.RUN}), projects=frozenset({other.pk}))
    assert elsewhere.get(one).status_code == 404
    assert elsewhere.post(ADDRESS, body(project), format="json").status_code == 404
    reader = with_token(scopes=frozenset({TokenScope.READ}))
    assert reader.get(one).status_code == 200
    assert reader.post(ADDRESS, body(project), format="json").status_code == 403
    assert reader.post(f"{ADDRESS}:preview", body(project), format="json").status_code == 200


def test_a_sweep_is_deleted_once_it_has_ended_and_its_runs_stay(api: APIClient, project: Project) -> None:
    one = f"{ADDRESS}/{api.post(ADDRESS, body(project)).json()['id']}"
    advance_all()
    refused = api.delete(one)
    assert (refused.status_code, refused.json()["state"]) == (409, "running")
    assert api.post(f"{one}/stop").json()["state"] == "stopping"
    assert api.post(f"{one}/stop").status_code == 409
    advance_all()
    assert api.delete(one).status_code == 204
    runs = list(Run.objects.all())
    assert [run.state for run in runs] == ["cancelled"] * 4
    assert api.get(f"/api/v1/runs/{runs[0].pk}").json()["sweep"] is None
    noted = AuditEntry.objects.filter(object_type="sweep").order_by("pk").values_list("action", flat=True)
    assert list(noted) == ["sweep.create", "sweep.stop", "sweep.delete"]


def test_a_page_fills_its_form_from_a_sweep_that_the_user_may_see(
    client_of: Callable[[User], APIClient], alice: User, charlie: User, project: Project
) -> None:
    sweep = create_sweep(user=alice, project=project, document=plan())
    pages = {user: Client() for user in (alice, charlie)}
    for user, page in pages.items():
        page.force_login(user)
    assert str(sweep.pk) in pages[alice].get(f"/sweeps/new?again={sweep.pk}").content.decode()
    assert pages[charlie].get(f"/sweeps/new?again={sweep.pk}").status_code == 404
    assert pages[alice].get("/sweeps/new?again=none").status_code == 404


def test_a_sweep_names_the_run_that_it_was_made_from(
    api: APIClient, project: Project, make_run: Callable[..., Run]
) -> None:
    parent = make_run(project=project)
    made = api.post(ADDRESS, {**body(project), "parent": str(parent.pk)}).json()
    advance_all()
    assert made["parent"] == str(parent.pk)
    assert {run.parent_id for run in runs_of(Sweep.objects.get())} == {parent.pk}
    foreign = make_run()
    assert api.post(ADDRESS, {**body(project), "parent": str(foreign.pk)}).status_code == 404


def test_a_repeat_with_an_idempotency_key_makes_no_second_sweep(api: APIClient, project: Project) -> None:
    made = [api.post(ADDRESS, body(project), headers={"Idempotency-Key": "once"}).json()["id"] for _ in range(2)]
    assert (len(set(made)), Sweep.objects.count()) == (1, 1)
