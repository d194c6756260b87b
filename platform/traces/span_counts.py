"""How many spans were sent to the collector and how many were dropped, by all processes: counted in the broker, where
the web finds the counts of all of them."""

import logging

from redis.exceptions import RedisError

from live.broker import broker

NUMBERS = "tandem:trace-spans"
SENT, DROPPED = "sent", "dropped"

logger = logging.getLogger(__name__)


def count_spans(outcome: str, number: int) -> None:
    """A broker that is away costs the count and nothing else."""
    try:
        broker().hincrby(NUMBERS, outcome, number)
    except RedisError as error:
        logger.warning("%d spans that were %s were not counted: %s", number, outcome, error)


def span_counts() -> dict[str, int]:
    """By outcome; those that never came are 0."""
    return {SENT: 0, DROPPED: 0} | {str(name): int(number) for name, number in broker().hgetall(NUMBERS).items()}
