"""The list of operations, and each kind in it, as it goes on."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from fleet.models import GpuTest, Lane, LaneUse, Node
from fleet.services import release_lanes
from gallery.models import Preview
from gallery.previews import TIME_LIMIT, end
from runs.models import PendingCommand, Run, RunResize, Sweep
from runs.transitions import move
from sweeps.advance import advance_all
from tests.web.api.conftest import ClientOf
from tests.web.operations.conftest import Begin
from tests.web.sweeps.swept_runs import runs_of
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
LIST = "/api/v1/operations"


def read(api: APIClient, operation: str) -> dict[str, Any]:
    answer = api.get(f"{LIST}/{operation}")
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def ids(api: APIClient, **query: Any) -> list[str]:
    return [one["id"] for one in api.get(LIST, query).json()["results"]]


def test_every_kind_is_listed_the_newest_first_and_read_alike(api: APIClient, begin: Begin) -> None:
    begun = begin()
    assert ids(api) == list(begun.values())[::-1]
    assert ids(api, order="created_at") == list(begun.values())
    listed = {one["kind"]: one for one in api.get(LIST).json()["results"]}
    assert {kind: one["state"] for kind, one in listed.items()} == {
        "preview": "waiting",
        "command": "waiting",
        "resize": "waiting",
        "sweep": "running",
        "gpu_test": "waiting",
        "drain": "running",
    }
    assert [read(api, one)["target"] for one in begun.values()] == [listed[kind]["target"] for kind in begun]
    assert listed["command"]["action"] == "checkpoint_now"
    assert listed["preview"]["progress"] == {"done": 0, "total": 4, "unit": "pictures"}
    assert listed["drain"]["progress"] == {"done": 2, "total": 6, "unit": "lanes"}
    assert listed["sweep"]["progress"] == {"done": 0, "total": 4, "unit": "runs"}


def test_pages_go_on_through_all_kinds_without_gap_or_repeat(api: APIClient, begin: Begin) -> None:
    begun = begin()
    # At one moment, so that their ids alone order them.
    moment = timezone.now()
    for model in (Preview, PendingCommand, RunResize, Sweep, GpuTest):
        model.objects.update(created_at=moment)
    for order in ("-created_at", "created_at"):
        whole = ids(api, order=order)
        assert sorted(whole) == sorted(begun.values())
        address, found = f"{LIST}?limit=1&order={order}", []
        while address:
            page = api.get(address).json()
            found += [one["id"] for one in page["results"]]
            address = page["next"]
        assert found == whole
    assert api.get(LIST, {"cursor": "bm9uc2Vuc2U="}).status_code == 404


def test_filters_narrow_by_kind_state_run_project_and_user(
    api: APIClient, client_of: ClientOf, begin: Begin, trained: Run, bob: User
) -> None:
    begun = begin()
    assert ids(api, kind="drain,preview") == [begun["drain"], begun["preview"]]
    assert ids(api, state="running") == [begun["drain"], begun["sweep"]]
    of_run = [begun[kind] for kind in ("resize", "command", "preview")]
    assert ids(api, run=str(trained.pk)) == of_run
    assert ids(api, project=str(trained.project_id)) == [begun["sweep"], *of_run]
    assert ids(api, mine=True) == [begun["sweep"], *of_run]
    assert ids(client_of(bob), mine=True) == []
    refused = api.get(LIST, {"state": "done"})
    assert (refused.status_code, "got `done`" in refused.json()["detail"]) == (400, True)


def test_outsiders_see_those_of_the_pool_alone(client_of: ClientOf, begin: Begin, viewer: User, charlie: User) -> None:
    begun = begin()
    outsider = client_of(charlie)
    assert ids(outsider) == [begun["drain"], begun["gpu_test"]]
    assert {kind: outsider.get(f"{LIST}/{one}").status_code for kind, one in begun.items()} == {
        **dict.fromkeys(("preview", "command", "resize", "sweep"), 404),
        **dict.fromkeys(("gpu_test", "drain"), 200),
    }
    assert ids(client_of(viewer)) == list(begun.values())[::-1]
    assert not any(one["can_cancel"] for one in client_of(viewer).get(LIST).json()["results"])


@pytest.mark.parametrize("wanted", ["", "preview", "preview-1", "drain-٣", "drain-99999999999999999999", "run-1"])
def test_an_id_that_names_nothing_is_not_found(api: APIClient, wanted: str) -> None:
    assert api.get(f"{LIST}/{wanted or 'x'}").status_code == 404


def test_a_request_is_found_by_its_id_and_names_what_it_began(
    api: APIClient, pool_admin: APIClient, begin: Begin
) -> None:
    begin()
    node = Node.objects.get()
    pool_admin.post(f"/api/v1/nodes/{node.pk}/actions", {"action": "resume"})
    headers = {"X-Request-ID": "maintenance-7"}
    gpus = {"gpus": [gpu.pk for gpu in node.gpus.all()], "action": "drain", "reason": "dust"}
    drained = pool_admin.post("/api/v1/pool/actions", gpus, format="json", headers=headers).json()["results"]
    named = [gpu["operation"] for gpu in drained[0]["gpus"] if gpu["operation"]]
    assert sorted(ids(api, request_id="maintenance-7")) == sorted(named)
    assert {read(api, one)["request_id"] for one in named} == {"maintenance-7"}
    assert ids(api, request_id="of-nothing") == []


def test_a_preview_goes_from_its_lane_to_its_pictures(api: APIClient, begin: Begin, trained: Run) -> None:
    operation = begin()["preview"]
    preview = Preview.objects.get()
    Preview.objects.update(code_hash="of its job", state="running", deadline=timezone.now() + TIME_LIMIT)
    begun = read(api, operation)
    assert (begun["state"], begun["started_at"] is not None, begun["ended_at"]) == ("running", True, None)
    end(preview.pk, "the job failed before it was done: out of memory")
    ended = read(api, operation)
    assert (ended["state"], ended["problem"]) == ("failed", "the job failed before it was done: out of memory")
    assert ended["ended_at"] is not None
    assert ended["result"] == f"/api/v1/runs/{trained.pk}/previews"
    Preview.objects.update(state="running", ended_at=None, deadline=timezone.now() - timedelta(minutes=1))
    assert (read(api, operation)["state"], ids(api, kind="preview", state="running")) == ("failed", [])


def test_a_pause_is_done_when_the_run_is_paused_and_not_when_it_was_heard(
    api: APIClient, begin: Begin, trained: Run, report: Callable[..., None]
) -> None:
    operation = api.post(f"/api/v1/runs/{trained.pk}/actions", {"action": "pause"}).json()["operation"]
    heard, said = timezone.now(), "the run pauses after its open batch"
    PendingCommand.objects.filter(kind="pause").update(delivered_at=heard, done_at=heard, accepted=True, detail=said)
    assert read(api, operation)["state"] == "running"
    move(trained.pk, [RunState.RUNNING], RunState.PAUSED, reason="", actor="driver")
    ended = read(api, operation)
    assert (ended["state"], ended["detail"]) == ("succeeded", said)
    assert ended["ended_at"] > heard.isoformat()


def test_a_pause_that_the_runs_end_overtook_has_failed(api: APIClient, trained: Run) -> None:
    operation = api.post(f"/api/v1/runs/{trained.pk}/actions", {"action": "pause"}).json()["operation"]
    PendingCommand.objects.update(delivered_at=timezone.now(), accepted=True, done_at=timezone.now())
    move(trained.pk, [RunState.RUNNING], RunState.FAILED, reason="", actor="driver")
    found = read(api, operation)
    assert (found["state"], found["problem"]) == ("failed", "the run was failed before")


def test_a_sweep_counts_its_runs_and_a_resize_its_lanes(api: APIClient, begin: Begin) -> None:
    begun = begin()
    advance_all()
    Run.objects.filter(pk=runs_of(Sweep.objects.get())[0].pk).update(state="completed")
    assert read(api, begun["sweep"])["progress"]["done"] == 1
    lanes = [{"lane": "reward-1", "role": "reward", "step": step} for step in ("starting", "joined")]
    RunResize.objects.update(state="accepted", lanes=lanes)
    assert read(api, begun["resize"])["progress"] == {"done": 1, "total": 2, "unit": "lanes"}
    RunResize.objects.update(state="failed", reason="no memory", ended_at=timezone.now())
    assert (read(api, begun["resize"])["state"], read(api, begun["resize"])["problem"]) == ("failed", "no memory")


def test_a_drain_has_succeeded_once_its_last_lane_is_free_and_stays_so(
    api: APIClient, pool_admin: APIClient, begin: Begin, trained: Run
) -> None:
    operation = begin()["drain"]
    held = set(Lane.objects.filter(run_id=trained.pk).values_list("name_in_run", flat=True))
    release_lanes(run_id=trained.pk, attempt=1, names=held)
    freed = LaneUse.objects.order_by("-until").values_list("until", flat=True)[0]
    drained = read(api, operation)
    assert (drained["state"], drained["ended_at"]) == ("succeeded", freed and freed.isoformat())
    pool_admin.post(f"/api/v1/nodes/{Node.objects.get().pk}/actions", {"action": "resume"})
    assert read(api, operation) == {**drained, "can_cancel": False}
    assert pool_admin.get("/api/v1/nodes").json()["results"][0]["operation"] is None


def test_a_drain_of_what_is_held_was_cancelled_where_something_else_was_decided(
    api: APIClient, pool_admin: APIClient, begin: Begin
) -> None:
    operation = begin()["drain"]
    pool_admin.post(f"/api/v1/nodes/{Node.objects.get().pk}/actions", {"action": "cordon", "reason": "not yet"})
    assert read(api, operation)["state"] == "cancelled"
    assert read(api, operation)["ended_at"] is not None


def test_a_page_of_operations_takes_as_many_queries_for_many_as_for_few(api: APIClient, begin: Begin) -> None:
    begin()

    def num_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert api.get(LIST).status_code == 200
        return len(queries)

    num_queries()
    before = num_queries()
    num_before = len(ids(api))
    for model in (Preview, RunResize, GpuTest):
        row = model.objects.latest("created_at")
        for _ in range(4):
            row.pk = None
            row.ended_at = timezone.now()
            row._state.adding = True
            row.save(force_insert=True)
    assert len(ids(api)) == num_before + 12
    assert num_queries() == before
