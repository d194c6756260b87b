"""API tokens: made with their limits, named and revoked by their owners."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
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
    its maker's limits where it names none, and ends with it, by time or by hand. `account`: the service account that
    it is for, which `user` manages; else it is the user's own.

    Raises `ValidationError` for projects that the user does not see, and for limits wider than those of the token that
    makes it.
    """
    if account is not None:
        require_token_maker(user, account)
    maker = _maker(user)
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
        made_with=maker,
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


def _maker(user: User) -> ApiToken | None:
    """The token that the request came with, locked, so that it does not end before what it makes is stored."""
    limits = user.token_limits
    if limits is None:
        return None
    found = tokens_of(user).select_for_update().filter(token_key=limits.token_key).first()
    if found is None:
        raise PermissionDenied("your token was revoked meanwhile")
    return found


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
    """Delete the token and those made with it, so that they no longer authenticate. Raises `NotVisible` unless it is
    the user's own, or that of the service `account`, which `user` manages."""
    if account is not None:
        require_token_maker(user, account)
    revoked = tokens_of(account or user).filter(token_key=token_key)
    if not revoked.exists():
        raise NotVisible("no such token")
    for entry in end_tokens(revoked):
        changes: dict[str, Any] = {"owner": entry.user.username}
        if entry.token_key != token_key:
            changes["made_with"] = token_key
        record("token.revoke", entry, user=user, object_id=entry.token_key, **changes)


@transaction.atomic
def end_tokens(tokens: QuerySet[ApiToken]) -> list[ApiToken]:
    """Delete the tokens and all that were made with them, close their sockets, and answer which they were."""
    ended: list[ApiToken] = []
    found = list(tokens.select_related("user").select_for_update(of=("self",)))
    while found:
        ended += found
        made = ApiToken.objects.filter(made_with__in=found).exclude(pk__in=[entry.pk for entry in ended])
        found = list(made.select_related("user").select_for_update(of=("self",)))
    for entry in ended:
        publish_sign_out(entry.user_id, entry.token_key)
    ApiToken.objects.filter(pk__in=[entry.pk for entry in ended]).delete()
    return ended
