"""Metric curves for charts: a bounded number of points for each key, with the minimum and maximum behind each point.

A chart asks for the keys and for as many points as it has pixels, and for a window of them when it is zoomed into: the
answer's size does not depend on the length of the run.
"""

import itertools
from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection
from pydantic import with_config
from typing_extensions import TypedDict

from telemetry.curves.metric_rollups import BITS_PER_LEVEL, LEVELS
from telemetry.models import MetricRollup
from telemetry.selectors import last_stream_seq

DEFAULT_POINTS = 500
MAX_POINTS = 5000
"""Most points for each key that a reader may ask for."""
ROWS_PER_POINT = 4
"""Most rows read for a point; the finest rollup level within it is used. Each level has a quarter of the rows below."""
LAST_STEP = 2**31 - 1
"""The largest number that a column of steps holds: the end of a window without one."""

_CURVES = f"""
WITH extent AS (
    SELECT run_id, key, sum(count) AS num_points,
           least(max(last_step), %(to_step)s) - greatest(min(first_step), %(from_step)s) + 1 AS num_steps
    FROM telemetry_metricrollup
    WHERE run_id = ANY(%(run_ids)s) AND level = {LEVELS[-1]} AND (%(all_keys)s OR key = ANY(%(keys)s))
      AND last_step >= %(from_step)s AND first_step <= %(to_step)s
    GROUP BY run_id, key
), wanted AS (
    SELECT run_id, key, CASE WHEN num_points <= %(max_rows)s OR num_steps <= %(max_rows)s THEN 0
        ELSE least({LEVELS[-1]}, ceil(log({2**BITS_PER_LEVEL}, num_steps / %(max_rows)s::numeric)))::int END AS level
    FROM extent
), point AS (
    SELECT run_id, key, batch, optimizer_step, at, value AS mean, value AS min, value AS max, 1 AS count,
           stream_seq AS nth
    FROM telemetry_metricpoint JOIN wanted USING (run_id, key)
    WHERE run_id = ANY(%(run_ids)s) AND level < 1 AND optimizer_step BETWEEN %(from_step)s AND %(to_step)s
    UNION ALL
    SELECT run_id, key, last_batch, last_step, last_at, mean, min, max, count, attempt
    FROM telemetry_metricrollup JOIN wanted USING (run_id, key, level)
    WHERE run_id = ANY(%(run_ids)s) AND last_step >= %(from_step)s AND first_step <= %(to_step)s
), placed AS (
    SELECT *, ntile(%(max_points)s) OVER (PARTITION BY run_id, key ORDER BY batch, optimizer_step, nth) AS place
    FROM point
)
SELECT run_id, key, max(batch), max(optimizer_step), max(at), sum(mean * count) / sum(count), min(min), max(max),
       (SELECT last_stream_seq FROM runs_runstream AS stream WHERE stream.run_id = placed.run_id)
FROM placed GROUP BY run_id, key, place ORDER BY run_id, key, place
"""


@with_config(use_attribute_docstrings=True)
class Series(TypedDict):
    """One curve as columns of one length."""

    batch: list[int]
    optimizer_step: list[int]
    at: list[float]
    """Unix times of the points, in seconds."""
    value: list[float]
    min: list[float]
    """Smallest value behind the point; the value itself for an exact point."""
    max: list[float]


@with_config(use_attribute_docstrings=True)
class Curves(TypedDict):
    series: dict[str, Series]
    """Curves by the metric's name."""
    keys: list[str]
    """Every metric that the run has reported, those that were not asked for included."""
    stream_seq: int
    """Number of the newest item read; the socket sends what follows."""


@with_config(use_attribute_docstrings=True)
class Sparklines(TypedDict):
    series: dict[str, list[float]]
    """The metric's values by the run's id. Runs that have not reported it, and those of others, are left out."""


def curves(
    run_id: UUID,
    *,
    keys: Collection[str] = (),
    max_points: int = DEFAULT_POINTS,
    from_step: int = 0,
    to_step: int = LAST_STEP,
) -> Curves:
    """A run's curves (or those of `keys`) in a window of optimizer steps, both ends included, read up to one
    `stream_seq` in one statement, so from one snapshot.

    Up to `max_points` points a key are exact; of more, each is the mean of what it stands for, with its envelope. Long
    curves are read from rollups, of which a point may begin and end a bucket early or late.
    """
    series: dict[str, Series] = {}
    up_to = 0
    for (_, key), points in _points([run_id], keys, max_points, from_step, to_step):
        _, _, batch, step, at, value, low, high, marks = map(list, zip(*points, strict=True))
        series[key] = {"batch": batch, "optimizer_step": step, "at": at, "value": value, "min": low, "max": high}
        up_to = marks[0]
    return {"series": series, "keys": _reported(run_id), "stream_seq": up_to or last_stream_seq(run_id)}


def sparklines(run_ids: Collection[UUID], *, key: str, max_points: int) -> Sparklines:
    """The values of one metric for several runs."""
    found = _points(run_ids, [key], max_points, 0, LAST_STEP)
    return {"series": {str(run_id): [point[5] for point in points] for (run_id, _), points in found}}


def _points(
    run_ids: Collection[UUID], keys: Collection[str], max_points: int, from_step: int, to_step: int
) -> Iterator[tuple[tuple[UUID, str], Iterator[tuple[Any, ...]]]]:
    """The rows of `_CURVES` by run and key."""
    parameters: dict[str, Any] = {
        "run_ids": list(run_ids),
        "keys": list(keys),
        "all_keys": not keys,
        "max_points": max_points,
        "max_rows": ROWS_PER_POINT * max_points,
        "from_step": from_step,
        "to_step": to_step,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CURVES, parameters)
        return itertools.groupby(cursor.fetchall(), key=itemgetter(0, 1))


def _reported(run_id: UUID) -> list[str]:
    coarsest = MetricRollup.objects.filter(run_id=run_id, level=LEVELS[-1])
    return list(coarsest.order_by("key").values_list("key", flat=True).distinct())
