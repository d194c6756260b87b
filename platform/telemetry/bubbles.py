"""The bubble account: where every lane-second went, by class, lane and role.

Invariant: the classes of a lane sum to its life in the window, so the shares sum to 100 %.
"""

import math
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import connection

from telemetry.lanes import lanes_ever
from telemetry.selectors import last_stream_seq

UNACCOUNTED = "unaccounted"
"""What no span covers between a lane's first and last of an attempt."""

_CLASSES = """
WITH span AS (
    SELECT lane, attempt, CASE WHEN cause IS NULL THEN kind ELSE kind || ':' || cause END AS name,
           greatest(start, %(from)s) AS start, least("end", %(to)s) AS "end"
    FROM telemetry_spanrow
    WHERE run_id = %(run_id)s AND stream_seq <= %(up_to)s AND start < %(to)s AND "end" > %(from)s
), life AS (
    SELECT lane, max("end") - min(start) - sum("end" - start) AS uncovered FROM span GROUP BY lane, attempt
)
SELECT lane, name, sum("end" - start) FROM span GROUP BY lane, name
UNION ALL
SELECT lane, %(unaccounted)s, sum(uncovered) FROM life GROUP BY lane HAVING sum(uncovered) > 1e-6
ORDER BY 1, 2
"""

Seconds = dict[str, float]
"""By class: a span kind, `idle:<cause>`, or `unaccounted`."""


def bubbles(run_id: UUID, *, start: float | None = None, end: float | None = None) -> dict[str, Any]:
    """Where lane time went in `[start, end)` (Unix seconds; the whole run by default), cut at one number.

    Returns `{total_seconds, by_lane: {lane: {class: s}}, by_role: {role: {class: s}}, by_class: {class: s},
    stream_seq}`.
    """
    up_to = last_stream_seq(run_id)
    by_lane: dict[str, Seconds] = {}
    parameters: dict[str, Any] = {
        "run_id": run_id,
        "up_to": up_to,
        "from": -math.inf if start is None else start,
        "to": math.inf if end is None else end,
        "unaccounted": UNACCOUNTED,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLASSES, parameters)
        for lane, name, seconds in cursor.fetchall():
            by_lane.setdefault(lane, {})[name] = seconds
    role_of = {lane["lane"]: lane["role"] for lane in lanes_ever(run_id, up_to=up_to, seen=by_lane)}
    by_class = _sum(by_lane.values())
    return {
        "total_seconds": sum(by_class.values()),
        "by_lane": by_lane,
        "by_role": {
            role: _sum(classes for lane, classes in by_lane.items() if role_of[lane] == role)
            for role in sorted({role_of[lane] for lane in by_lane})
        },
        "by_class": by_class,
        "stream_seq": up_to,
    }


def _sum(parts: Iterable[Seconds]) -> Seconds:
    total: Seconds = {}
    for classes in parts:
        for name, seconds in classes.items():
            total[name] = total.get(name, 0.0) + seconds
    return total
