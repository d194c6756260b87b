"""The audit log over REST: pool admins read all, owners their projects, others nothing; every filter narrows it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Membership, Project, ProjectRole, User
from audit.models import AuditEntry

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ClientOf = Callable[[User], APIClient]


def row(hours: float = 0, **fields: Any) -> AuditEntry:
    values: dict[str, Any] = {
        "actor": "alice",
        "action": "run.create",
        "object_type": "run",
        "object_id": "1",
        "object_name": "first",
    }
    return AuditEntry.objects.create(at=NOON + timedelta(hours=hours), **{**values, **fields})


@pytest.fixture
def rows(project: Project, make_project: Callable[..., Project]) -> None:
    other = make_project("Other")
    row(0, project_id=project.pk, changes={"reason": "why not"}, request_id="r-1", token_key="abc")
    row(1, project_id=other.pk, actor="bob", object_id="2")
    row(2, actor="admin", action="gpu.cordon", object_type="gpu", object_id="7")
    row(3, project_id=project.pk, actor="bob", action="run.delete")


def found(client: APIClient, **query: Any) -> list[tuple[str, str]]:
    answer = client.get("/api/v1/audit", query)
    assert answer.status_code == 200, answer.json()
    return [(row["actor"], row["action"]) for row in answer.json()["results"]]


ALL = [("bob", "run.delete"), ("admin", "gpu.cordon"), ("bob", "run.create"), ("alice", "run.create")]


def test_pool_admins_read_everything_and_owners_their_projects(
    pool_admin: APIClient, api: APIClient, client_of: ClientOf, rows: None, bob: User, viewer: User, charlie: User
) -> None:
    assert found(pool_admin) == ALL
    assert found(api) == [ALL[0], ALL[3]], "alice owns the project"
    for user in (bob, viewer, charlie):
        assert found(client_of(user)) == [], f"{user} owns nothing"
    assert APIClient().get("/api/v1/audit").status_code == 401


def test_who_is_an_owner_no_more_reads_no_more(api: APIClient, rows: None, alice: User, project: Project) -> None:
    Membership.objects.filter(user=alice).update(role=ProjectRole.EDITOR)
    assert found(api) == []
    assert found(api, project_id=str(project.pk)) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"actor": "bob"}, [ALL[0], ALL[2]]),
        ({"action": "gpu."}, [ALL[1]]),
        ({"action": "run.create"}, [ALL[2], ALL[3]]),
        ({"object_type": "run", "object_id": "2"}, [ALL[2]]),
        ({"token_key": "abc"}, [ALL[3]]),
        ({"request_id": "r-1"}, [ALL[3]]),
        ({"since": (NOON + timedelta(hours=2)).isoformat()}, ALL[:2]),
        ({"until": (NOON + timedelta(hours=2)).isoformat()}, ALL[2:]),
        ({"actor": "bob", "action": "run.delete"}, [ALL[0]]),
        ({"actor": "nobody"}, []),
    ],
)
def test_filters_narrow_the_log(
    pool_admin: APIClient, rows: None, query: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    assert found(pool_admin, **query) == expected


def test_a_row_tells_project_token_request_and_what_was_asked(api: APIClient, rows: None, project: Project) -> None:
    body = api.get("/api/v1/audit", {"actor": "alice"}).json()["results"][0]
    assert (body["project_id"], body["project_name"]) == (str(project.pk), project.name)
    assert (body["token_key"], body["request_id"], body["changes"]) == ("abc", "r-1", {"reason": "why not"})


def test_pages_are_stable_while_rows_are_added(pool_admin: APIClient, rows: None) -> None:
    first = pool_admin.get("/api/v1/audit", {"limit": 2, "actor": "bob"}).json()
    row(9, actor="bob", action="run.archive")
    assert len(first["results"]) == 2
    page = pool_admin.get("/api/v1/audit", {"limit": 1}).json()
    seen = [page["results"][0]["action"]]
    while page["next"]:
        page = pool_admin.get(page["next"]).json()
        seen += [one["action"] for one in page["results"]]
    assert seen == ["run.archive", *[action for _, action in ALL]]


@pytest.mark.parametrize(("field", "value"), [("since", "soon"), ("project_id", "7"), ("limit", "0")])
def test_filters_that_make_no_sense_are_refused_by_field(api: APIClient, rows: None, field: str, value: str) -> None:
    refused = api.get("/api/v1/audit", {field: value})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
