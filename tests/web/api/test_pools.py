"""The pools over REST: everybody reads them, pool admins make, change and remove them."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from audit.models import AuditEntry
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, Node, Pool, ProjectShare
from runs.models import Run
from runs.queue.dispatch import dispatch_waiting
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
POOLS = "/api/v1/pools"
FAST = {"name": "fast", "match_labels": {"model": "h100"}, "description": "New cards.", "order": 5}


@pytest.fixture
def nodes(db: None) -> None:
    for name in ("n0", "n1"):
        ensure_local_lanes(num_cpu_lanes=3, node=name)
    Node.objects.filter(name="n1").update(labels={"model": "h100", "rack": "a"})


@pytest.fixture
def fast(pool_admin: APIClient, nodes: None) -> Pool:
    assert pool_admin.post(POOLS, FAST).status_code == 201
    return Pool.objects.get(pk="fast")


def results(client: APIClient, path: str) -> list[dict[str, Any]]:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def test_a_new_pool_gets_the_lanes_that_it_matches_and_everybody_sees_it(api: APIClient, fast: Pool) -> None:
    first, default = results(api, POOLS)
    assert {field: first[field] for field in FAST} == FAST
    assert first["lanes"] == [{"kind": "cpu", "device": "cpu", "state": "available", "number": 3}]
    assert (default["name"], default["num_lanes"], default["match_labels"]) == (DEFAULT_POOL, 3, {})
    assert api.get(f"{POOLS}/fast").json() == first
    assert {lane["pool"] for lane in results(api, "/api/v1/lanes?node=n1")} == {"fast"}
    assert len(results(api, "/api/v1/lanes?pool=default")) == 3
    entry = AuditEntry.objects.get(action="pool.create")
    assert (entry.object_id, entry.changes["num_moved"]) == ("fast", 3)


def test_who_holds_lanes_is_named_to_those_who_may_see_it(
    api: APIClient,
    client_of: ClientOf,
    charlie: User,
    fast: Pool,
    make_run: Callable[..., Run],
    make_spec: Callable[..., RunSpec],
    project: Project,
) -> None:
    run = make_run(project=project, spec=make_spec(lanes={"pool": "fast"}))
    waiting = make_run(project=project, spec=make_spec(lanes={"pool": "fast"}))
    assert dispatch_waiting() == [run.pk]
    mine = api.get(f"{POOLS}/fast").json()
    assert mine["runs"] == [{"run_id": str(run.pk), "run_name": run.name, "num_lanes": 3}]
    assert mine["num_waiting"] == 1
    seen = client_of(charlie).get(f"{POOLS}/fast").json()
    assert (seen["runs"], seen["num_waiting"]) == ([], 1)
    assert seen["lanes"] == [{"kind": "cpu", "device": "cpu", "state": "allocated", "number": 3}]
    (row,) = results(api, "/api/v1/queue?pool=fast")
    assert (row["pool"], row["run_id"]) == ("fast", str(waiting.pk))
    assert results(api, "/api/v1/queue?pool=default") == []
    assert api.get("/api/v1/queue?pool=none").status_code == 404


def test_what_would_move_is_shown_before_it_is_saved(pool_admin: APIClient, fast: Pool) -> None:
    node = Node.objects.get(name="n0")
    tried = pool_admin.post(f"{POOLS}:preview", {"nodes": [{"id": node.pk, "labels": {"model": "h100"}}]}).json()[
        "results"
    ]
    assert [(row["lane"], row["old"], row["new"], row["is_held"]) for row in tried] == [
        (f"n0/cpu-{index}", DEFAULT_POOL, "fast", False) for index in range(3)
    ]
    assert Lane.objects.filter(pool="fast").count() == 3
    assert pool_admin.patch(f"/api/v1/nodes/{node.pk}", {"labels": {"model": "h100"}}).status_code == 200
    assert Lane.objects.filter(pool="fast").count() == 6
    rack = {"pool": {"name": "rack-a", "match_labels": {"rack": "a"}, "order": 1}}
    tried = pool_admin.post(f"{POOLS}:preview", rack).json()["results"]
    assert {(row["lane"][:2], row["new"]) for row in tried} == {("n1", "rack-a")}
    assert not Pool.objects.filter(pk="rack-a").exists()
    assert pool_admin.post(f"{POOLS}:preview", {"gpus": [{"id": 99, "labels": {}}]}).status_code == 400


def test_a_changed_pool_moves_lanes(pool_admin: APIClient, fast: Pool) -> None:
    changed = pool_admin.patch(f"{POOLS}/fast", {"match_labels": {"rack": "b"}, "order": 9}).json()
    assert (changed["match_labels"], changed["order"], changed["num_lanes"]) == ({"rack": "b"}, 9, 0)
    assert changed["description"] == "New cards."
    assert pool_admin.get(f"{POOLS}/{DEFAULT_POOL}").json()["num_lanes"] == 6


def test_the_default_pool_has_a_description_and_stays_what_it_is(pool_admin: APIClient, fast: Pool) -> None:
    address = f"{POOLS}/{DEFAULT_POOL}"
    assert pool_admin.patch(address, {"description": "The rest."}).json()["description"] == "The rest."
    for field, value in (("order", 1), ("match_labels", {"a": "b"})):
        refused = pool_admin.patch(address, {field: value})
        assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
    refused = pool_admin.delete(address)
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "the pool default stays: it has the lanes that no other pool matches",
    )


def test_a_removed_pools_lanes_move_to_what_matches_them_now(
    pool_admin: APIClient, fast: Pool, project: Project
) -> None:
    pool_admin.post(POOLS, {"name": "rack-a", "match_labels": {"rack": "a"}, "order": 7})
    pool_admin.put(f"/api/v1/shares/{project.pk}?pool=fast", {"guaranteed_lanes": 2})
    assert pool_admin.delete(f"{POOLS}/fast").status_code == 204
    assert set(Lane.objects.values_list("node__name", "pool")) == {("n0", DEFAULT_POOL), ("n1", "rack-a")}
    assert not ProjectShare.objects.exists()
    assert AuditEntry.objects.get(action="pool.delete").changes == {"num_moved": 3}
    assert pool_admin.get(f"{POOLS}/fast").status_code == 404


@pytest.mark.parametrize("state", ["queued", "running", "paused"])
def test_a_pool_that_runs_need_is_not_removed_and_they_are_named(
    pool_admin: APIClient, fast: Pool, make_run: Callable[..., Run], make_spec: Callable[..., RunSpec], state: str
) -> None:
    runs = [make_run(spec=make_spec(lanes={"pool": "fast"}), name=f"r{n}", state=state) for n in range(7)]
    refused = pool_admin.delete(f"{POOLS}/fast")
    assert refused.status_code == 409
    assert "have not ended: r0, r1, r2, r3, r4 and 2 more" in refused.json()["detail"]
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(state="completed")
    assert pool_admin.delete(f"{POOLS}/fast").status_code == 204


def test_a_run_whose_pool_is_gone_cannot_be_queued_there_again(
    pool_admin: APIClient,
    api: APIClient,
    fast: Pool,
    project: Project,
    make_run: Callable[..., Run],
    make_spec: Callable[..., RunSpec],
) -> None:
    run = make_run(
        project=project, spec=make_spec(lanes={"pool": "fast"}), state="stopped", ending="stop", resume_from="/c/1"
    )
    assert pool_admin.delete(f"{POOLS}/fast").status_code == 204
    refused = api.post(f"/api/v1/runs/{run.pk}/actions", {"action": "resume"})
    assert refused.status_code == 400
    assert refused.json()["errors"] == {"action": ["the pool fast is not there any more: choose another"]}


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": "Fast Lane"}),
        ("name", {"name": "fast"}),
        ("name", {"name": "default"}),
        ("name", {"name": "x" * 64}),
        ("match_labels", {"match_labels": {}}),
        ("match_labels", {"match_labels": {"a": "b c"}}),
        ("order", {"order": -1}),
        ("order", {"order": 32_767}),
        ("description", {"description": "x" * 201}),
    ],
)
def test_pools_that_make_no_sense_are_refused_by_field(
    pool_admin: APIClient, fast: Pool, field: str, given: dict[str, Any]
) -> None:
    refused = pool_admin.post(POOLS, {**FAST, "name": "other", **given})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])


def test_only_pool_admins_change_pools(api: APIClient, fast: Pool) -> None:
    assert api.post(POOLS, {**FAST, "name": "mine"}).status_code == 403
    assert api.post(f"{POOLS}:preview", {}).status_code == 403
    assert api.patch(f"{POOLS}/fast", {"order": 1}).status_code == 403
    assert api.delete(f"{POOLS}/fast").status_code == 403
    assert APIClient().get(POOLS).status_code == 401
    assert Pool.objects.get(pk="fast").order == 5


def test_shares_and_policy_are_of_one_pool(pool_admin: APIClient, api: APIClient, fast: Pool, project: Project) -> None:
    saved = pool_admin.put(f"/api/v1/shares/{project.pk}?pool=fast", {"max_lanes": 0}).json()
    assert (saved["pool"], saved["max_lanes"]) == ("fast", 0)
    assert [row["max_lanes"] for row in results(api, "/api/v1/shares?pool=fast")] == [0]
    assert [row["max_lanes"] for row in results(api, "/api/v1/shares")] == [None]
    kept_out = {row["name"]: row["kept_out"] for row in results(api, POOLS)}
    assert kept_out == {"fast": [str(project.pk)], DEFAULT_POOL: []}
    assert pool_admin.put("/api/v1/pool-policy?pool=fast", {"half_life_hours": 3}).json()["half_life_hours"] == 3
    assert api.get("/api/v1/pool-policy").json()["half_life_hours"] == 24
    assert api.get("/api/v1/pool-policy?pool=none").status_code == 404


def test_a_run_in_a_pool_that_its_project_is_kept_out_of_is_refused(
    pool_admin: APIClient, api: APIClient, fast: Pool, project: Project, make_spec: Callable[..., RunSpec]
) -> None:
    pool_admin.put(f"/api/v1/shares/{project.pk}?pool=fast", {"max_lanes": 0})
    spec = make_spec(lanes={"pool": "fast"}).model_dump(mode="json")
    refused = api.post("/api/v1/runs", {"project": str(project.pk), "name": "x", "spec": spec})
    assert refused.status_code == 400
    (said,) = refused.json()["errors"]["spec.lanes.pool"]
    assert said.endswith("got fast: it may use default")
    spec["lanes"]["pool"] = DEFAULT_POOL
    made = api.post("/api/v1/runs", {"project": str(project.pk), "name": "x", "spec": spec})
    assert (made.status_code, Run.objects.get().pool) == (201, DEFAULT_POOL)
