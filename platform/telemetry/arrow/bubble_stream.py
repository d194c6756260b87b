"""How a run's lanes spent their time, as an Arrow stream: a row for each lane and class."""

from collections.abc import Iterator
from uuid import UUID

from telemetry.arrow.arrow_stream import Column, Kind, arrow_stream
from telemetry.timeline.bubbles import bubbles, lane_roles

COLUMNS = (
    Column("lane", Kind.NAME),
    Column("role", Kind.NAME),
    Column("class", Kind.NAME),
    Column("seconds", Kind.VALUE),
)


def bubble_stream(run_id: UUID, *, start: float | None = None, end: float | None = None) -> Iterator[bytes]:
    """The seconds of `bubbles`, by lane and class; roles and the whole are their sums."""
    found = bubbles(run_id, start=start, end=end)
    by_lane = found["by_lane"]
    roles = lane_roles(run_id, by_lane, up_to=found["stream_seq"])
    rows = [
        (lane, roles[lane], name, seconds) for lane, classes in by_lane.items() for name, seconds in classes.items()
    ]
    return arrow_stream(COLUMNS, [rows] if rows else [], {"stream_seq": str(found["stream_seq"])})
