"""Secrets over REST: taken, listed by name, never shown."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
TOKEN = "a-token-nobody-may-see"


def body(project: Project, **fields: str) -> dict[str, str]:
    return {"project": str(project.pk), "name": "scorer", "host": "scorer.example", "value": TOKEN} | fields


def test_a_secret_is_made_listed_and_deleted_and_never_shown(api: APIClient, project: Project) -> None:
    made = api.post("/api/v1/secrets", body(project))
    assert made.status_code == 201
    listed = api.get("/api/v1/secrets", {"project": str(project.pk)})
    assert listed.json()["results"] == [made.json()]
    assert TOKEN not in made.content.decode() + listed.content.decode()
    assert set(made.json()) == {"id", "name", "project", "host", "created_at"}
    assert api.delete(f"/api/v1/secrets/{made.json()['id']}").status_code == 204
    assert api.get("/api/v1/secrets").json()["results"] == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"name": "Not a name"}, "name"), ({"host": "https://scorer.example"}, "host"), ({"value": ""}, "value")],
)
def test_invalid_secrets_are_reported_by_field(
    api: APIClient, project: Project, fields: dict[str, str], field: str
) -> None:
    refused = api.post("/api/v1/secrets", body(project, **fields))
    assert refused.status_code == 400
    assert list(refused.json()["errors"]) == [field]
    assert TOKEN not in refused.content.decode()


def test_a_name_is_taken_once_in_a_project(api: APIClient, project: Project) -> None:
    api.post("/api/v1/secrets", body(project))
    assert api.post("/api/v1/secrets", body(project)).status_code == 400


def test_owners_manage_secrets_members_see_names_and_outsiders_nothing(
    client_of: ClientOf, api: APIClient, project: Project, bob: User, charlie: User
) -> None:
    assert client_of(bob).post("/api/v1/secrets", body(project)).status_code == 403
    assert client_of(charlie).post("/api/v1/secrets", body(project)).status_code == 404
    address = f"/api/v1/secrets/{api.post('/api/v1/secrets', body(project)).json()['id']}"
    assert [row["name"] for row in client_of(bob).get("/api/v1/secrets").json()["results"]] == ["scorer"]
    assert client_of(bob).delete(address).status_code == 403
    assert client_of(charlie).get("/api/v1/secrets").json()["results"] == []
    assert client_of(charlie).delete(address).status_code == 404
