"""The broker's plain client, for counts that all processes share."""

from functools import cache

from django.conf import settings
from redis import Redis


@cache
def broker() -> Redis:
    """That of this process. Its methods raise `redis.exceptions.RedisError` while the broker is away."""
    return Redis.from_url(settings.CACHES["default"]["LOCATION"], decode_responses=True)
