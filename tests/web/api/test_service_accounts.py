"""Service accounts: made by owners and administrators, of one project or the pool, never signed in, ended at once."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import ApiToken, Membership, Project, ProjectRole, User
from accounts.services import add_member, remove_member
from audit.models import AuditEntry
from tests.web.api.conftest import ClientOf
from tests.web.conftest import MakeProject, MakeUser

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/service-accounts"


@pytest.fixture
def root(client_of: ClientOf, make_user: MakeUser) -> APIClient:
    return client_of(make_user("root", is_superuser=True))


@pytest.fixture
def nightly(api: APIClient, project: Project) -> dict[str, Any]:
    made = api.post(ADDRESS, {"project": str(project.pk), "name": "nightly", "role": "editor"})
    assert made.status_code == 201
    return dict(made.json())


def token_of(client: APIClient, account: dict[str, Any], **wish: Any) -> APIClient:
    made = client.post(f"{ADDRESS}/{account['id']}/tokens", {"name": "ci", **wish})
    assert made.status_code == 201, made.json()
    return APIClient(headers={"Authorization": f"Bearer {made.json()['token']}"})


def test_an_owner_makes_one_with_a_role_and_its_tokens_do_what_the_role_may(
    api: APIClient, nightly: dict[str, Any], project: Project, make_project: MakeProject
) -> None:
    assert (nightly["name"], nightly["role"]) == (f"nightly@{project.slug}", "editor")
    make_project("Another")
    script = token_of(api, nightly)
    assert [row["role"] for row in script.get("/api/v1/projects").json()["results"]] == ["editor"]
    assert script.get("/api/v1/me").json()["username"] == nightly["name"]
    assert script.post(f"/api/v1/projects/{project.pk}/members", {"username": "charlie"}).status_code == 403
    assert script.post("/api/v1/projects", {"name": "Mine"}).status_code == 403
    (listed,) = api.get(f"{ADDRESS}?project={project.pk}").json()["results"]
    assert listed["num_tokens"] == 1 and listed["last_used_at"] is not None


def test_the_token_is_shown_once(api: APIClient, nightly: dict[str, Any]) -> None:
    tokens = f"{ADDRESS}/{nightly['id']}/tokens"
    secret = api.post(tokens, {"name": "ci", "scopes": ["read"]}).json()["token"]
    listed = api.get(tokens)
    assert secret not in listed.content.decode()
    assert [(row["name"], row["scopes"]) for row in listed.json()["results"]] == [("ci", ["read"])]
    assert api.get("/api/v1/tokens").json()["results"] == [], "it is not its maker's"


def test_who_is_no_owner_sees_and_changes_none(
    client_of: ClientOf, nightly: dict[str, Any], bob: User, charlie: User, project: Project
) -> None:
    mine = f"{ADDRESS}/{nightly['id']}"
    for user, refused in ((bob, 403), (charlie, 404)):
        client = client_of(user)
        assert client.get(ADDRESS).json()["results"] == []
        assert client.get(mine).status_code == client.patch(mine, {"is_active": False}).status_code == 404
        assert client.get(f"{mine}/tokens").status_code == client.post(f"{mine}/tokens", {}).status_code == 404
        assert client.post(ADDRESS, {"project": str(project.pk), "name": "mine"}).status_code == refused
        assert client.post(ADDRESS, {"name": "mine"}).status_code == 403


def test_an_administrator_switches_off_any_but_opens_no_project_by_it(
    root: APIClient, nightly: dict[str, Any], api: APIClient
) -> None:
    script = token_of(api, nightly)
    mine = f"{ADDRESS}/{nightly['id']}"
    assert root.post(f"{mine}/tokens", {}).status_code == 404
    assert root.patch(mine, {"role": "owner"}).status_code == 404
    assert root.patch(mine, {"is_active": False}).json()["is_active"] is False
    assert script.get("/api/v1/me").status_code == 401


def test_switched_off_it_has_no_token_and_on_again_gets_new_ones(api: APIClient, nightly: dict[str, Any]) -> None:
    script = token_of(api, nightly)
    mine = f"{ADDRESS}/{nightly['id']}"
    assert api.patch(mine, {"is_active": False}).json()["num_tokens"] == 0
    assert not ApiToken.objects.exists()
    refused = api.post(f"{mine}/tokens", {})
    assert refused.status_code == 403 and "switch it on first" in refused.json()["detail"]
    assert api.patch(mine, {"is_active": True}).json()["is_active"] is True
    assert script.get("/api/v1/me").status_code == 401
    assert token_of(api, nightly).get("/api/v1/me").status_code == 200
    actions = AuditEntry.objects.filter(object_name=nightly["name"]).order_by("pk").values_list("action", "changes")
    assert list(actions) == [
        ("service_account.create", {"role": "editor"}),
        ("service_account.switch_off", {"num_revoked": 1}),
        ("service_account.switch_on", {"num_revoked": 0}),
    ]


def test_a_token_of_it_is_revoked_alone(api: APIClient, nightly: dict[str, Any]) -> None:
    kept, lost = token_of(api, nightly), token_of(api, nightly, name="lost")
    tokens = f"{ADDRESS}/{nightly['id']}/tokens"
    (entry,) = (row for row in api.get(tokens).json()["results"] if row["name"] == "lost")
    assert api.delete(f"/api/v1/tokens/{entry['id']}").status_code == 404, "its owner's own are elsewhere"
    assert api.delete(f"{tokens}/{entry['id']}").status_code == 204
    assert (kept.get("/api/v1/me").status_code, lost.get("/api/v1/me").status_code) == (200, 401)


def test_a_role_of_its_own_is_changed(api: APIClient, nightly: dict[str, Any], project: Project) -> None:
    assert api.patch(f"{ADDRESS}/{nightly['id']}", {"role": "viewer"}).json()["role"] == "viewer"
    script = token_of(api, nightly)
    assert script.get("/api/v1/projects").json()["results"][0]["role"] == "viewer"


def test_one_of_the_pool_manages_the_pool_and_sees_no_project(root: APIClient, project: Project) -> None:
    made = root.post(ADDRESS, {"name": "drainer"}).json()
    assert (made["name"], made["project"], made["role"]) == ("drainer@pool", None, None)
    script = token_of(root, made, scopes=["pool"])
    assert script.get("/api/v1/me").json()["is_pool_admin"] is True
    assert script.get("/api/v1/projects").json()["results"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "Über"}, "__all__"),
        ({"name": "-x"}, "__all__"),
        ({"name": "x" * 33}, "name"),
        ({"name": "nightly"}, "name"),
        ({"name": "x", "role": "boss"}, "role"),
    ],
)
def test_what_makes_none_is_refused_by_field(
    api: APIClient, nightly: dict[str, Any], project: Project, body: dict[str, str], field: str
) -> None:
    refused = api.post(ADDRESS, {"project": str(project.pk), **body})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])


def test_a_role_without_a_project_is_refused(root: APIClient) -> None:
    assert list(root.post(ADDRESS, {"name": "x", "role": "owner"}).json()["errors"]) == ["role"]


def test_a_token_of_one_project_makes_none_in_another(
    alice: User, project: Project, make_project: MakeProject, api: APIClient
) -> None:
    other = make_project("Other", owner=alice)
    made = api.post("/api/v1/tokens", {"projects": [str(project.pk)]}).json()["token"]
    client = APIClient(headers={"Authorization": f"Bearer {made}"})
    assert client.post(ADDRESS, {"project": str(other.pk), "name": "x"}, format="json").status_code == 404
    assert client.post(ADDRESS, {"project": str(project.pk), "name": "x"}, format="json").status_code == 201


def test_a_token_made_with_a_token_ends_with_it_and_has_no_other_scope(api: APIClient, nightly: dict[str, Any]) -> None:
    maker = api.post("/api/v1/tokens", {"scopes": ["admin"], "expires_in_days": 1}).json()
    client = APIClient(headers={"Authorization": f"Bearer {maker['token']}"})
    tokens = f"{ADDRESS}/{nightly['id']}/tokens"
    assert client.post(tokens, {"scopes": ["run"]}, format="json").status_code == 400
    made = client.post(tokens, {"scopes": ["read"], "expires_in_days": 90}, format="json").json()
    assert made["expires_at"][:19] <= maker["expires_at"][:19]


def test_it_never_signs_in(nightly: dict[str, Any]) -> None:
    account = User.objects.get(pk=nightly["id"])
    assert not account.has_usable_password()
    account.set_password("correct horse")  # As an administrator may, in the records.
    account.save()
    client = Client(REMOTE_ADDR="198.51.100.1")
    answer = client.post("/login", {"username": account.username, "password": "correct horse"})
    assert answer.headers["Location"] == "/login/inactive"
    assert client.get("/pool").status_code == 302
    with pytest.raises(CommandError, match="who is a person"):
        call_command("sign_in_link", account.username)


def test_the_audit_log_tells_scripts_from_people(api: APIClient, nightly: dict[str, Any], project: Project) -> None:
    token_of(api, nightly).post("/api/v1/prompt-sets", {"project": str(project.pk), "name": "x", "prompts": ["a"]})
    rows = {row["action"]: row for row in api.get("/api/v1/audit").json()["results"]}
    assert rows["service_account.create"]["by_service_account"] is False
    scripts = AuditEntry.objects.filter(by_service_account=True)
    assert [entry.actor for entry in scripts] == [nightly["name"]]


def test_it_belongs_to_its_project_and_is_not_its_last_owner(
    nightly: dict[str, Any], api: APIClient, alice: User, project: Project, make_project: MakeProject
) -> None:
    other = make_project("Other", owner=alice)
    with pytest.raises(ValidationError, match="belongs to one project"):
        add_member(user=alice, project=other, username=nightly["name"], role="viewer")
    with pytest.raises(ValidationError, match="switch it off instead"):
        remove_member(user=alice, project=project, username=nightly["name"])
    Membership.objects.filter(user_id=nightly["id"]).update(role=ProjectRole.OWNER)
    with pytest.raises(ValidationError, match="must keep an owner"):
        remove_member(user=alice, project=project, username="alice")
    (row,) = (
        m
        for m in api.get(f"/api/v1/projects/{project.pk}/members").json()["results"]
        if m["role"] == "owner" and m["is_service_account"]
    )
    assert row["username"] == nightly["name"]
