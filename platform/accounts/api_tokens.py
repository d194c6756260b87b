"""API tokens: made with their limits, named and revoked by their owners."""

from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from knox.settings import knox_settings

from accounts.access import NotVisible, require_token_maker, visible_projects
from accounts.models import ApiToken, TokenScope, User
from audit.record import record
from live.publish import publish_sign_out


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The tokens that open the account."""
    return ApiToken.objects.filter(user=user)


@dataclass(frozen=True, slots=True)
class TokenWish:
    """A token to make. Without `projects` or `pools` it is good for all that its user has, now and later."""

    name: str = ""
    scopes: frozenset[TokenScope] = frozenset(TokenScope)
    projects: frozenset[UUID] | None = None
    pools: frozenset[str] | None = None
    lifetime: timedelta = knox_settings.TOKEN_TTL


@transaction.atomic
def create_token(*, user: User, wish: TokenWish, account: User | None = None) -> tuple[ApiToken, str]:
    """Create a token; returns its row and the token itself, which is never shown again. A token made with a token gets
    its maker's limits where it names none, and ends with it at the latest. `account`: the service account that it is
    for, which `user` manages; else it is the user's own.

    Raises `ValidationError` for projects that the user does not see, and for limits wider than those of the token that
    makes it.
    """
    if account is not None:
        require_token_maker(user, account)
    wish, lifetime = _narrowed(user, wish)
    if account is not None:
        # It sees one project at most, which its maker's token goes as far as.
        wish = replace(wish, projects=None)
    asked = wish.projects or frozenset()
    projects = list(visible_projects(user).filter(pk__in=asked))
    if unknown := asked - {project.pk for project in projects}:
        raise ValidationError({"projects": f"you are a member of no project {', '.join(map(str, sorted(unknown)))}"})
    entry, token = ApiToken.objects.create(
        user=account or user,
        name=wish.name,
        expiry=lifetime,
        scopes=sorted(wish.scopes | {TokenScope.READ}),
        is_limited_to_projects=wish.projects is not None,
        pools=sorted(wish.pools or ()),
    )
    entry.projects.set(projects)
    record(
        "token.create",
        entry,
        user=user,
        object_id=entry.token_key,
        owner=entry.user.username,
        expires_at=entry.expiry,
        scopes=entry.scopes,
        projects=sorted(project.name for project in projects),
        pools=entry.pools,
    )
    return entry, token


def _narrowed(user: User, wish: TokenWish) -> tuple[TokenWish, timedelta]:
    """The wish within the limits of the token that makes it."""
    limits = user.token_limits
    if limits is None:
        return wish, wish.lifetime
    if wider := wish.scopes - limits.scopes:
        raise ValidationError({"scopes": f"the token that makes it has no scope {', '.join(sorted(wider))}"})
    projects = limits.projects if wish.projects is None else wish.projects
    pools = limits.pools if wish.pools is None else wish.pools
    if limits.projects is not None and projects is not None and not projects <= limits.projects:
        raise ValidationError({"projects": "the token that makes it is limited to other projects"})
    if limits.pools is not None and pools is not None and not pools <= limits.pools:
        raise ValidationError({"pools": f"the token that makes it is limited to {', '.join(sorted(limits.pools))}"})
    left = wish.lifetime if limits.expires_at is None else limits.expires_at - timezone.now()
    return replace(wish, projects=projects, pools=pools), min(wish.lifetime, left)


@transaction.atomic
def revoke_token(*, user: User, token_key: str, account: User | None = None) -> None:
    """Delete the token, so that it no longer authenticates, and close its sockets. Raises `NotVisible` unless it is the
    user's own, or that of the service `account`, which `user` manages."""
    if account is not None:
        require_token_maker(user, account)
    entry = tokens_of(account or user).filter(token_key=token_key).first()
    if entry is None:
        raise NotVisible("no such token")
    record("token.revoke", entry, user=user, object_id=token_key, owner=entry.user.username)
    publish_sign_out(entry.user_id, token_key)
    entry.delete()
