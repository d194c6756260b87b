"""Stores metric points and their rollups, which keep the cost of charts independent of the length of a run.

    level 0   points themselves                      (`MetricPoint`)
    level n   buckets of 4^n optimizer steps each    (`MetricRollup`: min, max, mean, count)

Invariants: a rollup aggregates exactly the points in its bucket. Points that a resume superseded are in neither; their
events stay in the stream.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from telemetry.bulk_copy import Numbered, copy_metric_points
from telemetry.models import MetricPoint
from worker.contracts.events import MetricsEvent, ResumedEvent

LEVELS = range(1, 9)
"""Up to 65,536 optimizer steps a bucket: a run of ten million is then 150 buckets."""
BITS_PER_LEVEL = 2
"""Each level has a quarter of the one below: all together they add a third of the points' rows."""

_COLUMNS = "run_id, attempt, key, level, bucket, first_step, last_step, last_batch, last_at, min, max, mean, count"
_ADD = f"""
INSERT INTO telemetry_metricrollup AS old ({_COLUMNS})
SELECT %s, %s, * FROM unnest(
    %s::text[], %s::int[], %s::bigint[], %s::int[], %s::int[], %s::int[],
    %s::float8[], %s::float8[], %s::float8[], %s::float8[], %s::int[]
)
ON CONFLICT (run_id, level, key, attempt, bucket) DO UPDATE SET
    first_step = least(old.first_step, excluded.first_step),
    last_step = greatest(old.last_step, excluded.last_step),
    last_batch = greatest(old.last_batch, excluded.last_batch),
    last_at = greatest(old.last_at, excluded.last_at),
    min = least(old.min, excluded.min),
    max = greatest(old.max, excluded.max),
    mean = old.mean + (excluded.mean - old.mean) * excluded.count / (old.count + excluded.count),
    count = old.count + excluded.count
"""
SMALLEST = 1e-290
"""A value nearer to 0 is stored as 0: the database refuses means that become too small for a float."""
_DROP = """
DELETE FROM telemetry_metricrollup WHERE run_id = %s AND level = %s AND last_batch > %s RETURNING key, attempt, bucket
"""
_MAKE_AGAIN_OF_POINTS = f"""
INSERT INTO telemetry_metricrollup ({_COLUMNS})
SELECT %(run)s, attempt, key, %(level)s, bucket, found.* FROM unnest(%(keys)s::text[], %(attempts)s::int[],
    %(buckets)s::bigint[]) AS dropped (key, attempt, bucket)
CROSS JOIN LATERAL (
    SELECT min(optimizer_step), max(optimizer_step), max(batch), max(at), min(value), max(value), avg(value),
           count(*) AS count
    FROM telemetry_metricpoint AS point
    WHERE point.run_id = %(run)s AND point.key = dropped.key AND point.attempt = dropped.attempt
      AND optimizer_step >= bucket << {BITS_PER_LEVEL} AND optimizer_step < (bucket + 1) << {BITS_PER_LEVEL}
) AS found WHERE count > 0
"""
_MAKE_AGAIN_OF_FINER = f"""
INSERT INTO telemetry_metricrollup ({_COLUMNS})
SELECT %(run)s, attempt, key, %(level)s, bucket, found.* FROM unnest(%(keys)s::text[], %(attempts)s::int[],
    %(buckets)s::bigint[]) AS dropped (key, attempt, bucket)
CROSS JOIN LATERAL (
    SELECT min(first_step), max(last_step), max(last_batch), max(last_at), min(min), max(max),
           sum(mean * finer.count) / sum(finer.count), sum(finer.count) AS count
    FROM telemetry_metricrollup AS finer
    WHERE finer.run_id = %(run)s AND finer.key = dropped.key AND finer.attempt = dropped.attempt
      AND level = %(level)s - 1
      AND finer.bucket BETWEEN dropped.bucket << {BITS_PER_LEVEL} AND ((dropped.bucket + 1) << {BITS_PER_LEVEL}) - 1
) AS found WHERE count > 0
"""


@dataclass(slots=True)
class _Bucket:
    """The aggregate of new points for one rollup."""

    first_step: int
    last_step: int = 0
    last_batch: int = 0
    last_at: float = -math.inf
    min: float = math.inf
    max: float = -math.inf
    total: float = 0.0
    count: int = 0

    def add(self, event: MetricsEvent, value: float) -> None:
        self.first_step = min(self.first_step, event.optimizer_step)
        self.last_step = max(self.last_step, event.optimizer_step)
        self.last_batch = max(self.last_batch, event.batch)
        self.last_at = max(self.last_at, event.at)
        self.min, self.max = min(self.min, value), max(self.max, value)
        self.total += value
        self.count += 1


def store_metrics(run_id: UUID, attempt: int, numbered: Numbered) -> None:
    """Store the metrics of new events as points and in rollups, under the lock of the run's stream.

    A `ResumedEvent` among them supersedes earlier points of later batches, from an earlier attempt or from a driver
    that went back to its last checkpoint.
    """
    waiting: list[tuple[int, MetricsEvent]] = []
    for number, event in numbered:
        if isinstance(event, MetricsEvent):
            waiting.append((number, _without_tiny_values(event)))
        elif isinstance(event, ResumedEvent):
            _add(run_id, attempt, waiting)
            waiting.clear()
            _supersede(run_id, after_batch=event.batch)
    _add(run_id, attempt, waiting)


def _without_tiny_values(event: MetricsEvent) -> MetricsEvent:
    values = {key: 0.0 if abs(value) < SMALLEST else value for key, value in event.values.items()}
    return event if values == event.values else event.model_copy(update={"values": values})


def _add(run_id: UUID, attempt: int, numbered: Sequence[tuple[int, MetricsEvent]]) -> None:
    copy_metric_points(run_id, attempt, numbered)
    rows = [
        (
            *(key, level, bucket, found.first_step, found.last_step, found.last_batch, found.last_at),
            *(found.min, found.max, found.total / found.count, found.count),
        )
        for (key, level, bucket), found in _buckets(event for _, event in numbered).items()
    ]
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(_ADD, [run_id, attempt, *map(list, zip(*rows, strict=True))])


def _buckets(events: Iterable[MetricsEvent]) -> dict[tuple[str, int, int], _Bucket]:
    """The aggregates of the events by key, level and bucket, in a fixed order, so that concurrent writers cannot
    deadlock."""
    found: dict[tuple[str, int, int], _Bucket] = {}
    for event in events:
        for level in LEVELS:
            bucket = event.optimizer_step >> (BITS_PER_LEVEL * level)
            for key, value in event.values.items():
                found.setdefault((key, level, bucket), _Bucket(event.optimizer_step)).add(event, value)
    return dict(sorted(found.items()))


def _supersede(run_id: UUID, *, after_batch: int) -> None:
    """Drop the points of later batches; the rollups that included some are recomputed from the rest, each level from
    the finer one."""
    MetricPoint.objects.filter(run_id=run_id, batch__gt=after_batch).delete()
    with connection.cursor() as cursor:
        for level in LEVELS:
            cursor.execute(_DROP, [run_id, level, after_batch])
            dropped = cursor.fetchall()
            if not dropped:
                return
            keys, attempts, buckets = map(list, zip(*dropped, strict=True))
            statement = _MAKE_AGAIN_OF_POINTS if level == LEVELS[0] else _MAKE_AGAIN_OF_FINER
            cursor.execute(
                statement,
                {"run": run_id, "level": level, "keys": keys, "attempts": attempts, "buckets": buckets},
            )
