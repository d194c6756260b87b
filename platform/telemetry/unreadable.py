"""What is stored of a run and cannot be read: the ingest stores no such rows, but an older one, a defect or a hand may
have left some. Every reader skips them, and they are counted in the broker for all processes.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError

from live.broker import broker
from runs.models import CLOCK
from telemetry.models import StreamItem
from telemetry.stream_items import body_model

NUMBERS = "tandem:unreadable-rows"

logger = logging.getLogger(__name__)


def count_unreadable(kind: str, number: int) -> None:
    """Count rows that a reader has skipped. A broker that is away costs the count and nothing else."""
    logger.warning("skipped %d stored rows of kind %s, which cannot be read", number, kind)
    try:
        broker().hincrby(NUMBERS, kind, number)
    except RedisError as error:
        logger.warning("they were not counted: %s", error)


def unreadable_counts() -> dict[str, int]:
    """How often rows of each kind were skipped. Raises `RedisError`."""
    return {str(kind): int(number) for kind, number in broker().hgetall(NUMBERS).items()}


def readable(rows: Iterable[StreamItem]) -> Iterator[StreamItem]:
    """The rows whose moment and body are those of their type of event."""
    skipped: Counter[str] = Counter()
    try:
        for row in rows:
            if CLOCK[0] <= row.at <= CLOCK[1] and is_body(row.type, row.body):
                yield row
            else:
                skipped[row.type] += 1
    finally:
        for kind, number in skipped.items():
            count_unreadable(kind, number)


def is_body(kind: str, body: Any) -> bool:
    """Whether this is the body of an event of that type."""
    model = _model(kind)
    try:
        return model is not None and bool(model.model_validate(body, extra="ignore"))
    except ValidationError:
        return False


@cache
def _model(kind: str) -> type[BaseModel] | None:
    return body_model(kind)
