"""Projects and their members."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import Membership, Project, User

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]


def test_whoever_makes_a_project_owns_it(client_of: ClientOf, charlie: User) -> None:
    made = client_of(charlie).post("/api/v1/projects", {"name": "Colours"})
    assert made.status_code == 201
    assert (made.json()["name"], made.json()["role"]) == ("Colours", "owner")
    listed = client_of(charlie).get("/api/v1/projects").json()["results"]
    assert [project["id"] for project in listed] == [made.json()["id"]]


def test_each_sees_a_project_with_the_role_held(
    client_of: ClientOf, project: Project, alice: User, bob: User, viewer: User
) -> None:
    seen = [client_of(user).get(f"/api/v1/projects/{project.pk}").json()["role"] for user in (alice, bob, viewer)]
    assert seen == ["owner", "editor", "viewer"]


def test_outsiders_see_no_project(client_of: ClientOf, project: Project, charlie: User) -> None:
    outsider = client_of(charlie)
    assert outsider.get("/api/v1/projects").json() == {"next": None, "results": []}
    assert outsider.get(f"/api/v1/projects/{project.pk}").status_code == 404
    assert outsider.patch(f"/api/v1/projects/{project.pk}", {"name": "Mine"}).status_code == 404
    assert outsider.get(f"/api/v1/projects/{project.pk}/members").status_code == 404
    assert outsider.post(f"/api/v1/projects/{project.pk}/members", {"username": "charlie"}).status_code == 404


def test_owners_rename_and_editors_do_not(client_of: ClientOf, project: Project, alice: User, bob: User) -> None:
    address = f"/api/v1/projects/{project.pk}"
    assert client_of(bob).patch(address, {"name": "Bob's"}).status_code == 403
    assert client_of(alice).patch(address, {"name": "Forms"}).json()["name"] == "Forms"


def test_an_empty_name_is_refused_by_field(api: APIClient) -> None:
    refused = api.post("/api/v1/projects", {"name": ""})
    assert refused.status_code == 400
    assert list(refused.json()["errors"]) == ["name"]


def test_owners_add_change_and_remove_members(api: APIClient, project: Project, charlie: User) -> None:
    members = f"/api/v1/projects/{project.pk}/members"
    added = api.post(members, {"username": "charlie", "role": "viewer"})
    assert added.status_code == 201
    one = f"{members}/{added.json()['id']}"
    assert api.patch(one, {"role": "editor"}).json()["role"] == "editor"
    assert [member["username"] for member in api.get(members).json()["results"]] == ["alice", "charlie"]
    assert api.delete(one).status_code == 204
    assert not Membership.objects.filter(user=charlie).exists()


def test_editors_do_not_manage_members(client_of: ClientOf, project: Project, bob: User, charlie: User) -> None:
    members = f"/api/v1/projects/{project.pk}/members"
    assert client_of(bob).post(members, {"username": "charlie"}).status_code == 403
    assert client_of(bob).delete(f"{members}/{charlie.pk}").status_code == 404


def test_an_unknown_user_is_reported_by_field(api: APIClient, project: Project) -> None:
    refused = api.post(f"/api/v1/projects/{project.pk}/members", {"username": "nobody"})
    assert refused.status_code == 400
    assert "there is no user `nobody`" in refused.json()["errors"]["username"][0]


def test_a_project_keeps_its_last_owner(api: APIClient, project: Project, alice: User) -> None:
    refused = api.delete(f"/api/v1/projects/{project.pk}/members/{alice.pk}")
    assert refused.status_code == 400
    assert "must keep an owner" in refused.json()["detail"]
