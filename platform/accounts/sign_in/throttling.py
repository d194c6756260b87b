"""How long somebody must wait whom allauth's rate limits keep from signing in."""

import math
import time

from allauth.core.internal import ratelimit
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse

from accounts.models import User

TOO_MANY = "too_many_login_attempts"
"""allauth's code of the error of a form that came too often."""
APP = "allauth.account"
ACTION = "login_failed"


def name_key(username: str) -> str:
    """What failed passwords are counted by. allauth adds the host, of which a server has several names."""
    return username.lower()


def code_key(account: User) -> str:
    """What allauth counts failed codes of a second factor by."""
    return f"mfa-auth-user-{account.pk}"


def seconds_to_wait(request: HttpRequest, key: str) -> int:
    """Until one more attempt at what `key` stands for is let through from the request's address."""
    now = time.time()
    waits = [1.0]
    for rate in ratelimit.get_rates(app=APP, action=ACTION):
        cached = ratelimit.get_cache_key(request, app=APP, action=ACTION, rate=rate, key=key)
        attempts: list[float] = cache.get(cached, [])
        if len(attempts) >= rate.amount:
            # Newest first: one is let through again when the oldest of those that fill the limit has expired.
            waits.append(attempts[rate.amount - 1] + rate.duration - now)
    return math.ceil(max(waits))


def tell_to_wait(response: HttpResponse, seconds: int) -> HttpResponse:
    """The answer to a form that came too often."""
    response.status_code = 429
    response["Retry-After"] = str(seconds)
    return response
