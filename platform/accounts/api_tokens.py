"""API tokens: made, named and revoked by their owners."""

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet

from accounts.access import NotVisible
from accounts.models import ApiToken, User
from audit.record import record


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The user's own tokens."""
    return ApiToken.objects.filter(user=user)


@transaction.atomic
def create_token(*, user: User, name: str = "", lifetime: timedelta | None = None) -> tuple[ApiToken, str]:
    """Create a token; returns its row and the token itself, which is never shown again. `lifetime`: by default the
    server's."""
    expiry = {} if lifetime is None else {"expiry": lifetime}
    entry, token = ApiToken.objects.create(user=user, name=name, **expiry)
    record("token.create", entry, user=user, object_id=entry.token_key, expires_at=entry.expiry)
    return entry, token


@transaction.atomic
def revoke_token(*, user: User, token_key: str) -> None:
    """Delete the token, so that it no longer authenticates. Raises `NotVisible` unless it is the user's own."""
    entry = tokens_of(user).filter(token_key=token_key).first()
    if entry is None:
        raise NotVisible("no such token")
    record("token.revoke", entry, user=user, object_id=token_key)
    entry.delete()
