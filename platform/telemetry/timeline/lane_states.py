"""How many lanes of each role did what, over time: what a timeline of many lanes shows before its lanes are opened.

    short buckets   summed from the spans of the window
    longer ones     summed from stored ones, which a long run has far fewer of (`lane_state_rollups`)

Invariant: in every bucket the states of a role sum to the mean number of its lanes that spans cover, at any length of
the buckets, since a span counts in each bucket by the part of it that lies there.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from pydantic import with_config
from typing_extensions import TypedDict

from runs.models import CLOCK
from telemetry.models import LaneTime
from telemetry.observed_lanes import RoleStretch, role_stretches
from telemetry.selectors import last_stream_seq
from telemetry.timeline.lane_state_rollups import Grid, State, grid_over, stored_states
from telemetry.timeline.timeline_spans import recorded_stretch

DEFAULT_BUCKETS = 300
MAX_BUCKETS = 2000
"""More than the pixels across most screens."""
DECIMALS = 3
"""Of a mean number of lanes: a thousandth of a lane is less than a pixel of any row."""

# A span gives the buckets in which it begins and ends their parts. Those between get a lane each, by a running sum of
# one more lane after the first and one less from the last on: so long spans cost no more than short ones.
_STATES = """
WITH lane_role AS (
    SELECT * FROM unnest(%(lanes)s::text[], %(roles)s::text[], %(from_seqs)s::bigint[], %(past_seqs)s::bigint[])
        AS stretch (lane, role, from_seq, past_seq)
), span AS (
    SELECT role, kind, (greatest(start, %(from)s) - %(from)s) / %(width)s AS start,
           (least("end", %(to)s) - %(from)s) / %(width)s AS "end"
    FROM telemetry_spanrow JOIN lane_role USING (lane)
    WHERE run_id = %(run_id)s AND stream_seq <= %(up_to)s AND start < %(to)s AND "end" > %(from)s
      AND stream_seq >= from_seq AND stream_seq < past_seq AND start >= 0 AND "end" <= %(latest)s
), placed AS (
    SELECT role, kind, start, "end", floor(start)::int AS first, floor("end")::int AS last FROM span
), part AS (
    SELECT role, kind, first AS bucket, sum(least("end", first + 1) - start) AS lanes, 0 AS change
    FROM placed GROUP BY role, kind, first
    UNION ALL
    SELECT role, kind, last, sum("end" - last), -count(*) FROM placed WHERE last > first GROUP BY role, kind, last
    UNION ALL
    SELECT role, kind, first + 1, 0, count(*) FROM placed WHERE last > first GROUP BY role, kind, first
), summed AS (
    SELECT role, kind, bucket, sum(lanes) AS lanes, sum(change) AS change FROM part GROUP BY role, kind, bucket
), state AS (
    SELECT role, kind FROM summed GROUP BY role, kind
), cell AS (
    SELECT role, kind, bucket, coalesce(lanes, 0)
           + sum(coalesce(change, 0)) OVER (PARTITION BY role, kind ORDER BY bucket) AS lanes
    FROM state CROSS JOIN generate_series(0, %(buckets)s - 1) AS bucket LEFT JOIN summed USING (role, kind, bucket)
)
SELECT role, kind, array_agg(round(lanes::numeric, %(decimals)s)::float8 ORDER BY bucket) FROM cell
GROUP BY role, kind ORDER BY role, kind
"""


@with_config(use_attribute_docstrings=True)
class RoleStates(TypedDict):
    """What the lanes of one role did."""

    role: str
    """Empty for lanes of which neither placement nor name tells it."""
    num_lanes: int
    """Lanes that have reported since the run began and have, or had last, this role."""
    states: dict[str, list[float]]
    """By kind of span, the mean number of lanes in it, a number for each bucket."""


@with_config(use_attribute_docstrings=True)
class LaneStates(TypedDict):
    """The lanes of a run by role and kind of span, in buckets of equal length."""

    start: float
    """Where the first bucket begins, in Unix seconds: at the window's start, or where buckets are long up to one
    earlier."""
    bucket_seconds: float
    num_buckets: int
    """As many as asked for; where buckets are long perhaps fewer."""
    roles: list[RoleStates]
    stream_seq: int
    """Number of the newest item read."""


def lane_states(
    run_id: UUID, *, start: float | None = None, end: float | None = None, buckets: int = DEFAULT_BUCKETS
) -> LaneStates:
    """The window `[start, end)` (Unix seconds; all recorded time by default) in at most that many buckets."""
    up_to = last_stream_seq(run_id)
    first, last = recorded_stretch(run_id)
    start, end = first if start is None else start, last if end is None else end
    roles = role_stretches(run_id, _lanes(run_id), up_to=up_to)
    counts = [of_lane[-1].role for of_lane in roles.values()]
    grid = grid_over(start, end, buckets)
    width = max(0.0, end - start) / buckets
    if grid is not None:
        start, width, buckets = grid.start, grid.seconds, grid.number
        states = _of_buckets(run_id, grid)
    elif width > 0:
        stretches = [stretch for of_lane in roles.values() for stretch in of_lane]
        states = _of_spans(run_id, up_to, stretches, start, end, buckets)
    else:
        buckets, states = 0, {}
    by_role: dict[str, dict[str, list[float]]] = {role: {} for role in {*counts, *(role for role, _ in states)}}
    for (role, kind), lanes in sorted(states.items()):
        by_role[role][kind] = lanes
    return {
        "start": start,
        "bucket_seconds": width,
        "num_buckets": buckets,
        "roles": [{"role": role, "num_lanes": counts.count(role), "states": by_role[role]} for role in sorted(by_role)],
        "stream_seq": up_to,
    }


def _of_buckets(run_id: UUID, grid: Grid) -> dict[State, list[float]]:
    """The mean number of lanes by role and kind in each bucket, from stored ones."""
    return {
        state: [round(part / grid.seconds, DECIMALS) for part in seconds]
        for state, seconds in stored_states(run_id, grid).items()
    }


def _of_spans(
    run_id: UUID, up_to: int, roles: Sequence[RoleStretch], start: float, end: float, buckets: int
) -> dict[State, list[float]]:
    """The same from the spans of the window."""
    window = {"from": start, "to": end, "width": (end - start) / buckets, "buckets": buckets, "decimals": DECIMALS}
    lanes: dict[str, Any] = {
        "latest": CLOCK[1],
        "lanes": [stretch.lane for stretch in roles],
        "roles": [stretch.role for stretch in roles],
        "from_seqs": [stretch.from_seq for stretch in roles],
        "past_seqs": [stretch.past_seq for stretch in roles],
    }
    with connection.cursor() as cursor:
        cursor.execute(_STATES, {"run_id": run_id, "up_to": up_to, **window, **lanes})
        return {(role, kind): numbers for role, kind, numbers in cursor.fetchall()}


def _lanes(run_id: UUID) -> list[str]:
    """Every lane that has reported a span."""
    return list(LaneTime.objects.filter(run_id=run_id).order_by("lane").values_list("lane", flat=True).distinct())
