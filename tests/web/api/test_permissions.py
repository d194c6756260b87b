"""Who may: viewers read, editors act, owners manage members, outsiders see nothing. Every address below a run."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from api.urls import run_urls
from runs.models import Run
from telemetry.models import SpanRow

pytestmark = pytest.mark.django_db

READS = [
    "",
    "/transitions",
    "/attempts",
    "/commands",
    "/plan",
    "/size",
    "/metrics",
    "/timeline",
    "/fragments/0/0/0",
    "/bubbles",
    "/lineage",
    "/lending",
    "/staleness",
    "/lane-states",
    "/planned-time",
    "/trace",
    "/prompts",
    "/report",
    "/events",
    "/stream",
    "/logs",
    "/logs/errors",
    "/logs/text",
    "/samples",
    "/adapters",
    "/checkpoints",
    "/previews",
    "/alternatives",
]
ACTS: list[tuple[str, str, dict[str, Any]]] = [
    ("patch", "", {"notes": "mine"}),
    ("delete", "", {}),
    ("post", "/actions", {"action": "cancel"}),
    ("post", "/duplicate", {}),
    ("post", "/resize", {"add": [{"role": "rollout"}]}),
    ("post", "/previews", {"prompts": ["x"]}),
    ("post", "/alternatives", {"num_reward": 2}),
]
FOR_POOL_ADMINS: list[tuple[str, str, dict[str, Any]]] = [
    ("post", "/queue-place", {"direction": "front", "reason": "mine"}),
    ("delete", "/queue-place", {}),
]
FOR_READERS_TO_COMPUTE = ["/replays"]
BYTES = [
    "/artifacts/samples/a.png",
    "/previews/9b2f1c9e-0000-4000-8000-000000000000/images/lora-0-0.png",
    "/schedule",
]


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project) -> Run:
    """A run of which one fragment was generated, so that this can be read too."""
    made = make_run(project=project)
    fragment = {"batch": 0, "group": 0, "fragment": 0, "num_samples": 1}
    SpanRow.objects.create(
        run=made, stream_seq=1, attempt=1, lane="rollout-0", kind="generate", start=0, end=1, **fragment
    )
    return made


def test_every_address_below_a_run_is_listed_here() -> None:
    acts = [act[1] for act in ACTS + FOR_POOL_ADMINS]
    listed = {path.strip("/").partition("/")[0] for path in [*READS, *acts, *FOR_READERS_TO_COMPUTE, *BYTES]} - {""}
    assert {str(url.pattern).partition("/")[0] for url in run_urls} == listed


@pytest.mark.parametrize("path", READS)
def test_members_read_and_outsiders_see_nothing(
    client_of: Callable[[User], APIClient], run: Run, alice: User, bob: User, viewer: User, charlie: User, path: str
) -> None:
    address = f"/api/v1/runs/{run.pk}{path}"
    assert [client_of(user).get(address).status_code for user in (alice, bob, viewer)] == [200] * 3
    assert client_of(charlie).get(address).status_code == 404
    assert APIClient().get(address).status_code == 401


@pytest.mark.parametrize(
    ("member", "needed", "act"),
    [*(("viewer", "editor", act) for act in ACTS), *(("alice", "pool admin", act) for act in FOR_POOL_ADMINS)],
)
def test_members_without_the_right_are_told_which_and_outsiders_see_nothing(
    request: pytest.FixtureRequest,
    client_of: Callable[[User], APIClient],
    run: Run,
    charlie: User,
    member: str,
    needed: str,
    act: tuple[str, str, dict[str, Any]],
) -> None:
    method, path, body = act
    address = f"/api/v1/runs/{run.pk}{path}"
    refused = getattr(client_of(request.getfixturevalue(member)), method)(address, body)
    assert refused.status_code == 403
    assert needed in refused.json()["detail"]
    assert getattr(client_of(charlie), method)(address, body).status_code == 404
    assert getattr(APIClient(), method)(address, body).status_code == 401


@pytest.mark.parametrize("path", FOR_READERS_TO_COMPUTE)
def test_outsiders_have_nothing_computed(
    client_of: Callable[[User], APIClient], run: Run, viewer: User, charlie: User, path: str
) -> None:
    address = f"/api/v1/runs/{run.pk}{path}"
    assert client_of(viewer).post(address, {}).status_code == 409, "nothing is recorded yet"
    assert client_of(charlie).post(address, {}).status_code == 404
    assert APIClient().post(address, {}).status_code == 401


@pytest.mark.parametrize("path", BYTES)
def test_bytes_are_for_members_only(client_of: Callable[[User], APIClient], run: Run, charlie: User, path: str) -> None:
    assert client_of(charlie).get(f"/api/v1/runs/{run.pk}{path}").status_code == 404
    assert APIClient().get(f"/api/v1/runs/{run.pk}{path}").status_code == 401


def test_outsiders_and_ids_that_name_nothing_look_the_same(
    client_of: Callable[[User], APIClient], run: Run, charlie: User
) -> None:
    outsider = client_of(charlie)
    hidden = outsider.get(f"/api/v1/runs/{run.pk}").json()
    absent = outsider.get("/api/v1/runs/9b2f1c9e-0000-4000-8000-000000000000").json()
    assert hidden == absent
