"""Accounts of scripts: of one project with a role there, or of the pool; they have tokens, and never sign in.

Invariant: an account that is switched off has no token, and no open socket: both end with the commit.
"""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import transaction

from accounts.access import (
    TO_MANAGE_SERVICE_ACCOUNTS,
    is_administrator,
    require_owner_of,
    require_role,
    require_superuser,
)
from accounts.api_tokens import end_tokens, tokens_of
from accounts.models import Membership, Project, ProjectRole, User
from accounts.services import change_role
from audit.record import record
from live.publish import publish_sign_out

MAX_NAME_CHARS = 32
OF_THE_POOL = "pool"
"""What stands after the `@` in the name of an account of no project. No slug is the same: slugs end in hex digits."""
check_name = RegexValidator(
    r"^[a-z0-9][a-z0-9-]{0,31}\Z",
    f"`name` must be 1 to {MAX_NAME_CHARS} of a-z, 0-9 and -, and begin with none of the last",
)


@transaction.atomic
def create_service_account(*, user: User, project: Project | None, name: str, role: ProjectRole | None) -> User:
    """An account of `project` with `role` there, for its owners to make; without a project one that manages the pool,
    for administrators. Raises `PermissionDenied`, `ValidationError` by field."""
    check_name(name)
    if project is None:
        require_superuser(user)
        if role is not None:
            raise ValidationError({"role": "an account of the pool has no role in a project: leave `role` out"})
    else:
        require_role(user, project, TO_MANAGE_SERVICE_ACCOUNTS)
    account = User(username=f"{name}@{project.slug if project else OF_THE_POOL}", is_service_account=True)
    account.is_pool_admin = project is None
    account.set_unusable_password()
    if User.objects.filter(username=account.username).exists():
        raise ValidationError({"name": f"there is an account `{account.username}` already: choose another name"})
    account.save()
    project_id = None
    if project is not None:
        project_id, role = project.pk, role or ProjectRole.VIEWER
        Membership.objects.create(project=project, user=account, role=role)
    record("service_account.create", account, user=user, project_id=project_id, role=role)
    return account


@transaction.atomic
def change_service_account(*, user: User, account: User, changes: Mapping[str, Any]) -> User:
    """Write the fields given, of `is_active` and `role`. Raises `PermissionDenied`, `ValidationError`."""
    membership = account.memberships.select_related("project").first()
    if "role" in changes:
        if membership is None:
            raise ValidationError({"role": f"`{account.username}` is of no project, and has no role in one"})
        change_role(user=user, project=membership.project, username=account.username, role=changes["role"])
    if changes.get("is_active", account.is_active) != account.is_active:
        if not is_administrator(user):
            require_owner_of(user, account)
        account.is_active = changes["is_active"]
        account.save(update_fields=["is_active"])
        num_revoked = 0 if account.is_active else end_access(account)
        record(
            "service_account.switch_on" if account.is_active else "service_account.switch_off",
            account,
            user=user,
            project_id=None if membership is None else membership.project_id,
            num_revoked=num_revoked,
        )
    return account


def end_access(account: User) -> int:
    """Revoke every token of the account, with those made by them, and close its sockets; answers how many there
    were."""
    num_revoked = len(end_tokens(tokens_of(account)))
    publish_sign_out(account.pk)
    return num_revoked
