"""What an API token may: by scope, project and pool; and that one made with a token never outranks or outlives it."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import get_resolver
from django.utils import timezone

from accounts.models import ApiToken, Membership, Project, ProjectRole, TokenScope, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, Node, Pool
from runs.models import Run
from tests.web.api.token_clients import ADMIN, POOL, READ, RUN, WRITES, scopes, with_token, writes
from tests.web.conftest import MakeProject, MakeRun, MakeUser

pytestmark = pytest.mark.django_db


def test_every_address_that_writes_has_its_scope_here() -> None:
    assert dict(writes(get_resolver().url_patterns)) == WRITES


@pytest.mark.parametrize("write", [write for write, scope in WRITES.items() if scope is not READ])
def test_a_token_that_reads_is_refused_every_write_by_the_scope_it_lacks(alice: User, write: str) -> None:
    method, _, address = write.partition(" ")
    for placeholder, value in {"uuid": "9b2f1c9e-0000-4000-8000-000000000000", "int": "1", "str": "x"}.items():
        while f"<{placeholder}:" in address:
            before, _, rest = address.partition(f"<{placeholder}:")
            address = before + value + rest.partition(">")[2]
    answer = getattr(with_token(alice, scopes=scopes(READ)), method)(f"/api/v1/{address}", {}, format="json")
    assert answer.status_code == 403
    assert f"scope `{WRITES[write]}`" in answer.json()["detail"]


def test_a_token_that_reads_may_check_a_spec_and_ask_for_a_plan(alice: User, project: Project) -> None:
    client = with_token(alice, scopes=scopes(READ))
    assert client.get("/api/v1/runs").status_code == 200
    assert client.post("/api/v1/runs:validate", {"spec": {}}, format="json").status_code == 200


def test_a_token_that_runs_controls_runs_and_manages_nothing(alice: User, project: Project, make_run: MakeRun) -> None:
    run = make_run(project)
    client = with_token(alice, scopes=scopes(RUN))
    assert client.post(f"/api/v1/runs/{run.pk}/actions", {"action": "cancel"}, format="json").status_code == 202
    assert client.post("/api/v1/tokens", {}, format="json").status_code == 403
    members = f"/api/v1/projects/{project.pk}/members"
    assert client.post(members, {"username": "x"}, format="json").status_code == 403


def test_the_role_that_is_shown_is_as_far_as_the_token_goes(alice: User, project: Project) -> None:
    shown = {
        scope: with_token(alice, scopes=scopes(scope)).get("/api/v1/projects").json()["results"][0]["role"]
        for scope in TokenScope
    }
    assert shown == {READ: "viewer", RUN: "editor", POOL: "viewer", ADMIN: "owner"}


def test_a_token_of_one_project_sees_no_other(alice: User, make_project: MakeProject, make_run: MakeRun) -> None:
    mine, other = make_project(owner=alice), make_project(owner=alice)
    own_run, other_run = make_run(mine), make_run(other)
    client = with_token(alice, projects=frozenset({mine.pk}))
    assert [row["id"] for row in client.get("/api/v1/projects").json()["results"]] == [str(mine.pk)]
    assert [row["id"] for row in client.get("/api/v1/runs").json()["results"]] == [str(own_run.pk)]
    assert client.get(f"/api/v1/runs/{other_run.pk}").status_code == 404
    refused = client.post("/api/v1/projects", {"name": "Third"}, format="json")
    assert (refused.status_code, "limited to projects" in refused.json()["detail"]) == (403, True)


def test_a_token_of_a_project_that_is_deleted_sees_nothing(
    alice: User, make_project: MakeProject, make_run: MakeRun
) -> None:
    mine, other = make_project(owner=alice), make_project(owner=alice)
    make_run(other)
    client = with_token(alice, projects=frozenset({mine.pk}))
    mine.delete()
    assert client.get("/api/v1/runs").json()["results"] == []


def test_a_pool_admins_token_without_the_scope_manages_no_pool(admin: User) -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    act = {"action": "cordon", "reason": "to see", "nodes": [Node.objects.get().pk]}
    assert with_token(admin, scopes=scopes(RUN)).post("/api/v1/pool/actions", act, format="json").status_code == 403
    assert with_token(admin, scopes=scopes(POOL)).post("/api/v1/pool/actions", act, format="json").status_code == 200


def test_a_token_of_one_pool_acts_on_its_lanes_alone(admin: User) -> None:
    ensure_local_lanes(num_cpu_lanes=2)
    other, mine = Lane.objects.order_by("index")
    Pool.objects.create(name="mine", match_labels={"who": "me"})
    Lane.objects.filter(pk=mine.pk).update(pool="mine")
    client = with_token(admin, scopes=scopes(POOL), pools=frozenset({"mine"}))

    def cordon(**on: Any) -> Any:
        return client.post("/api/v1/pool/actions", {"action": "cordon", "reason": "to see", **on}, format="json")

    assert cordon(lanes=[mine.pk]).status_code == 200
    assert "limited to the pools mine" in cordon(lanes=[other.pk]).json()["detail"]
    assert cordon(nodes=[mine.node_id]).status_code == 403, "the node has lanes of another pool"
    assert client.put("/api/v1/pool-policy?pool=default", {"half_life_hours": 1}, format="json").status_code == 403
    refused = client.post("/api/v1/pools", {"name": "new", "match_labels": {"a": "b"}}, format="json")
    assert "more than the pools" in refused.json()["detail"]


def test_a_token_made_with_a_token_has_its_limits(alice: User, project: Project, make_project: MakeProject) -> None:
    other = make_project(owner=alice)
    maker = with_token(alice, scopes=scopes(ADMIN), projects=frozenset({project.pk}), lifetime=timedelta(hours=1))
    made = maker.post("/api/v1/tokens", {"name": "child", "scopes": ["admin"], "expires_in_days": 30}, format="json")
    assert made.status_code == 201
    child = ApiToken.objects.get(token_key=made.json()["id"])
    assert child.expiry is not None
    assert child.expiry <= timezone.now() + timedelta(hours=1)
    assert made.json()["projects"] == [str(project.pk)]
    wider = maker.post("/api/v1/tokens", {"scopes": ["run"]}, format="json")
    assert wider.json()["errors"] == {"scopes": ["the token that makes it has no scope run"]}
    elsewhere = maker.post("/api/v1/tokens", {"scopes": ["admin"], "projects": [str(other.pk)]}, format="json")
    assert list(elsewhere.json()["errors"]) == ["projects"]


def test_nobody_makes_a_token_of_a_project_of_others(alice: User, make_project: MakeProject) -> None:
    theirs = make_project()
    client = with_token(alice)
    refused = client.post("/api/v1/tokens", {"projects": [str(theirs.pk)]}, format="json")
    assert "you are a member of no project" in refused.json()["errors"]["projects"][0]


def test_a_token_gives_no_right_that_its_user_has_lost(
    make_user: MakeUser, project: Project, make_run: MakeRun
) -> None:
    user, run = make_user("leaver"), make_run(project)
    membership = Membership.objects.create(project=project, user=user, role=ProjectRole.EDITOR)
    client = with_token(user)
    address = f"/api/v1/runs/{run.pk}/actions"
    membership.role = ProjectRole.VIEWER
    membership.save()
    assert client.post(address, {"action": "cancel"}, format="json").status_code == 403
    membership.delete()
    assert client.post(address, {"action": "cancel"}, format="json").status_code == 404
    assert Run.objects.get(pk=run.pk).state == "queued"


def test_the_last_use_is_kept_to_the_minute(alice: User) -> None:
    client = with_token(alice)
    client.get("/api/v1/me")
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    client.get("/api/v1/me")
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    client.get("/api/v1/me")
    last = ApiToken.objects.get().last_used_at
    assert last is not None
    assert last >= first
