"""Metric curves for charts: at most so many points a key, with the extremes of what each point stands for."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection

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


def curves(run_id: UUID, *, keys: Collection[str] = (), max_points: int = 500) -> dict[str, Any]:
    """All of a run's curves (or those of `keys`), cut at one number.

    Returns `{series: {key: {batch, step, at, value, min, max}}, stream_seq}`, lists of one length. Up to `max_points`
    points a key are exact; more are put in buckets of equal count whose `value` is the mean, with their envelope.
    """
    up_to = last_stream_seq(run_id)
    parameters: dict[str, Any] = {
        "run_id": run_id,
        "up_to": up_to,
        "max_points": max_points,
        "keys": list(keys),
        "all_keys": not keys,
    }
    series: dict[str, dict[str, list[float]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_CURVES, parameters)
        for key, *values in cursor.fetchall():
            curve = series.setdefault(key, {name: [] for name in ("batch", "step", "at", "value", "min", "max")})
            for column, value in zip(curve.values(), values, strict=True):
                column.append(value)
    return {"series": series, "stream_seq": up_to}


def supersede_points(run_id: UUID, *, before: int, batch: int) -> int:
    """The run goes on after `batch` complete batches: later points told before item `before` no longer count.

    Both a new attempt and a driver that went back to its last checkpoint say so.
    """
    later = MetricPoint.objects.filter(run_id=run_id, stream_seq__lt=before, batch__gt=batch, superseded=False)
    return later.update(superseded=True)
