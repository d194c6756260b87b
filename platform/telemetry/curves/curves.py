"""Metric curves for charts: a bounded number of points for each key, with the minimum and maximum behind each point."""

import itertools
from collections.abc import Collection
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection
from pydantic import with_config
from typing_extensions import TypedDict

from telemetry.curves.metric_rollups import BITS_PER_LEVEL, LEVELS
from telemetry.selectors import last_stream_seq

MAX_POINTS = 5000
"""Most points for each key that a reader may ask for."""
ROWS_PER_POINT = 4
"""Most rows read for a point; the finest rollup level within it is used. Each level has a quarter of the rows below."""

_CURVES = f"""
WITH extent AS (
    SELECT key, sum(count) AS num_points, max(last_step) - min(first_step) + 1 AS num_steps
    FROM telemetry_metricrollup
    WHERE run_id = %(run_id)s AND level = {LEVELS[-1]} AND (%(all_keys)s OR key = ANY(%(keys)s))
    GROUP BY key
), wanted AS (
    SELECT key, CASE WHEN num_points <= %(max_rows)s THEN 0
        ELSE least({LEVELS[-1]}, ceil(log({2**BITS_PER_LEVEL}, num_steps / %(max_rows)s::numeric)))::int END AS level
    FROM extent
), point AS (
    SELECT key, batch, optimizer_step, at, value AS mean, value AS min, value AS max, 1 AS count, stream_seq AS nth
    FROM telemetry_metricpoint JOIN wanted USING (key)
    WHERE run_id = %(run_id)s AND level < 1
    UNION ALL
    SELECT key, last_batch, last_step, last_at, mean, min, max, count, attempt
    FROM telemetry_metricrollup JOIN wanted USING (key, level)
    WHERE run_id = %(run_id)s
), placed AS (
    SELECT *, ntile(%(max_points)s) OVER (PARTITION BY key ORDER BY batch, optimizer_step, nth) AS place FROM point
)
SELECT key, max(batch), max(optimizer_step), max(at), sum(mean * count) / sum(count), min(min), max(max),
       (SELECT last_stream_seq FROM runs_runstream WHERE run_id = %(run_id)s)
FROM placed GROUP BY key, place ORDER BY key, place
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
    stream_seq: int
    """Number of the newest item read; the socket sends what follows."""


def curves(run_id: UUID, *, keys: Collection[str] = (), max_points: int = 500) -> Curves:
    """All of a run's curves (or those of `keys`), read up to one `stream_seq` in one statement, so from one snapshot.

    Up to `max_points` points a key are exact; of more, each is the mean of what it stands for, with its envelope. Long
    curves are read from rollups, of which a point may begin and end a bucket early or late.
    """
    parameters: dict[str, Any] = {
        "run_id": run_id,
        "max_points": max_points,
        "max_rows": ROWS_PER_POINT * max_points,
        "keys": list(keys),
        "all_keys": not keys,
    }
    series: dict[str, Series] = {}
    up_to = 0
    with connection.cursor() as cursor:
        cursor.execute(_CURVES, parameters)
        for key, points in itertools.groupby(cursor.fetchall(), key=itemgetter(0)):
            _, batch, step, at, value, low, high, marks = map(list, zip(*points, strict=True))
            series[key] = {"batch": batch, "optimizer_step": step, "at": at, "value": value, "min": low, "max": high}
            up_to = marks[0]
    return {"series": series, "stream_seq": up_to or last_stream_seq(run_id)}
