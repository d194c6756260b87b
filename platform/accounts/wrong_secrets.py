"""Tells an address that tries one wrong secret after another to wait: API tokens, single-use codes, run tokens.

Different ones are counted, not requests, so that a script which goes on with its expired token is told what is wrong.
The right secret opens all the same: secrets are random (`accounts.secrets`), so that nobody guesses one, and an
outsider must not be able to close the API to everybody behind the same proxy.
"""

import logging
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

logger = logging.getLogger(__name__)


def seconds_to_wait(request: HttpRequest, secret: str) -> int:
    """Count a secret that was found to be wrong; answers how long its address must wait, 0 while it may go on. Without
    the broker nothing is counted."""
    now, address = time.time(), address_of(request)
    key = f"tandem:wrong-secrets:{address}:{int(now // WINDOW_SECONDS)}"
    try:
        with broker().pipeline(transaction=False) as pipeline:
            pipeline.pfadd(key, hash_secret(secret))
            pipeline.pfcount(key)
            pipeline.expire(key, 2 * WINDOW_SECONDS)
            is_another, num_wrong, _ = pipeline.execute()
    except RedisError:
        return 0
    if num_wrong <= MAX_WRONG:
        return 0
    if is_another:
        logger.warning("%s has tried %d different wrong tokens or codes in a minute", address or "somebody", num_wrong)
    return math.ceil(WINDOW_SECONDS - now % WINDOW_SECONDS)


def address_of(request: HttpRequest) -> str:
    """The client's address, behind as many proxies as are one's own; empty where it cannot be told."""
    try:
        return str(get_adapter().get_client_ip(request))
    except (PermissionDenied, ImproperlyConfigured):
        return ""
