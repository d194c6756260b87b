"""The broker's plain client, for counts that all processes share."""

import threading
from functools import cache

from django.conf import settings
from redis import Redis

_one_at_a_time = threading.Lock()


def broker() -> Redis:
    """That of this process. Its methods raise `redis.exceptions.RedisError` while the broker is away."""
    # Of two that were made at once the one that is not kept would close its connections once it is collected, while the
    # thread that got it still works by them.
    with _one_at_a_time:
        return _made()


@cache
def _made() -> Redis:
    return Redis.from_url(settings.CACHES["default"]["LOCATION"], decode_responses=True)
