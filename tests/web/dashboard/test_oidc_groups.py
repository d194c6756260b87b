"""What groups of the provider give, what by hand was given beside it, and what ends with the link."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts.models import Membership, Project, ProjectRole, User
from accounts.services import change_role, remove_member, set_pool_admin
from audit.models import AuditEntry
from tests.web.dashboard.authenticator_app import PASSWORD
from tests.web.dashboard.oidc_browser import is_linked, sign_in
from tests.web.dashboard.openid_provider import OpenIdProvider

pytestmark = pytest.mark.django_db
MakeUser = Callable[..., User]
Configure = Callable[..., None]
UNLINK = "/account/providers/oidc/unlink"


@pytest.fixture
def group_roles(project: Project) -> dict[str, Any]:
    projects = {
        project.slug: {"owner": ["leads"], "editor": ["research"], "viewer": ["staff"]},
        "no-such-project": {"owner": ["leads"]},
    }
    return {"admins": ["root"], "pool_admins": ["ops"], "projects": projects}


@pytest.fixture
def mapped(provider: OpenIdProvider, configure: Configure, group_roles: dict[str, Any]) -> Callable[..., User]:
    """Signs erin in as a member of groups, and answers with her account."""
    configure(group_roles=group_roles)

    def come(*groups: str) -> User:
        provider.person = {**provider.person, "groups": list(groups)}
        sign_in()
        return User.objects.get(username="erin")

    return come


def role_of(user: User, project: Project) -> str | None:
    return Membership.objects.filter(user=user, project=project).values_list("role", flat=True).first()


def test_groups_give_roles_at_every_sign_in_and_take_them_again(mapped: Callable[..., User], project: Project) -> None:
    assert role_of(mapped("staff", "research"), project) == "editor"
    assert role_of(mapped("staff"), project) == "viewer"
    assert role_of(mapped("leads"), project) == "owner"
    assert role_of(mapped("sales"), project) is None
    rows = AuditEntry.objects.filter(action="member.map_role").order_by("pk")
    assert [(row.changes["before"], row.changes["role"]) for row in rows] == [
        (None, "editor"),
        ("editor", "viewer"),
        ("viewer", "owner"),
        ("owner", None),
    ]


def test_groups_give_rights_and_take_them_again(mapped: Callable[..., User]) -> None:
    erin = mapped("root", "ops")
    assert erin.is_superuser and erin.is_pool_admin and not erin.is_staff
    erin = mapped("ops")
    assert not erin.is_superuser and erin.is_pool_admin
    assert not mapped().is_pool_admin


def test_what_was_given_by_hand_stays(mapped: Callable[..., User], project: Project, make_user: MakeUser) -> None:
    erin = mapped()
    Membership.objects.create(project=project, user=erin, role=ProjectRole.EDITOR)
    set_pool_admin(user=make_user(is_superuser=True), account=erin, is_pool_admin=True)
    for groups, expected in ((("staff", "ops"), "editor"), (("leads", "ops"), "owner"), ((), "editor")):
        erin = mapped(*groups)
        assert role_of(erin, project) == expected
        assert erin.is_pool_admin


def test_a_role_by_a_group_is_changed_at_the_provider(
    mapped: Callable[..., User], project: Project, alice: User
) -> None:
    mapped("research")
    with pytest.raises(ValidationError, match="by a group of the identity provider"):
        remove_member(user=alice, project=project, username="erin")
    with pytest.raises(ValidationError, match="only a higher role can be given here"):
        change_role(user=alice, project=project, username="erin", role="viewer")
    change_role(user=alice, project=project, username="erin", role="owner")
    assert role_of(mapped(), project) == "owner", "by hand now"


def test_an_owner_by_a_group_does_not_let_the_last_owner_go(
    mapped: Callable[..., User], project: Project, alice: User
) -> None:
    mapped("leads")
    with pytest.raises(ValidationError, match="must keep an owner"):
        remove_member(user=alice, project=project, username="alice")


def test_groups_are_found_inside_other_claims(
    mapped: Callable[..., User],
    provider: OpenIdProvider,
    configure: Configure,
    group_roles: dict[str, Any],
    project: Project,
) -> None:
    configure(group_roles=group_roles, groups_claim="realm_access.roles")
    provider.person = {**provider.person, "realm_access": {"roles": ["research"]}}
    assert role_of(mapped("leads"), project) == "editor"


def test_a_link_ends_with_what_groups_gave_unless_nothing_else_signs_in(
    mapped: Callable[..., User], provider: OpenIdProvider, project: Project
) -> None:
    user = mapped("root", "staff")
    assert (user.is_superuser, role_of(user, project)) == (True, "viewer")
    client, _ = sign_in()
    refused = client.post(UNLINK)
    assert refused.status_code == 409
    assert "set a password or add a passkey first" in refused.content.decode()
    assert is_linked(user)

    user.set_password(PASSWORD)
    user.save()
    client.force_login(user)
    assert client.post(UNLINK).headers["Location"].startswith("/account/confirm/password")
    assert is_linked(user)
    # What was asked for before the password is done after it.
    confirmed = client.post("/account/confirm/password", {"password": PASSWORD, "next": UNLINK})
    assert confirmed.headers["Location"] == "/account"
    user.refresh_from_db()
    assert (is_linked(user), user.is_superuser) == (False, False)
    assert role_of(user, project) is None
    entry = AuditEntry.objects.filter(action="user.unlink_provider").get()
    assert entry.changes["subjects"][0]["sub"] == provider.person["sub"]
