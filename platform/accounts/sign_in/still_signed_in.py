"""Whether what let a user in still does. A request asks once; what stays open, as a websocket, asks again and again."""

from importlib import import_module

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import ApiToken, User


def is_still_signed_in(user: User, session_key: str | None) -> bool:
    """Whether the account is active, and the token by which the user came is neither revoked nor expired; without one,
    whether the session `session_key` was not ended, by a log-out or a new password."""
    current = User.objects.filter(pk=user.pk, is_active=True).first()
    if current is None:
        return False
    if user.token_limits is not None:
        tokens = ApiToken.objects.filter(user=user, token_key=user.token_limits.token_key)
        return tokens.filter(Q(expiry=None) | Q(expiry__gt=timezone.now())).exists()
    if session_key is None:
        return True
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    return constant_time_compare(session.get(HASH_SESSION_KEY, ""), current.get_session_auth_hash())
