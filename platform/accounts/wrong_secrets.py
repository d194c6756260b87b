"""Holds back an address that tries one wrong secret after another: API tokens, single-use codes, run tokens.

Different ones are counted, not requests: a script that goes on with its expired token closes nothing for others behind
the same address. Secrets are random (`accounts.secrets`), so this keeps no guess from success but the load of guessing
from the database; that is why it lets everything through while the broker is away.
"""

import math
import time

from allauth.account.adapter import get_adapter
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import HttpRequest
from redis.exceptions import RedisError

from accounts.secrets import hash_secret
from live.broker import broker

MAX_WRONG = 30
"""Different wrong secrets of one address in a minute: as many as forms of the login page."""
WINDOW_SECONDS = 60


class TooManyWrongSecrets(Exception):
    """The address must wait; nothing was looked up."""

    def __init__(self, wait_seconds: int) -> None:
        super().__init__(f"this address has sent too many wrong tokens or codes: wait {wait_seconds} s")
        self.wait_seconds = wait_seconds


def require_few_wrong(request: HttpRequest) -> None:
    """Raises `TooManyWrongSecrets` for an address that sent too many; called before a secret is looked up."""
    now = time.time()
    try:
        num_wrong = int(broker().pfcount(_key(address_of(request), now)))
    except RedisError:
        return
    if num_wrong >= MAX_WRONG:
        raise TooManyWrongSecrets(math.ceil(WINDOW_SECONDS - now % WINDOW_SECONDS))


def note_wrong(request: HttpRequest, secret: str) -> None:
    """Count a secret that was found to be wrong."""
    key = _key(address_of(request), time.time())
    try:
        with broker().pipeline(transaction=False) as pipeline:
            pipeline.pfadd(key, hash_secret(secret))
            pipeline.expire(key, 2 * WINDOW_SECONDS)
            pipeline.execute()
    except RedisError:
        return


def address_of(request: HttpRequest) -> str:
    """The client's address, behind as many proxies as are one's own; empty where it cannot be told."""
    try:
        return str(get_adapter().get_client_ip(request))
    except (PermissionDenied, ImproperlyConfigured):
        return ""


def _key(address: str, now: float) -> str:
    return f"tandem:wrong-secrets:{address}:{int(now // WINDOW_SECONDS)}"
