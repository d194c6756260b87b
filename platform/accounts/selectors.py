"""Reads of projects and their members, for those who may see them."""

from django.db.models import QuerySet

from accounts.access import TO_VIEW, Actor, require_role, require_superuser
from accounts.models import Membership, Project, User


def members(user: Actor, project: Project) -> QuerySet[Membership]:
    """The project's members, oldest first. Raises `NotVisible` for outsiders."""
    require_role(user, project, TO_VIEW)
    return Membership.objects.filter(project=project).select_related("user")


def users(user: Actor) -> QuerySet[User]:
    """Every account. Raises `PermissionDenied` for anybody who does not administer the installation."""
    require_superuser(user)
    return User.objects.all()
