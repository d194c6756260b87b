"""Links that sign one account in once: for the administrator whom a broken provider, or a lost password, locks out.

Only the server's command line makes them. They stand for the password, not for a second factor.
"""

from django.core.cache import cache

from accounts.models import User
from accounts.secrets import hash_secret, new_secret
from audit.record import record

LIFETIME_SECONDS = 600
"""Enough to carry a link from a terminal to a browser."""


def make_sign_in_link(*, account: User) -> str:
    """The secret end of a link that signs `account` in."""
    code = new_secret()
    cache.set(_key(code), account.pk, timeout=LIFETIME_SECONDS)
    record("user.make_sign_in_link", account, user=None, actor="manage.py sign_in_link")
    return code


def account_of_link(code: str) -> User | None:
    """Whom the link signs in; None for one that was used, that ended, or that never was."""
    return User.objects.filter(pk=cache.get(_key(code)), is_active=True).first()


def take_sign_in_link(code: str) -> User | None:
    """Whom the link signs in, which it does not do again: of two that take it at once, one gets None."""
    account = account_of_link(code)
    return account if cache.delete(_key(code)) else None


def _key(code: str) -> str:
    return f"sign-in-link:{hash_secret(code)}"
