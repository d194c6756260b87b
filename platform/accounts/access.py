"""Every permission rule. Selectors and services call these functions; views never decide.

A token's limits (`accounts.token_limits`) narrow what its user may: fewer projects, a lower role, no pool.

Invariant: to outsiders, a project looks as if it did not exist (`NotVisible`, a 404). Members without the right get
`PermissionDenied` (a 403) that names the role they need.
"""

from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from accounts.models import Membership, Project, ProjectRole, TokenScope, User
from accounts.token_limits import TokenLimits

Actor = User | AnonymousUser

RANK = {ProjectRole.VIEWER: 0, ProjectRole.EDITOR: 1, ProjectRole.OWNER: 2}

TO_VIEW = ProjectRole.VIEWER
TO_CREATE_RUNS = ProjectRole.EDITOR
TO_CONTROL_RUNS = ProjectRole.EDITOR
TO_EDIT_RUNS = ProjectRole.EDITOR
TO_DELETE_RUNS = ProjectRole.EDITOR
TO_UPLOAD_PROMPTS = ProjectRole.EDITOR
TO_MANAGE_SECRETS = ProjectRole.OWNER
TO_MANAGE_WEBHOOKS = ProjectRole.OWNER
TO_MANAGE_SERVICE_ACCOUNTS = ProjectRole.OWNER
TO_MANAGE_MIRRORS = ProjectRole.OWNER
TO_RENAME_PROJECT = ProjectRole.OWNER
TO_MANAGE_MEMBERS = ProjectRole.OWNER
TO_READ_AUDIT = ProjectRole.OWNER


class NotVisible(Http404):
    """The object does not exist, or the user may not see it; the two are deliberately the same."""


def visible_projects(user: Actor) -> QuerySet[Project]:
    """The projects `user` is a member of, as far as their token goes."""
    if not user.is_authenticated:
        return Project.objects.none()
    projects = Project.objects.filter(memberships__user=user)
    limits = _limits(user)
    return projects if limits is None or limits.projects is None else projects.filter(pk__in=limits.projects)


def audited_projects(user: Actor) -> QuerySet[Project] | None:
    """The projects whose rows of the audit log `user` may read; `None` for the whole log, which pool admins read: also
    rows about nodes, and about projects that were deleted."""
    if is_pool_admin(user):
        return None
    if not user.is_authenticated:
        return Project.objects.none()
    return Project.objects.filter(pk__in=projects_with_role(user, TO_READ_AUDIT))


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
    return roles_of(user, project).get(project.pk)


def roles_of(user: Actor, project: Project | None = None) -> dict[UUID, ProjectRole]:
    """The user's role in each of their projects, or in one of them, as far as their token goes."""
    if not user.is_authenticated:
        return {}
    held = Membership.objects.filter(user=user)
    if project is not None:
        held = held.filter(project=project)
    roles = {project_id: ProjectRole(role) for project_id, role in held.values_list("project_id", "role")}
    limits = _limits(user)
    if limits is None:
        return roles
    return {
        project_id: min(role, limits.highest_role, key=RANK.__getitem__)
        for project_id, role in roles.items()
        if limits.projects is None or project_id in limits.projects
    }


def has_role(user: Actor, project: Project, role: ProjectRole | str) -> bool:
    """Whether the user's role is at least `role`."""
    held = role_in(user, project)
    return held is not None and RANK[held] >= RANK[ProjectRole(role)]


def projects_with_role(user: Actor, role: ProjectRole) -> set[UUID]:
    """The projects in which the user's role is at least `role`."""
    return {project for project, held in roles_of(user).items() if RANK[held] >= RANK[role]}


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


def require_every_project(user: Actor) -> None:
    """Raises `PermissionDenied` for a token that is limited to projects, about what concerns none of them alone."""
    limits = _limits(user)
    if limits is not None and limits.projects is not None:
        raise PermissionDenied("your token is limited to projects, and this concerns more: use another token")


def is_pool_admin(user: Actor) -> bool:
    """Whether the user may manage the pool, and sees whose runs use it."""
    may = isinstance(user, User) and user.is_active and (user.is_pool_admin or user.is_superuser)
    return may and _has_scope(user, TokenScope.POOL)


def require_pool_admin(user: Actor, pools: Collection[str] | None = None) -> User:
    """The user. `pools`: those that it concerns; `None` for what concerns all of them. Raises `PermissionDenied` for
    anybody who is not a pool admin, and for a token of other pools."""
    if not isinstance(user, User) or not is_pool_admin(user):
        raise PermissionDenied("this needs a pool admin: ask an administrator of this installation")
    if (limits := _limits(user)) is not None:
        limits.require_pools(pools)
    return user


def is_administrator(user: Actor) -> bool:
    """Whether the user administers the installation."""
    may = isinstance(user, User) and user.is_active and user.is_superuser
    return may and _has_scope(user, TokenScope.ADMIN)


def require_superuser(user: Actor) -> User:
    """The user. Raises `PermissionDenied` for anybody who does not administer the installation."""
    if not isinstance(user, User) or not is_administrator(user):
        raise PermissionDenied("this needs an administrator of this installation: ask one of them")
    return user


def require_owner_of(user: Actor, account: User) -> None:
    """Raises `NotVisible` or `PermissionDenied` unless `user` owns the service account's project, or administers the
    installation where it is of none."""
    membership = account.memberships.select_related("project").first()
    if membership is None:
        require_superuser(user)
    else:
        require_role(user, membership.project, TO_MANAGE_SERVICE_ACCOUNTS)


def require_token_maker(user: Actor, account: User) -> None:
    """Raises as `require_owner_of`, also for administrators: a token opens the project, which they need not see. And
    `PermissionDenied` for an account that is switched off."""
    require_owner_of(user, account)
    if not account.is_active:
        raise PermissionDenied(f"`{account.username}` is switched off: switch it on first")


def _limits(user: Actor) -> TokenLimits | None:
    return user.token_limits if isinstance(user, User) else None


def _has_scope(user: Actor, scope: TokenScope) -> bool:
    limits = _limits(user)
    return limits is None or limits.allows(scope)
