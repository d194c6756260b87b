"""The user of a websocket: by a knox token in the URL, else by the session; and whether they still are."""

from typing import Any
from urllib.parse import parse_qs

from django.contrib.auth.models import AnonymousUser
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from accounts.access import Actor, NotVisible
from accounts.models import User
from accounts.sign_in.selectors import must_set_up
from accounts.sign_in.still_signed_in import is_still_signed_in
from accounts.token_limits import limits_of
from worker.contracts.plain_json import text_problem


def query_of(scope: dict[str, Any]) -> dict[str, str]:
    """The address's parameters, the last value of each."""
    return {name: values[-1] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}


def user_of(scope: dict[str, Any]) -> Actor:
    """The user behind `?token=`, or of the session cookie; anonymous when the token is unknown or expired, and when the
    session still lacks a second factor that is required."""
    token = query_of(scope).get("token")
    if token is None:
        user: Actor = scope.get("user") or AnonymousUser()
        # Channels' lazy user is resolved here, where database access is allowed.
        may = isinstance(user, User) and not must_set_up(user, scope.get("session"))
        return user if may else AnonymousUser()
    if text_problem(token):
        return AnonymousUser()
    try:
        owner, used = TokenAuthentication().authenticate_credentials(token.encode())
    except AuthenticationFailed:
        return AnonymousUser()
    owner.token_limits = limits_of(used)
    return owner


def require_signed_in(scope: dict[str, Any], user: Actor) -> None:
    """Raises `NotVisible` where the user was let in and would not be now. Who came anonymously stays so."""
    session = scope.get("session")
    if isinstance(user, User) and not is_still_signed_in(user, session.session_key if session else None):
        raise NotVisible("log in again")
