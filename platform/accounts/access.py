"""Every permission rule. Selectors and services call these functions; views never decide.

Invariant: to outsiders, a project looks as if it did not exist (`NotVisible`, a 404). Members without the right get
`PermissionDenied` (a 403) that names the role they need.
"""

from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from accounts.models import Membership, Project, ProjectRole, User

Actor = User | AnonymousUser

RANK = {ProjectRole.VIEWER: 0, ProjectRole.EDITOR: 1, ProjectRole.OWNER: 2}

TO_VIEW = ProjectRole.VIEWER
TO_CREATE_RUNS = ProjectRole.EDITOR
TO_CONTROL_RUNS = ProjectRole.EDITOR
TO_EDIT_RUNS = ProjectRole.EDITOR
TO_DELETE_RUNS = ProjectRole.EDITOR
TO_UPLOAD_PROMPTS = ProjectRole.EDITOR
TO_MANAGE_SECRETS = ProjectRole.OWNER
TO_RENAME_PROJECT = ProjectRole.OWNER
TO_MANAGE_MEMBERS = ProjectRole.OWNER


class NotVisible(Http404):
    """The object does not exist, or the user may not see it; the two are deliberately the same."""


def visible_projects(user: Actor) -> QuerySet[Project]:
    """The projects `user` is a member of."""
    if not user.is_authenticated:
        return Project.objects.none()
    return Project.objects.filter(memberships__user=user)


def get_project(user: Actor, project_id: UUID | str) -> Project:
    """Raises `NotVisible` for outsiders and for ids that name nothing."""
    try:
        return visible_projects(user).get(pk=UUID(str(project_id)))
    except (Project.DoesNotExist, ValueError) as error:
        raise NotVisible("no such project") from error


def role_in(user: Actor, project: Project) -> ProjectRole | None:
    """The user's role, or None for outsiders."""
    if not user.is_authenticated:
        return None
    role = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
    return None if role is None else ProjectRole(role)


def has_role(user: Actor, project: Project, role: ProjectRole | str) -> bool:
    """Whether the user's role is at least `role`."""
    held = role_in(user, project)
    return held is not None and RANK[held] >= RANK[ProjectRole(role)]


def require_role(user: Actor, project: Project, role: ProjectRole | str) -> ProjectRole:
    """The role held. Raises `NotVisible` for outsiders, `PermissionDenied` for members of a lower role."""
    held = role_in(user, project)
    wanted = ProjectRole(role)
    if held is None:
        raise NotVisible("no such project")
    if RANK[held] < RANK[wanted]:
        raise PermissionDenied(
            f"this needs the role {wanted} in {project.name}, yours is {held}: ask an owner of the project"
        )
    return held


def is_pool_admin(user: Actor) -> bool:
    """Whether the user may manage the pool, and sees whose runs use it."""
    return isinstance(user, User) and user.is_active and (user.is_pool_admin or user.is_superuser)


def require_pool_admin(user: Actor) -> User:
    """The user. Raises `PermissionDenied` for anybody who is not a pool admin."""
    if not isinstance(user, User) or not is_pool_admin(user):
        raise PermissionDenied("this needs a pool admin: ask an administrator of this installation")
    return user


def require_superuser(user: Actor) -> User:
    """The user. Raises `PermissionDenied` for anybody who does not administer the installation."""
    if not isinstance(user, User) or not user.is_active or not user.is_superuser:
        raise PermissionDenied("this needs an administrator of this installation: ask one of them")
    return user
