"""Stored sums of lane time by role, kind of span and stretch of time: they keep the cost of drawing a long run's lanes
independent of how many spans it has reported.

    level 0   buckets of 4 s of Unix time
    level n   buckets of 4 s × 4^n, each the sum of four of the level below

Invariant: a bucket holds exactly the seconds of the spans that lie in it, by the role that their lane had when it
reported them.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from telemetry.bulk_copy import Numbered
from telemetry.observed_lanes import role_stretches
from worker.contracts.events import SpansEvent

BASE_SECONDS = 4.0
"""Shorter buckets are summed from spans: 600 of them are 40 minutes, of which a run has a bounded number."""
BUCKETS_PER_BUCKET = 4
"""Of one level in one of the next: all together they add a third of the first level's rows."""
MAX_STRETCH_SECONDS = 24 * 3600.0
"""Of a span that is counted: no lane does one thing for longer, and a report that says so would fill a bucket for every
4 s of it: a day takes 0.4 s of processor time, and a week took 3 s."""
NUM_LEVELS = 7
"""Up to 4.5 hours a bucket: half a year is then 1,000 of them."""

_ADD = """
INSERT INTO telemetry_lanestaterollup AS old (run_id, level, bucket, role, kind, seconds)
SELECT %s, * FROM unnest(%s::int[], %s::bigint[], %s::text[], %s::text[], %s::float8[])
ON CONFLICT (run_id, level, bucket, role, kind) DO UPDATE SET seconds = old.seconds + excluded.seconds
"""
_READ = """
SELECT role, kind, (bucket - %(first)s) / %(merged)s, sum(seconds) FROM telemetry_lanestaterollup
WHERE run_id = %(run_id)s AND level = %(level)s AND bucket >= %(first)s AND bucket < %(first)s + %(number)s * %(merged)s
GROUP BY 1, 2, 3
"""

State = tuple[str, str]
"""A role and a kind of span."""
_Stretch = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Grid:
    """Buckets of equal length that are summed from whole stored ones."""

    level: int
    first: int
    """Number of the first stored bucket, from Unix time 0."""
    merged: int
    """Stored buckets in each."""
    number: int

    @property
    def seconds(self) -> float:
        """The length of a bucket."""
        return seconds_of(self.level) * self.merged

    @property
    def start(self) -> float:
        return self.first * seconds_of(self.level)


def seconds_of(level: int) -> float:
    """The length of a stored bucket."""
    return BASE_SECONDS * BUCKETS_PER_BUCKET**level


def grid_over(start: float, end: float, buckets: int) -> Grid | None:
    """At most so many buckets that cover a window, as fine as they can be; None where stored ones are too long."""
    wanted = (end - start) / buckets
    if wanted < BASE_SECONDS:
        return None
    # A window rarely begins where a bucket does: one more than its length holds may be needed.
    level = min(int(math.log(wanted / BASE_SECONDS, BUCKETS_PER_BUCKET)), NUM_LEVELS - 1)
    width = seconds_of(level)
    first, past = math.floor(start / width), math.ceil(end / width)
    merged = math.ceil((past - first) / buckets)
    return Grid(level, first, merged, math.ceil((past - first) / merged))


def add_lane_states(run_id: UUID, numbered: Numbered) -> None:
    """Add the spans of new events, under the lock of the run's stream."""
    spans = [(number, span) for number, event in numbered if isinstance(event, SpansEvent) for span in event.spans]
    if not spans:
        return
    roles = role_stretches(run_id, {span.lane for _, span in spans}, up_to=numbered[-1][0])
    stretches: defaultdict[State, list[_Stretch]] = defaultdict(list)
    for number, span in spans:
        role = next(known.role for known in roles[span.lane] if number < known.past_seq)
        end = min(span.end, span.start + MAX_STRETCH_SECONDS)
        stretches[role, span.kind.value].append((span.start, end))
    rows = [
        (level, bucket, role, kind, seconds)
        for (role, kind), of_state in stretches.items()
        for level, found in enumerate(_levels(of_state))
        for bucket, seconds in found.items()
    ]
    if rows:
        # In one order, so that concurrent writers cannot deadlock.
        with connection.cursor() as cursor:
            cursor.execute(_ADD, [run_id, *map(list, zip(*sorted(rows), strict=True))])


def stored_states(run_id: UUID, grid: Grid) -> dict[State, list[float]]:
    """By role and kind of span, the seconds in each bucket of a grid."""
    found: defaultdict[State, list[float]] = defaultdict(lambda: [0.0] * grid.number)
    window = {"level": grid.level, "first": grid.first, "merged": grid.merged, "number": grid.number}
    with connection.cursor() as cursor:
        cursor.execute(_READ, {"run_id": run_id, **window})
        for role, kind, bucket, seconds in cursor.fetchall():
            found[role, kind][bucket] = seconds
    return dict(found)


def _levels(stretches: Sequence[_Stretch]) -> list[dict[int, float]]:
    """The seconds of stretches by bucket, level by level."""
    levels = [_seconds_by_bucket(stretches)]
    for _ in range(1, NUM_LEVELS):
        coarser: defaultdict[int, float] = defaultdict(float)
        for bucket, seconds in levels[-1].items():
            coarser[bucket // BUCKETS_PER_BUCKET] += seconds
        levels.append(coarser)
    return levels


def _seconds_by_bucket(stretches: Sequence[_Stretch]) -> dict[int, float]:
    """The seconds of stretches in each bucket of level 0. A long one costs no more than a short one until the number of
    stretches that fill each bucket whole is known."""
    seconds: defaultdict[int, float] = defaultdict(float)
    changes: defaultdict[int, int] = defaultdict(int)
    for start, end in stretches:
        first, last = math.floor(start / BASE_SECONDS), math.floor(end / BASE_SECONDS)
        if first == last:
            seconds[first] += end - start
            continue
        seconds[first] += (first + 1) * BASE_SECONDS - start
        seconds[last] += end - last * BASE_SECONDS
        changes[first + 1] += 1
        changes[last] -= 1
    filling, since = 0, 0
    for bucket in sorted(changes):
        if filling:
            for whole in range(since, bucket):
                seconds[whole] += filling * BASE_SECONDS
        filling, since = filling + changes[bucket], bucket
    return {bucket: part for bucket, part in seconds.items() if part > 0}
