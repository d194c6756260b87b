"""Reads of projects and their members, for those who may see them."""

from django.db.models import Count, F, Max, Q, QuerySet

from accounts.access import (
    TO_MANAGE_SERVICE_ACCOUNTS,
    TO_VIEW,
    Actor,
    NotVisible,
    is_administrator,
    projects_with_role,
    require_role,
    require_superuser,
)
from accounts.models import Membership, Project, User


def members(user: Actor, project: Project) -> QuerySet[Membership]:
    """The project's members, oldest first. Raises `NotVisible` for outsiders."""
    require_role(user, project, TO_VIEW)
    return Membership.objects.filter(project=project).select_related("user")


def users(user: Actor) -> QuerySet[User]:
    """Every account. Raises `PermissionDenied` for anybody who does not administer the installation."""
    require_superuser(user)
    return User.objects.all()


def manageable_service_accounts(user: Actor) -> QuerySet[User]:
    """Those of the projects that `user` owns, and all of them for administrators, with `project_id` and
    `role`, null for one of the pool, `num_tokens`, and `last_used_at`, the last use of any of their tokens."""
    mine = Q(memberships__project__in=projects_with_role(user, TO_MANAGE_SERVICE_ACCOUNTS))
    accounts = User.objects.filter(is_service_account=True)
    if not is_administrator(user):
        accounts = accounts.filter(mine)
    return accounts.annotate(
        project_id=F("memberships__project_id"),
        role=F("memberships__role"),
        num_tokens=Count("auth_token_set"),
        last_used_at=Max("auth_token_set__last_used_at"),
    )


def get_service_account(user: Actor, account_id: int) -> User:
    """Raises `NotVisible`."""
    account = manageable_service_accounts(user).filter(pk=account_id).first()
    if account is None:
        raise NotVisible("no such service account among those that you manage")
    return account
