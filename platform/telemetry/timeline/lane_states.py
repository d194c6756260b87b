"""How many lanes of each role did what, over time: what a timeline of many lanes shows before its lanes are opened.

Invariant: in every bucket the states of a role sum to the mean number of its lanes that spans cover, at any length of
the buckets, since a span counts in each bucket by the part of it that lies there.
"""

from uuid import UUID

from django.db import connection
from pydantic import with_config
from typing_extensions import TypedDict

from telemetry.models import LaneTime
from telemetry.observed_lanes import placed_lanes, role_of
from telemetry.selectors import last_stream_seq
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
    SELECT lane, role FROM unnest(%(lanes)s::text[], %(roles)s::text[]) AS pair (lane, role)
), span AS (
    SELECT role, kind, (greatest(start, %(from)s) - %(from)s) / %(width)s AS start,
           (least("end", %(to)s) - %(from)s) / %(width)s AS "end"
    FROM telemetry_spanrow JOIN lane_role USING (lane)
    WHERE run_id = %(run_id)s AND stream_seq <= %(up_to)s AND start < %(to)s AND "end" > %(from)s
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
    """Lanes that have reported since the run began."""
    states: dict[str, list[float]]
    """By kind of span, the mean number of lanes in it, a number for each bucket."""


@with_config(use_attribute_docstrings=True)
class LaneStates(TypedDict):
    """The lanes of a run by role and kind of span, in buckets of equal length."""

    start: float
    """Where the first bucket begins, in Unix seconds."""
    bucket_seconds: float
    num_buckets: int
    roles: list[RoleStates]
    stream_seq: int
    """Number of the newest item read."""


def lane_states(
    run_id: UUID, *, start: float | None = None, end: float | None = None, buckets: int = DEFAULT_BUCKETS
) -> LaneStates:
    """The window `[start, end)` (Unix seconds; all recorded time by default) in that many buckets."""
    up_to = last_stream_seq(run_id)
    first, last = recorded_stretch(run_id)
    start, end = first if start is None else start, last if end is None else end
    width = max(0.0, end - start) / buckets
    roles = _roles(run_id, up_to)
    found: dict[str, dict[str, list[float]]] = {role: {} for role in roles.values()}
    if width > 0:
        window = {"from": start, "to": end, "width": width, "buckets": buckets, "decimals": DECIMALS}
        lanes = {"lanes": list(roles), "roles": list(roles.values())}
        with connection.cursor() as cursor:
            cursor.execute(_STATES, {"run_id": run_id, "up_to": up_to, **window, **lanes})
            for role, kind, numbers in cursor.fetchall():
                found[role][kind] = numbers
    counts = list(roles.values())
    return {
        "start": start,
        "bucket_seconds": width,
        "num_buckets": buckets if width > 0 else 0,
        "roles": [{"role": role, "num_lanes": counts.count(role), "states": found[role]} for role in sorted(found)],
        "stream_seq": up_to,
    }


def _roles(run_id: UUID, up_to: int) -> dict[str, str]:
    """The role of every lane that has reported a span."""
    placed = {lane["lane"]: lane["role"] for lane in placed_lanes(run_id, up_to=up_to)}
    lanes = LaneTime.objects.filter(run_id=run_id).order_by("lane").values_list("lane", flat=True).distinct()
    return {lane: role_of(lane, placed) for lane in lanes}
