"""Rights beyond projects: pool admins, administrators of the installation, and what either sees in Django's admin."""

from collections.abc import Callable

import pytest
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.test import Client
from rest_framework.test import APIClient

from accounts.access import is_pool_admin, require_pool_admin, require_superuser
from accounts.models import User
from accounts.services import set_pool_admin
from audit.models import AuditEntry
from audit.read_only_admin import secret_columns
from fleet.models import GpuTest, NodeAgent
from runs.models import Attempt


@pytest.mark.parametrize(
    ("rights", "manages_pool", "administers"),
    [
        ({}, False, False),
        ({"is_staff": True}, False, False),
        ({"is_pool_admin": True}, True, False),
        ({"is_superuser": True}, True, True),
        ({"is_pool_admin": True, "is_superuser": True, "is_active": False}, False, False),
    ],
)
def test_each_right_allows_what_it_is_for(
    make_user: Callable[..., User], rights: dict[str, bool], manages_pool: bool, administers: bool
) -> None:
    user = make_user("somebody", **rights)
    assert is_pool_admin(user) is manages_pool
    for require, is_allowed in ((require_pool_admin, manages_pool), (require_superuser, administers)):
        if is_allowed:
            assert require(user) == user
        else:
            with pytest.raises(PermissionDenied):
                require(user)


@pytest.mark.parametrize("right", ["is_pool_admin", "is_superuser"])
def test_pages_learn_of_superusers_too_that_they_may_manage_the_pool(
    make_user: Callable[..., User], right: str
) -> None:
    client = APIClient()
    client.force_authenticate(make_user("somebody", **{right: True}))
    assert client.get("/api/v1/me").json()["is_pool_admin"] is True


def test_only_an_administrator_makes_pool_admins(make_user: Callable[..., User], alice: User) -> None:
    root, pool_admin = make_user("root", is_superuser=True), make_user("pam", is_pool_admin=True)
    with pytest.raises(PermissionDenied):
        set_pool_admin(user=pool_admin, account=alice, is_pool_admin=True)
    assert is_pool_admin(set_pool_admin(user=root, account=alice, is_pool_admin=True))
    entry = AuditEntry.objects.get(action="user.set_pool_admin")
    assert (entry.actor, entry.object_name, entry.changes) == (
        "root",
        "alice",
        {"before": False, "is_pool_admin": True},
    )


def test_rights_are_given_and_taken_over_rest(make_user: Callable[..., User], alice: User) -> None:
    client = APIClient()
    client.force_authenticate(make_user("root", is_superuser=True))
    rows = client.get("/api/v1/users").json()["results"]
    assert [row["username"] for row in rows] == ["alice", "root"]
    given = client.patch(f"/api/v1/users/{alice.pk}", {"is_pool_admin": True}, format="json")
    assert given.status_code == 200 and given.json()["is_pool_admin"] is True
    assert client.patch("/api/v1/users/999999", {"is_pool_admin": True}, format="json").status_code == 404
    client.force_authenticate(User.objects.get(pk=alice.pk))
    assert client.get("/api/v1/users").status_code == 403
    assert client.patch(f"/api/v1/users/{alice.pk}", {"is_pool_admin": False}, format="json").status_code == 403


def test_a_pool_admin_reads_the_pools_records_and_no_others(client: Client, make_user: Callable[..., User]) -> None:
    client.force_login(make_user("pam", is_pool_admin=True))
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/fleet/gpu/").status_code == 200
    assert client.get("/admin/fleet/gpu/add/").status_code == 403
    for records in ("runs/run", "accounts/user", "audit/auditentry"):
        assert client.get(f"/admin/{records}/").status_code == 403
    assert client.get("/admin/auth/group/").status_code == 404, "nothing is allowed by groups"


def test_others_do_not_enter_the_admin(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get("/admin/fleet/gpu/").status_code == 302


def test_an_administrator_reads_every_record(admin_client: Client) -> None:
    for model in admin.site._registry:
        address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert admin_client.get(address).status_code == 200, address


def test_a_change_of_an_account_in_the_admin_is_audited_without_its_password(admin_client: Client, alice: User) -> None:
    page = f"/admin/accounts/user/{alice.pk}/change/"
    form = admin_client.get(page).context["adminform"].form
    values = {name: value for name, value in form.initial.items() if value not in (None, False, [])}
    joined = {"date_joined_0": alice.date_joined.date().isoformat(), "date_joined_1": "00:00:00"}
    answer = admin_client.post(page, {**values, **joined, "is_pool_admin": "on"})
    assert answer.status_code == 302
    assert is_pool_admin(User.objects.get(pk=alice.pk))
    (entry,) = AuditEntry.objects.filter(action="user.change")
    changed = entry.changes["changed"]
    assert changed["is_pool_admin"] == "True" and "password" not in changed


@pytest.mark.parametrize("model", [NodeAgent, GpuTest, Attempt])
def test_hashes_of_codes_and_tokens_are_not_shown(model: type) -> None:
    hidden = secret_columns(model)
    assert {"token_hash"} <= set(hidden) and any("code_hash" in name for name in hidden)
    assert admin.site._registry[model].get_exclude(None) == hidden  # type: ignore[arg-type]
