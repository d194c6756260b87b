"""What those are told who may not: the role that is missing, or nothing. The matrix of answers is elsewhere."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from runs.models import Run

pytestmark = pytest.mark.django_db

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


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project) -> Run:
    return make_run(project=project)


@pytest.mark.parametrize(
    ("member", "needed", "act"),
    [*(("viewer", "editor", act) for act in ACTS), *(("alice", "pool admin", act) for act in FOR_POOL_ADMINS)],
)
def test_members_without_the_right_are_told_which(
    request: pytest.FixtureRequest,
    client_of: Callable[[User], APIClient],
    run: Run,
    member: str,
    needed: str,
    act: tuple[str, str, dict[str, Any]],
) -> None:
    method, path, body = act
    address = f"/api/v1/runs/{run.pk}{path}"
    refused = getattr(client_of(request.getfixturevalue(member)), method)(address, body)
    assert refused.status_code == 403
    assert needed in refused.json()["detail"]


def test_outsiders_and_ids_that_name_nothing_look_the_same(
    client_of: Callable[[User], APIClient], run: Run, charlie: User
) -> None:
    outsider = client_of(charlie)
    hidden = outsider.get(f"/api/v1/runs/{run.pk}").json()
    absent = outsider.get("/api/v1/runs/9b2f1c9e-0000-4000-8000-000000000000").json()
    assert hidden == absent
