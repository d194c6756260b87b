"""How many requests an API token may send in a minute. The pages' own, which come with a session, are not counted.

Each answer says the limit, what is left of it, and when it is whole again, in the headers that GitHub's REST API made
usual: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api.
"""

import math
import time
from typing import TYPE_CHECKING, Any

from django.conf import settings
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.models import User
from live.broker import broker

if TYPE_CHECKING:
    # At run time this module is loaded while the module of views is.
    from rest_framework.views import APIView

WINDOW_SECONDS = 60


class TokenRateLimit(BaseThrottle):
    """DRF answers 429 with `Retry-After` where `allow_request` is false."""

    def __init__(self) -> None:
        self._resets_at = 0.0

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Count the request. Without a broker nothing is counted: reading must go on."""
        limits = request.user.token_limits if isinstance(request.user, User) else None
        if limits is None:
            return True
        now = time.time()
        window = int(now // WINDOW_SECONDS)
        self._resets_at = (window + 1) * WINDOW_SECONDS
        try:
            number = _count(f"tandem:requests:{limits.token_key}:{window}")
        except RedisError:
            return True
        limit = settings.TANDEM_REQUESTS_PER_MINUTE
        headers: dict[str, Any] = {
            "X-RateLimit-Limit": limit,
            "X-RateLimit-Remaining": max(0, limit - number),
            "X-RateLimit-Reset": int(self._resets_at),
        }
        view.headers |= {name: str(value) for name, value in headers.items()}
        return number <= limit

    def wait(self) -> float:
        """Seconds until the next window, whole ones."""
        return math.ceil(max(1.0, self._resets_at - time.time()))


def _count(key: str) -> int:
    """The number of requests in the key's window, with this one: one way to the broker and back for each request."""
    with broker().pipeline(transaction=False) as pipeline:
        pipeline.incr(key)
        # Kept beyond the window's end, since clocks of several web servers differ.
        pipeline.expire(key, 2 * WINDOW_SECONDS)
        return int(pipeline.execute()[0])
