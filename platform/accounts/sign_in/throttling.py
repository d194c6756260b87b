"""How long somebody must wait whom allauth's rate limits keep from signing in."""

import math
import time

from allauth.account.adapter import get_adapter
from allauth.core.internal import ratelimit
from django.core.cache import cache
from django.http import HttpRequest

APP = "allauth.account"
ACTION = "login_failed"


def seconds_to_wait(request: HttpRequest, username: str) -> int:
    """Until one more attempt at `username` is let through from the request's address."""
    key = get_adapter()._get_login_attempts_cache_key(request, username=username)
    now = time.time()
    waits = [1.0]
    for rate in ratelimit.get_rates(app=APP, action=ACTION):
        cached = ratelimit.get_cache_key(request, app=APP, action=ACTION, rate=rate, key=key)
        attempts: list[float] = cache.get(cached, [])
        if len(attempts) >= rate.amount:
            # Newest first: one is let through again when the oldest of those that fill the limit has expired.
            waits.append(attempts[rate.amount - 1] + rate.duration - now)
    return math.ceil(max(waits))
