"""Runs over REST: create, list, read, change, delete, duplicate."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from runs.models import Run
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
MakeRun = Callable[..., Run]


@pytest.fixture
def body(project: Project, make_spec: Callable[..., RunSpec]) -> dict[str, Any]:
    return {"project": str(project.pk), "name": "first", "spec": make_spec().model_dump(mode="json")}


def test_a_run_is_created_queued(api: APIClient, body: dict[str, Any]) -> None:
    made = api.post("/api/v1/runs", {**body, "notes": "try", "tags": ["demo"]})
    assert made.status_code == 201
    run = made.json()
    assert (run["state"], run["created_by"], run["notes"], run["tags"]) == ("queued", "alice", "try", ["demo"])
    assert run["project"] == {"id": body["project"], "name": "Shapes", "role": "owner"}
    assert run["legal_actions"] == ["cancel"]
    assert api.get(f"/api/v1/runs/{run['id']}").json() == run
    (created,) = api.get(f"/api/v1/runs/{run['id']}/transitions").json()["results"]
    assert (created["new"], created["actor"]) == ("queued", "alice")


def test_a_spec_may_be_yaml(api: APIClient, body: dict[str, Any], make_spec: Callable[..., RunSpec]) -> None:
    made = api.post("/api/v1/runs", {**body, "spec": make_spec().to_yaml()})
    assert made.status_code == 201
    assert made.json()["spec"] == body["spec"]


def test_errors_of_a_spec_are_reported_below_spec(api: APIClient, body: dict[str, Any]) -> None:
    body["spec"]["batch"]["group_size"] = 1
    refused = api.post("/api/v1/runs", body)
    assert refused.status_code == 400
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert list(refused.json()["errors"]) == ["spec.batch.group_size"]
    assert refused.json()["status"] == 400
    assert not Run.objects.exists()


def test_viewers_create_nothing_and_outsiders_know_no_project(
    client_of: ClientOf, body: dict[str, Any], viewer: User, charlie: User
) -> None:
    assert client_of(viewer).post("/api/v1/runs", body).status_code == 403
    assert client_of(charlie).post("/api/v1/runs", body).status_code == 404
    assert not Run.objects.exists()


def test_the_list_shows_own_runs_newest_first_in_pages(
    client_of: ClientOf, api: APIClient, make_run: MakeRun, project: Project, charlie: User
) -> None:
    made = [str(make_run(project=project).pk) for _ in range(5)]
    make_run()
    seen: list[str] = []
    address: str | None = "/api/v1/runs?limit=2"
    while address:
        page = api.get(address).json()
        seen += [run["id"] for run in page["results"]]
        address = page["next"]
    assert seen == made[::-1]
    assert client_of(charlie).get("/api/v1/runs").json()["results"] == []


def test_the_list_is_filtered(api: APIClient, make_run: MakeRun, project: Project) -> None:
    make_run(project=project, name="red", tags=["night"], state="running", attempt=1)
    make_run(project=project, name="blue", notes="with KL", state="failed")
    make_run(project=project, name="old", archived_at="2026-01-01T00:00Z", state="completed")

    def names(**query: Any) -> list[str]:
        return [run["name"] for run in api.get("/api/v1/runs", query).json()["results"]]

    assert names() == ["blue", "red"]
    assert names(project=str(project.pk), state="running") == ["red"]
    assert names(tag="night") == ["red"]
    assert names(search="kl") == ["blue"]
    assert names(archived="true") == ["old"]
    assert api.get("/api/v1/runs", {"state": "sleeping"}).status_code == 400


def test_a_listed_run_has_what_its_row_shows_and_not_its_spec(
    api: APIClient, make_run: MakeRun, project: Project
) -> None:
    run = make_run(project=project, tags=["night"])
    (listed,) = api.get("/api/v1/runs").json()["results"]
    whole = api.get(f"/api/v1/runs/{run.pk}").json()
    assert listed == {name: whole[name] for name in listed}, "what both have, both say alike"
    assert listed["project"] == {"id": str(project.pk), "name": "Shapes", "role": "owner"}
    assert not {"spec", "algebra", "notes", "failure"} & listed.keys()


def test_the_list_costs_as_many_queries_for_many_as_for_few(
    api: APIClient, make_run: MakeRun, project: Project, django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        make_run(project=project, state="completed")
    with django_assert_max_num_queries(6):
        api.get("/api/v1/runs")


def test_only_what_is_sent_changes(api: APIClient, make_run: MakeRun, project: Project) -> None:
    run = make_run(project=project, notes="keep", state="completed")
    address = f"/api/v1/runs/{run.pk}"
    changed = api.patch(address, {"name": "better", "tags": ["a", "b"]}).json()
    assert (changed["name"], changed["tags"], changed["notes"]) == ("better", ["a", "b"], "keep")
    assert api.patch(address, {"archived": True}).json()["archived_at"] is not None
    assert api.patch(address, {"archived": False}).json()["archived_at"] is None


def test_a_change_that_is_refused_changes_nothing(api: APIClient, make_run: MakeRun, project: Project) -> None:
    run = make_run(project=project, name="before", state="running", attempt=1)
    refused = api.patch(f"/api/v1/runs/{run.pk}", {"name": "after", "archived": True})
    assert refused.status_code == 409
    assert refused.json()["state"] == "running"
    assert Run.objects.get().name == "before"


def test_a_live_run_is_not_deleted_and_an_ended_one_is(api: APIClient, make_run: MakeRun, project: Project) -> None:
    run = make_run(project=project, state="running", attempt=1)
    refused = api.delete(f"/api/v1/runs/{run.pk}")
    assert refused.status_code == 409
    assert "cancel" in refused.json()["legal_actions"]
    Run.objects.update(state="completed")
    assert api.delete(f"/api/v1/runs/{run.pk}").status_code == 204
    assert api.get(f"/api/v1/runs/{run.pk}").status_code == 404


def test_a_copy_knows_its_parent(api: APIClient, make_run: MakeRun, project: Project) -> None:
    run = make_run(project=project, name="demo")
    copy = api.post(f"/api/v1/runs/{run.pk}/duplicate", {})
    assert copy.status_code == 201
    assert (copy.json()["name"], copy.json()["parent"], copy.json()["spec"]) == ("demo 2", str(run.pk), run.spec)


def test_a_copy_may_be_edited(api: APIClient, make_run: MakeRun, project: Project) -> None:
    run = make_run(project=project)
    copy = api.post(f"/api/v1/runs/{run.pk}/duplicate", {"name": "seed 7", "spec": {**run.spec, "seed": 7}}).json()
    assert (copy["name"], copy["spec"]["seed"]) == ("seed 7", 7)
