"""Which roles the groups of the providers give, applied at every sign-in.

    links of the account ─► groups that each provider named, while its sign-in counts ─► what they give together

Invariant: what was given by hand is never taken, and what groups gave ends with the group. A right that groups give is
named in `User.mapped_rights`; a membership that they give or raise keeps in `given_role` what it was by hand. What one
provider's groups give is not taken by a sign-in at another, unless the last one there is older than its
`session_hours`: who signs in elsewhere keeps nothing of a group that they may have left.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.utils import timezone

from accounts.access import RANK
from accounts.models import MappedRight, Membership, Project, ProjectRole, User
from accounts.sign_in.provider_file import Provider, provider_named
from audit.record import record

FLAGS = {MappedRight.ADMIN: "is_superuser", MappedRight.POOL_ADMIN: "is_pool_admin"}
GROUPS = "groups"
"""Where a link (`SocialAccount.extra_data`) keeps those of the provider's groups that decide anything here."""


def groups_of(claims: Mapping[str, Any], provider: Provider) -> frozenset[str]:
    """The groups that the claims name under the provider's `groups_claim`, as far as they decide anything here."""
    found: Any = claims
    for part in provider.groups_claim.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        found = [found]
    names = found if isinstance(found, list) else ()
    return provider.kept_groups.intersection(name for name in names if isinstance(name, str))


@transaction.atomic
def apply_group_roles(*, user: User) -> None:
    """Give the user what the groups of their links give, and take what they gave before and do not any more."""
    # Locked, so that of two sign-ins at once the second sees what the first has given.
    user.refresh_from_db(fields=[*FLAGS.values(), "mapped_rights"], from_queryset=User.objects.select_for_update())
    counting = list(_counting(user))
    rights = {right for provider, groups in counting for right in provider.group_roles.rights(groups)}
    _apply_rights(user, set(map(MappedRight, rights)))
    wanted: dict[str, ProjectRole] = {}
    for slug, role in {given for provider, groups in counting for given in provider.group_roles.roles(groups)}:
        wanted[slug] = max(wanted.get(slug, ProjectRole.VIEWER), ProjectRole(role), key=RANK.__getitem__)
    projects = {project.slug: project for project in Project.objects.filter(slug__in=wanted)}
    held = Membership.objects.select_for_update().filter(user=user).order_by("pk").select_related("project")
    memberships = {membership.project.slug: membership for membership in held}
    for slug in sorted(projects.keys() | memberships.keys()):
        project = projects[slug] if slug in projects else memberships[slug].project
        _apply_role(user, project, memberships.get(slug), wanted.get(slug))


def _counting(user: User) -> Iterator[tuple[Provider, frozenset[str]]]:
    """The providers that the user signed in at so lately that it counts, with the groups that each named."""
    for link in SocialAccount.objects.filter(user=user):
        provider = provider_named(link.provider)
        groups = frozenset(link.extra_data.get(GROUPS, ()))
        if provider is None or not provider.admits(groups):
            continue
        if timezone.now() - link.last_login <= timedelta(hours=provider.session_hours):
            yield provider, groups


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
