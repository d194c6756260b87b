"""Bubble sums over REST: how lanes spent their time, by class, lane and role.

The definition is `worker.scheduling.timeline.bubble_ledger`'s; a test holds the SQL here equal to it. Invariant: the
classes of a lane sum to the time between its first and last span in the window, so shares sum to 100 %.
"""

import math
from collections.abc import Iterable
from uuid import UUID

from django.db import connection
from pydantic import with_config
from typing_extensions import TypedDict

from runs.models import CLOCK, VALUES
from telemetry.models import LaneTime
from telemetry.observed_lanes import placed_lanes, role_of
from telemetry.selectors import last_stream_seq
from worker.contracts.events import RunEvent, SpansEvent

UNACCOUNTED = "unaccounted"
"""The class of time that no span covers between a lane's first and last span of an attempt."""

_WINDOW = """
SELECT attempt, lane, kind, coalesce(cause, ''), sum("end" - start), min(start), max("end")
FROM (
    SELECT attempt, lane, kind, cause, greatest(start, %(from)s) AS start, least("end", %(to)s) AS "end"
    FROM telemetry_spanrow WHERE run_id = %(run_id)s AND start < %(to)s AND "end" > %(from)s
        AND start >= 0 AND "end" <= %(latest)s
) AS span
GROUP BY attempt, lane, kind, cause
"""
_ADD = """
INSERT INTO telemetry_lanetime (run_id, attempt, lane, kind, cause, seconds, first_start, last_end)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (run_id, attempt, lane, kind, cause) DO UPDATE SET
    seconds = telemetry_lanetime.seconds + excluded.seconds,
    first_start = least(telemetry_lanetime.first_start, excluded.first_start),
    last_end = greatest(telemetry_lanetime.last_end, excluded.last_end)
"""
_NOTHING_SECONDS = 1e-6
"""Gaps shorter than this are rounding errors of Unix time: a float of today holds it to 0.2 µs."""

Seconds = dict[str, float]
"""Seconds by class: a span kind, `idle:<cause>`, or `unaccounted`."""


@with_config(use_attribute_docstrings=True)
class Bubbles(TypedDict):
    """Lane time in seconds by class: a span kind, `idle:<cause>`, or `unaccounted`.

    The classes of a lane sum to the time between its first and last span.
    """

    total_seconds: float
    """Lane time of all lanes together."""
    by_lane: dict[str, Seconds]
    by_role: dict[str, Seconds]
    by_class: Seconds
    stream_seq: int


Row = tuple[int, str, str, str, float, float, float]
"""Attempt, lane, kind, cause (empty: none), seconds, first start, last end."""


def add_lane_time(run_id: UUID, attempt: int, events: Iterable[RunEvent]) -> None:
    """Add the spans of new events to the running totals, under the lock of the run's stream."""
    rows: dict[tuple[str, str, str], tuple[float, float, float]] = {}
    for event in events:
        for span in event.spans if isinstance(event, SpansEvent) else ():
            name = (span.lane, span.kind.value, span.cause.value if span.cause else "")
            seconds, first, last = rows.get(name, (0.0, math.inf, -math.inf))
            rows[name] = (seconds + span.seconds, min(first, span.start), max(last, span.end))
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_ADD, [(run_id, attempt, *name, *totals) for name, totals in rows.items()])


def bubbles(run_id: UUID, *, start: float | None = None, end: float | None = None) -> Bubbles:
    """Lane time by class in `[start, end)` (Unix seconds; by default the whole run).

    It includes everything up to the answer's `stream_seq`.
    """
    up_to = last_stream_seq(run_id)
    rows = _whole(run_id) if start is None and end is None else _window(run_id, start, end)
    by_lane = _by_lane(rows)
    roles = lane_roles(run_id, by_lane, up_to=up_to)
    by_class = _sum(by_lane.values())
    return {
        "total_seconds": sum(by_class.values()),
        "by_lane": by_lane,
        "by_role": {
            role: _sum(classes for lane, classes in by_lane.items() if roles[lane] == role)
            for role in sorted(set(roles.values()))
        },
        "by_class": by_class,
        "stream_seq": up_to,
    }


def lane_roles(run_id: UUID, lanes: Iterable[str], *, up_to: int) -> dict[str, str]:
    """The role of each of these lanes of the run."""
    placed = {lane["lane"]: lane["role"] for lane in placed_lanes(run_id, up_to=up_to)}
    return {lane: role_of(lane, placed) for lane in lanes}


def _whole(run_id: UUID) -> list[Row]:
    columns = ("attempt", "lane", "kind", "cause", "seconds", "first_start", "last_end")
    rows = LaneTime.objects.filter(run_id=run_id, first_start__range=CLOCK, last_end__range=CLOCK)
    return list(rows.filter(seconds__range=VALUES).values_list(*columns))


def _window(run_id: UUID, start: float | None, end: float | None) -> list[Row]:
    window = {"from": -math.inf if start is None else start, "to": math.inf if end is None else end}
    window["latest"] = CLOCK[1]
    with connection.cursor() as cursor:
        cursor.execute(_WINDOW, {"run_id": run_id, **window})
        return list(cursor.fetchall())


def _by_lane(rows: Iterable[Row]) -> dict[str, Seconds]:
    """Classes of each lane, with what no span covers between its first and last of an attempt."""
    by_lane: dict[str, Seconds] = {}
    lifetimes: dict[tuple[str, int], tuple[float, float, float]] = {}
    for attempt, lane, kind, cause, seconds, first, last in rows:
        name = f"{kind}:{cause}" if cause else kind
        classes = by_lane.setdefault(lane, {})
        classes[name] = classes.get(name, 0.0) + seconds
        begin, finish, covered = lifetimes.get((lane, attempt), (math.inf, -math.inf, 0.0))
        lifetimes[lane, attempt] = (min(begin, first), max(finish, last), covered + seconds)
    for (lane, _), (begin, finish, covered) in lifetimes.items():
        if finish - begin - covered > _NOTHING_SECONDS:
            by_lane[lane][UNACCOUNTED] = by_lane[lane].get(UNACCOUNTED, 0.0) + finish - begin - covered
    return {lane: dict(sorted(by_lane[lane].items())) for lane in sorted(by_lane)}


def _sum(parts: Iterable[Seconds]) -> Seconds:
    total: Seconds = {}
    for classes in parts:
        for name, seconds in classes.items():
            total[name] = total.get(name, 0.0) + seconds
    return total
