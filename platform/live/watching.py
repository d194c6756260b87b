"""Whether anybody follows a run live: what nobody looks at need not be fresh to the second."""

from typing import Any
from uuid import UUID

from django.conf import settings
from redis.exceptions import RedisError

from live.broker import broker
from live.publish import run_group


def is_watched(run_id: UUID | str) -> bool:
    """Whether a socket or an event stream of any process follows the run; not while the broker is away, which takes
    them with it."""
    config: Any = settings.CHANNEL_LAYERS["default"]["CONFIG"]
    # By this name the channel layer subscribes to a group.
    channel = f"{config['prefix']}__group__{run_group(run_id)}"
    try:
        ((_, num_subscribers),) = broker().pubsub_numsub(channel)
    except RedisError:
        return False
    return int(num_subscribers) > 0
