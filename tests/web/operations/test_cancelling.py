"""Cancelling operations: what is taken back, what says what is possible instead, and who may."""

import pytest
from rest_framework.test import APIClient

from accounts.api_tokens import TokenWish, create_token
from accounts.models import TokenScope, User
from audit.models import AuditEntry
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Node
from gallery import preview_jobs, previews
from gallery.models import Preview, PreviewState
from runs.cluster import JobStatus
from runs.models import Run, Sweep
from tests.web.api.conftest import ClientOf
from tests.web.contract import CheckedClient
from tests.web.fake_cluster import FakeCluster
from tests.web.operations.conftest import Begin

pytestmark = pytest.mark.django_db


def cancel(api: APIClient, operation: str) -> tuple[int, dict[str, object]]:
    answer = api.post(f"/api/v1/operations/{operation}/cancel")
    return answer.status_code, answer.json()


def test_a_waiting_preview_is_cancelled_once(api: APIClient, begin: Begin) -> None:
    operation = begin()["preview"]
    assert api.get(f"/api/v1/operations/{operation}").json()["can_cancel"]
    status, body = cancel(api, operation)
    assert (status, body["state"], body["detail"]) == (200, "cancelled", "alice cancelled it")
    assert not body["can_cancel"]
    assert body["ended_at"] is not None
    assert AuditEntry.objects.filter(action="preview.cancel").count() == 1
    status, body = cancel(api, operation)
    assert (status, body["state"]) == (409, "cancelled")
    assert body["detail"] == "`cancel` is not possible: the operation has ended already, as cancelled"
    assert not preview_jobs.launch(preview_id=Preview.objects.get().pk, gateway=FakeCluster())


def test_the_job_of_a_cancelled_preview_is_stopped_and_its_lane_freed(
    api: APIClient, trained: Run, preview_cluster: FakeCluster
) -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    asked = api.post(f"/api/v1/runs/{trained.pk}/previews", {"prompts": ["a red circle"]}).json()
    operation, preview = asked["operation"], Preview.objects.get(pk=asked["preview_id"])
    assert preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)
    name = preview_jobs.job_name(preview.pk)
    preview_cluster.jobs[name] = JobStatus.RUNNING
    assert cancel(api, operation)[0] == 200
    preview_jobs.watch(gateway=preview_cluster)
    assert name in preview_cluster.stopped
    preview_cluster.jobs[name] = JobStatus.STOPPED
    preview_jobs.watch(gateway=preview_cluster)
    assert previews.current_state(Preview.objects.get())[0] is PreviewState.CANCELLED
    assert not Node.objects.get().lanes.filter(preview_id=preview.pk).exists()


def test_a_cancel_that_is_repeated_with_its_key_gets_the_first_answer(api: APIClient, begin: Begin) -> None:
    address = f"/api/v1/operations/{begin()['preview']}/cancel"
    first, repeat = (api.post(address, headers={"Idempotency-Key": "cancel-1"}) for _ in range(2))
    assert (first.status_code, repeat.status_code, repeat.json()) == (200, 200, first.json())


def test_a_cancelled_sweep_is_stopped(api: APIClient, begin: Begin) -> None:
    operation = begin()["sweep"]
    status, body = cancel(api, operation)
    assert (status, body["state"], body["detail"], body["can_cancel"]) == (200, "running", "alice stopped it", False)
    assert Sweep.objects.get().state == "stopping"


def test_a_cancelled_drain_gives_the_node_work_again(pool_admin: APIClient, begin: Begin) -> None:
    operation = begin()["drain"]
    status, body = cancel(pool_admin, operation)
    assert (status, body["state"]) == (200, "cancelled")
    assert Node.objects.get().state == "active"


@pytest.mark.parametrize(
    ("kind", "advice", "legal"),
    [
        ("command", "a command that a run was given stands; give it one of pause, stop, cancel", "stop"),
        ("resize", "wait until it is done, then resize the run", ""),
        ("gpu_test", "cordon local/gpu-0, which breaks it off", "cordon"),
    ],
)
def test_what_is_not_taken_back_says_what_is_possible(
    api: APIClient, pool_admin: APIClient, begin: Begin, kind: str, advice: str, legal: str
) -> None:
    operation = begin()[kind]
    status, body = cancel(pool_admin if kind == "gpu_test" else api, operation)
    assert (status, body["state"]) == (409, "waiting")
    assert advice in str(body["detail"])
    assert legal in [*body["legal_actions"], ""]  # type: ignore[misc]


def test_only_who_may_do_the_work_may_cancel_it(
    client_of: ClientOf, pool_admin: APIClient, begin: Begin, viewer: User, charlie: User
) -> None:
    begun = begin()
    assert {kind: cancel(client_of(viewer), one)[0] for kind, one in begun.items()} == dict.fromkeys(begun, 403)
    assert {kind: cancel(client_of(charlie), one)[0] for kind, one in begun.items()} == {
        **dict.fromkeys(("preview", "command", "resize", "sweep"), 404),
        **dict.fromkeys(("gpu_test", "drain"), 403),
    }
    assert cancel(pool_admin, begun["preview"])[0] == 404
    assert Node.objects.get().state == "draining"


@pytest.mark.parametrize(
    ("scope", "preview", "drain"),
    [
        (TokenScope.READ, 403, 403),
        (TokenScope.RUN, 200, 403),
        (TokenScope.POOL, 403, 200),
        (TokenScope.ADMIN, 200, 403),
    ],
)
def test_a_token_cancels_what_its_scopes_reach(
    begin: Begin, alice: User, trained: Run, scope: TokenScope, preview: int, drain: int
) -> None:
    begun = begin()
    User.objects.filter(pk=alice.pk).update(is_pool_admin=True)
    _, token = create_token(user=User.objects.get(pk=alice.pk), wish=TokenWish(scopes=frozenset({scope})))
    client = CheckedClient(headers={"Authorization": f"Bearer {token}"})
    assert (cancel(client, begun["preview"])[0], cancel(client, begun["drain"])[0]) == (preview, drain)
