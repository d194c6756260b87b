"""The pool over REST: everybody reads, pool admins cordon, and no run of another project is named."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.models import NodeState
from fleet.services import allocate, ensure_local_lanes
from runs.models import Run
from tests.web.lane_holders import held_by

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project) -> Run:
    ensure_local_lanes(num_cpu_lanes=4)
    made = make_run(project=project, name="secret recipe")
    assert allocate(holder=held_by(made.pk, 1), wanted=made.run_spec.granted_lanes) is not None
    return made


@pytest.fixture
def admin(client_of: ClientOf, make_user: Callable[..., User]) -> APIClient:
    return client_of(make_user("pool-admin", is_staff=True))


def results(client: APIClient, path: str, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/{path}", query)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def test_members_see_what_holds_a_lane_and_outsiders_only_that_it_is_held(
    api: APIClient, client_of: ClientOf, charlie: User, run: Run
) -> None:
    (node,) = results(api, "nodes")
    assert (node["name"], node["num_held"], node["num_lanes"], node["is_drained"]) == ("local", 3, 4, False)
    assert api.get(f"/api/v1/nodes/{node['id']}").json() == node
    assert {lane["run_id"] for lane in node["lanes"] if lane["state"] == "held"} == {str(run.pk)}
    seen = results(client_of(charlie), "lanes", state="held", kind="cpu", node="local")
    assert {(lane["run_id"], lane["run_name"]) for lane in seen} == {(None, "a run of another project")}
    assert results(api, "lanes", kind="gpu") == []


def test_an_admin_drains_a_node_and_gives_it_back(admin: APIClient, run: Run) -> None:
    (node,) = results(admin, "nodes")
    address = f"/api/v1/nodes/{node['id']}/actions"
    drained = admin.post(address, {"action": "drain", "reason": "new cables"}).json()
    assert (drained["state"], drained["is_drained"], drained["num_held"]) == (NodeState.DRAINING, False, 3)
    assert (drained["reason"], drained["cordoned_by"]) == ("new cables", "pool-admin")
    assert admin.post(address, {"action": "resume"}).json()["state"] == NodeState.ACTIVE


def test_an_admin_cordons_one_lane(admin: APIClient, run: Run) -> None:
    (free,) = results(admin, "lanes", state="free")
    address = f"/api/v1/lanes/{free['id']}/actions"
    assert admin.post(address, {"action": "cordon", "reason": "too hot"}).json()["state"] == "cordoned"
    refused = admin.post(address, {"action": "drain", "reason": "too hot"})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["action"])


def test_others_may_not_and_cordoning_needs_a_reason(api: APIClient, admin: APIClient, run: Run) -> None:
    (node,) = results(api, "nodes")
    address = f"/api/v1/nodes/{node['id']}/actions"
    assert api.post(address, {"action": "cordon", "reason": "mine"}).status_code == 403
    assert list(admin.post(address, {"action": "cordon"}).json()["errors"]) == ["reason"]
    assert admin.post("/api/v1/nodes/99/actions", {"action": "resume"}).status_code == 404
    assert APIClient().get("/api/v1/nodes").status_code == 401
