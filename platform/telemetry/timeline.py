"""Lane time for the Gantt page, from the spans that lanes reported about themselves."""

from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Max, Min, QuerySet

from telemetry.lending_ledger import recent_lends
from telemetry.models import SpanRow, StreamItem
from telemetry.observed_lanes import lanes_ever
from telemetry.selectors import last_stream_seq

MAX_SPANS = 20_000
DEFAULT_SPANS = 5000
MAX_QUEUE_POINTS = 2000

_SPANS = """
WITH span AS (
    SELECT lane, kind, start, "end", cause, batch, "group", policy_version, num_samples,
           "end" - start AS seconds, floor(start / %(grain)s) AS bucket
    FROM telemetry_spanrow
    WHERE run_id = %(run_id)s AND stream_seq <= %(up_to)s AND start < %(to)s AND "end" > %(from)s
), tiny AS (
    SELECT lane, bucket, kind, cause, min(start) AS start, max("end") AS "end",
           sum(seconds) AS seconds, sum(num_samples) AS num_samples
    FROM span WHERE seconds < %(grain)s GROUP BY lane, bucket, kind, cause
), merged AS (
    SELECT lane, kind, cause,
           min(start) OVER whole AS start, max("end") OVER whole AS "end", sum(num_samples) OVER whole AS num_samples,
           row_number() OVER (PARTITION BY lane, bucket ORDER BY seconds DESC, kind, cause) AS place
    FROM tiny WINDOW whole AS (PARTITION BY lane, bucket)
)
SELECT lane, kind, start, "end", cause, batch, "group", policy_version, num_samples::bigint
FROM span WHERE seconds >= %(grain)s
UNION ALL
SELECT lane, kind, start, "end", cause, NULL, NULL, NULL, num_samples::bigint FROM merged WHERE place = 1
ORDER BY start
"""


def timeline(
    run_id: UUID, *, now: float, start: float | None = None, end: float | None = None, limit: int = DEFAULT_SPANS
) -> dict[str, Any]:
    """The window `[start, end)` of a run's lane time (Unix seconds; all of it by default), cut at one number.

    Returns `{lanes, spans, versions, queues, lends, stream_seq, now}`; a span is `[lane index, kind, start, end, cause,
    batch, group, policy version, num_samples]`. Where more than `limit` spans lie in the window, neighbouring short
    ones of a lane become one of the kind that took most of its time, so that lanes keep tiling without overlap.
    """
    up_to = last_stream_seq(run_id)
    in_run = SpanRow.objects.filter(run_id=run_id, stream_seq__lte=up_to)
    bounds = in_run.aggregate(start=Min("start"), end=Max("end"))
    start = (bounds["start"] or now) if start is None else start
    end = (bounds["end"] or now) if end is None else end
    grain = _grain_seconds(in_run, start, end, limit)
    with connection.cursor() as cursor:
        cursor.execute(_SPANS, {"run_id": run_id, "up_to": up_to, "from": start, "to": end, "grain": grain})
        rows = cursor.fetchall()
    lanes = lanes_ever(run_id, up_to=up_to, seen={row[0] for row in rows})
    index = {lane["lane"]: place for place, lane in enumerate(lanes)}
    return {
        "lanes": lanes,
        "spans": [[index[lane], *rest] for lane, *rest in rows],
        "versions": _versions(run_id, up_to, start, end),
        "queues": _queues(run_id, up_to, start, end),
        "lends": recent_lends(run_id, up_to=up_to, start=start, end=end),
        "stream_seq": up_to,
        "now": now,
    }


def _grain_seconds(in_run: QuerySet[SpanRow], start: float, end: float, limit: int) -> float:
    """Below this length spans are merged: next to nothing while all fit, else twice a lane's share of the limit."""
    window = in_run.filter(start__lt=end, end__gt=start)
    count = window.aggregate(spans=Count("id"), lanes=Count("lane", distinct=True))
    if count["spans"] <= limit:
        return 1e-9
    return 2 * (end - start) * int(count["lanes"]) / limit


def _versions(run_id: UUID, up_to: int, start: float, end: float) -> list[dict[str, Any]]:
    published = StreamItem.objects.filter(
        run_id=run_id, type="publish", stream_seq__lte=up_to, at__gte=start, at__lte=end
    ).order_by("at")
    return [{"version": body["policy_version"], "at": at} for at, body in published.values_list("at", "body")]


def _queues(run_id: UUID, up_to: int, start: float, end: float) -> list[dict[str, Any]]:
    """Queue depths in the window, every n-th where there are more than `MAX_QUEUE_POINTS`."""
    rows = StreamItem.objects.filter(
        run_id=run_id, type="queues", stream_seq__lte=up_to, at__gte=start, at__lte=end
    ).order_by("at")
    points = [{"at": at, "depths": body["depths"]} for at, body in rows.values_list("at", "body")]
    return points[:: max(1, -(-len(points) // MAX_QUEUE_POINTS))]
