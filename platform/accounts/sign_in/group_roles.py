"""Which roles the groups of the provider give: read from a file, applied at every sign-in.

Invariant: what was given by hand is never taken, and what groups gave ends with the group. A right that groups give is
named in `User.mapped_rights`; a membership that they give or raise keeps in `given_role` what it was by hand.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.access import RANK
from accounts.models import MappedRight, Membership, Project, ProjectRole, User
from accounts.sign_in.group_files import read_group_roles
from audit.record import record

FLAGS = {MappedRight.ADMIN: "is_superuser", MappedRight.POOL_ADMIN: "is_pool_admin"}


def groups_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """The groups that the claims name, under `TANDEM_OIDC_GROUPS_CLAIM`, whose dots lead into objects."""
    found: Any = claims
    for part in settings.TANDEM_OIDC_GROUPS_CLAIM.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        found = [found]
    return frozenset(filter(lambda name: isinstance(name, str), found or ()))


@transaction.atomic
def apply_group_roles(*, user: User, groups: frozenset[str]) -> None:
    """Give the user what their groups give, and take what they gave before and do not any more."""
    mapping = read_group_roles(settings.TANDEM_OIDC_GROUP_ROLES)
    # Locked, so that of two sign-ins at once the second sees what the first has given.
    user.refresh_from_db(fields=[*FLAGS.values(), "mapped_rights"], from_queryset=User.objects.select_for_update())
    _apply_rights(user, set(map(MappedRight, mapping.rights(groups))))
    wanted = {slug: max(map(ProjectRole, roles), key=RANK.__getitem__) for slug, roles in mapping.roles(groups).items()}
    projects = {project.slug: project for project in Project.objects.filter(slug__in=wanted)}
    held = Membership.objects.select_for_update().filter(user=user).order_by("pk").select_related("project")
    memberships = {membership.project.slug: membership for membership in held}
    for slug in sorted(projects.keys() | memberships.keys()):
        project = projects[slug] if slug in projects else memberships[slug].project
        _apply_role(user, project, memberships.get(slug), wanted.get(slug))


def _apply_rights(user: User, wanted: set[MappedRight]) -> None:
    before = set(map(MappedRight, user.mapped_rights))
    # A right held by hand is not noted: it does not end with the group.
    given = {right for right in wanted - before if not getattr(user, FLAGS[right])}
    taken = before - wanted
    if not given and not taken:
        return
    for right in given | taken:
        setattr(user, FLAGS[right], right in given)
    user.mapped_rights = sorted((before | given) - taken)
    user.save(update_fields=[*FLAGS.values(), "mapped_rights"])
    record("user.map_rights", user, user=user, given=sorted(given), taken=sorted(taken))


def _apply_role(user: User, project: Project, membership: Membership | None, mapped: ProjectRole | None) -> None:
    by_hand = None if membership is None else membership.role_by_hand
    is_raised = mapped is not None and (by_hand is None or RANK[mapped] > RANK[by_hand])
    role = mapped if is_raised else by_hand
    before = None if membership is None else membership.role
    if membership is None and role is not None:
        membership = Membership(project=project, user=user)
    if membership is None or (role == before and membership.is_mapped == is_raised):
        return
    record("member.map_role", membership, user=user, project_id=project.pk, before=before, role=role)
    if role is None:
        membership.delete()
        return
    membership.role = role
    membership.given_role = (by_hand or "") if is_raised else None
    membership.save()
