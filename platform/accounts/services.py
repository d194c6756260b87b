"""Writes to projects, memberships and roles. Invariant: a project always has an owner."""

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils.text import slugify

from accounts.access import (
    RANK,
    TO_MANAGE_MEMBERS,
    TO_RENAME_PROJECT,
    NotVisible,
    require_every_project,
    require_role,
    require_superuser,
)
from accounts.models import MappedRight, Membership, Project, ProjectRole, User
from audit.record import record


@transaction.atomic
def create_project(*, user: User, name: str) -> Project:
    """A new project owned by `user`. Raises `ValidationError` for an empty or overlong name, `PermissionDenied` for a
    token that is limited to projects."""
    require_every_project(user)
    if user.is_service_account:
        raise PermissionDenied("a service account belongs to one project, or to the pool: a person makes projects")
    project = Project(name=name.strip())
    # The id's first letters keep slugs apart without a search for a free one.
    project.slug = f"{slugify(project.name)[:100] or 'project'}-{project.id.hex[:8]}"
    project.full_clean()
    project.save()
    Membership.objects.create(project=project, user=user, role=ProjectRole.OWNER)
    record("project.create", project, user=user, project_id=project.pk)
    return project


@transaction.atomic
def rename_project(*, user: User, project: Project, name: str) -> Project:
    """Rename the project, for owners. The slug stays the same, so that links keep working."""
    require_role(user, project, TO_RENAME_PROJECT)
    before, project.name = project.name, name.strip()
    project.full_clean()
    project.save(update_fields=["name"])
    record("project.rename", project, user=user, project_id=project.pk, before=before)
    return project


@transaction.atomic
def add_member(*, user: User, project: Project, username: str, role: ProjectRole | str) -> Membership:
    """Raises `ValidationError` for an unknown user name and for somebody who is a member already."""
    require_role(user, project, TO_MANAGE_MEMBERS)
    newcomer = User.objects.filter(username=username, is_active=True).first()
    if newcomer is not None and newcomer.is_service_account:
        raise ValidationError({"username": f"`{username}` is a service account, which belongs to one project"})
    if newcomer is None:
        raise ValidationError({"username": f"there is no user `{username}`: ask an admin to create the account"})
    membership, is_new = Membership.objects.get_or_create(
        project=project, user=newcomer, defaults={"role": _valid_role(role)}
    )
    if not is_new:
        raise ValidationError({"username": f"`{username}` is {membership.role} already: change the role instead"})
    record("member.add", membership, user=user, project_id=project.pk, username=username, role=membership.role)
    return membership


@transaction.atomic
def change_role(*, user: User, project: Project, username: str, role: ProjectRole | str) -> Membership:
    """Raises `ValidationError` when it would leave the project without an owner."""
    require_role(user, project, TO_MANAGE_MEMBERS)
    wanted = _valid_role(role)
    membership = _locked_membership(project, username)
    _require_above_groups(membership, wanted)
    if wanted != ProjectRole.OWNER:
        _require_another_owner(project, membership)
    before, membership.role, membership.given_role = membership.role, wanted, None
    membership.save(update_fields=["role", "given_role"])
    record("member.change_role", membership, user=user, project_id=project.pk, before=before, role=wanted.value)
    return membership


@transaction.atomic
def remove_member(*, user: User, project: Project, username: str) -> None:
    """Remove a member. Owners remove anybody and everybody may leave, except the last owner."""
    if user.username != username:
        require_role(user, project, TO_MANAGE_MEMBERS)
    membership = _locked_membership(project, username)
    _require_above_groups(membership, None)
    if membership.user.is_service_account:
        raise ValidationError(f"`{username}` is a service account of this project: switch it off instead")
    _require_another_owner(project, membership)
    record("member.remove", membership, user=user, project_id=project.pk, username=username, role=membership.role)
    membership.delete()


@transaction.atomic
def set_pool_admin(*, user: User, account: User, is_pool_admin: bool) -> User:
    """Let an account manage the pool, or no longer. Raises `PermissionDenied` unless `user` administers the
    installation."""
    require_superuser(user)
    before, account.is_pool_admin = account.is_pool_admin, is_pool_admin
    # By hand now, whatever groups gave before.
    account.mapped_rights = [right for right in account.mapped_rights if right != MappedRight.POOL_ADMIN]
    account.save(update_fields=["is_pool_admin", "mapped_rights"])
    record("user.set_pool_admin", account, user=user, before=before, is_pool_admin=is_pool_admin)
    return account


def _valid_role(role: ProjectRole | str) -> ProjectRole:
    try:
        return ProjectRole(role)
    except ValueError as error:
        raise ValidationError(
            {"role": f"`role` must be one of {', '.join(ProjectRole.values)}, got `{role}`"}
        ) from error


def _locked_membership(project: Project, username: str) -> Membership:
    # The project's row serialises changes of its members: two owners who remove each other at once must not both win.
    Project.objects.select_for_update().get(pk=project.pk)
    membership = Membership.objects.filter(project=project, user__username=username).first()
    if membership is None:
        raise NotVisible("no such member")
    return membership


def _require_above_groups(membership: Membership, wanted: ProjectRole | None) -> None:
    """Raises `ValidationError` for less than what the identity provider gives, which the next sign-in would undo."""
    if membership.is_mapped and (wanted is None or RANK[wanted] <= RANK[ProjectRole(membership.role)]):
        raise ValidationError(
            f"`{membership.user.username}` is {membership.role} by a group of the identity provider: change it there; "
            "only a higher role can be given here"
        )


def _require_another_owner(project: Project, membership: Membership) -> None:
    # One by a group does not count, since the group may be lost at any time, nor does a script.
    owners = Membership.objects.filter(project=project, role=ProjectRole.OWNER, given_role=None)
    owners = owners.filter(user__is_service_account=False)
    if list(owners[:2]) == [membership]:
        raise ValidationError(f"{project.name} must keep an owner: make somebody else an owner first")
