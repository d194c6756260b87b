"""Views of the runs list are kept on the server, for their user or for a project."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
BEST = {"name": "best", "query": {"order": "reward", "state": "completed"}, "columns": ["state", "reward"]}


def views(client: APIClient) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get("/api/v1/run-views").json()["results"]
    return rows


def save(client: APIClient, status: int = 201, **body: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/run-views", {**BEST, **body})
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_view_comes_back_as_it_was_saved_and_one_of_the_same_name_is_replaced(api: APIClient) -> None:
    save(api)
    save(api, query={"mine": True}, is_dense=True)
    (view,) = views(api)
    assert (view["name"], view["query"], view["columns"]) == ("best", {"mine": True}, ["state", "reward"])
    assert (view["is_dense"], view["project"], view["saved_by"]) == (True, None, "alice")


def test_a_view_of_ones_own_is_nobody_elses(api: APIClient, client_of: ClientOf, bob: User) -> None:
    view = save(api)
    assert views(client_of(bob)) == []
    assert client_of(bob).delete(f"/api/v1/run-views/{view['id']}").status_code == 404


def test_a_shared_view_is_seen_by_the_members_and_removed_by_its_saver_or_an_owner(
    api: APIClient, client_of: ClientOf, project: Project, bob: User, viewer: User, charlie: User
) -> None:
    view = save(client_of(bob), project=str(project.pk))
    assert [row["project_name"] for row in views(api)] == ["Shapes"]
    assert [row["saved_by"] for row in views(client_of(viewer))] == ["bob"]
    assert views(client_of(charlie)) == []
    assert client_of(viewer).delete(f"/api/v1/run-views/{view['id']}").status_code == 403
    assert api.delete(f"/api/v1/run-views/{view['id']}").status_code == 204
    assert save(client_of(viewer), 403, project=str(project.pk))["status"] == 403
    assert save(client_of(charlie), 404, project=str(project.pk))["status"] == 404


def test_a_view_is_refused_where_the_table_would_be(api: APIClient) -> None:
    assert "query" in str(save(api, 400, query={"order": "luck"}))
    assert "name" in str(save(api, 400, name=""))
    assert "query" in str(save(api, 400, query={"colour": "red"}))
