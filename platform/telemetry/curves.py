"""Metric curves for charts: at most so many points a key, with the extremes of what each point stands for."""

import itertools
from collections.abc import Collection
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection
from pydantic import with_config
from typing_extensions import TypedDict

from telemetry.models import MetricPoint
from telemetry.selectors import last_stream_seq

MAX_POINTS = 5000
"""The most points a key that a reader may ask for."""

_CURVES = """
WITH point AS (
    SELECT key, batch, optimizer_step, at, value,
           ntile(%(max_points)s) OVER (PARTITION BY key ORDER BY batch, optimizer_step, stream_seq) AS bucket
    FROM telemetry_metricpoint
    WHERE run_id = %(run_id)s AND NOT superseded AND stream_seq <= %(up_to)s
      AND (%(all_keys)s OR key = ANY(%(keys)s))
)
SELECT key, max(batch), max(optimizer_step), max(at), avg(value), min(value), max(value)
FROM point GROUP BY key, bucket ORDER BY key, bucket
"""


@with_config(use_attribute_docstrings=True)
class Series(TypedDict):
    """One curve as columns of one length."""

    batch: list[int]
    optimizer_step: list[int]
    at: list[float]
    """Unix seconds."""
    value: list[float]
    min: list[float]
    """The least value that the point stands for; the value itself where the point is exact."""
    max: list[float]


@with_config(use_attribute_docstrings=True)
class Curves(TypedDict):
    series: dict[str, Series]
    """By the metric's name."""
    stream_seq: int
    """Everything up to this number is in; the socket sends what follows."""


def curves(run_id: UUID, *, keys: Collection[str] = (), max_points: int = 500) -> Curves:
    """All of a run's curves (or those of `keys`), cut at one number.

    Up to `max_points` points a key are exact; more are put in buckets of equal count whose `value` is the mean, with
    their envelope.
    """
    up_to = last_stream_seq(run_id)
    parameters: dict[str, Any] = {
        "run_id": run_id,
        "up_to": up_to,
        "max_points": max_points,
        "keys": list(keys),
        "all_keys": not keys,
    }
    series: dict[str, Series] = {}
    with connection.cursor() as cursor:
        cursor.execute(_CURVES, parameters)
        for key, points in itertools.groupby(cursor.fetchall(), key=itemgetter(0)):
            _, batch, step, at, value, low, high = map(list, zip(*points, strict=True))
            series[key] = {"batch": batch, "optimizer_step": step, "at": at, "value": value, "min": low, "max": high}
    return {"series": series, "stream_seq": up_to}


def supersede_points(run_id: UUID, *, before: int, batch: int) -> int:
    """The run goes on after `batch` complete batches: later points told before item `before` no longer count.

    Both a new attempt and a driver that went back to its last checkpoint say so.
    """
    later = MetricPoint.objects.filter(run_id=run_id, stream_seq__lt=before, batch__gt=batch, superseded=False)
    return later.update(superseded=True)
