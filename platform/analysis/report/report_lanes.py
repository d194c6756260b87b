"""Lane time in a report: a picture of what every lane did, and shares by class that sum to 100 %.

Invariant: the picture has a bounded level of detail, and the shares are those of the run page, from every span.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from telemetry.observed_lanes import Lane
from telemetry.timeline.bubbles import bubbles
from telemetry.timeline.timeline import timeline
from worker.contracts.spans import SpanKind
from worker.scheduling.timeline.busy_share import busy_share

MAX_SPANS = 3000
"""Spans in the picture: of more, short neighbours are merged, as on the run page."""
MAX_LANES = 48
"""Rows of the picture: more do not fit a printed page."""
WIDTH, ROW, BAR = 1000, 16, 12
"""Of the picture, in units of its view box."""
_NUM_TICKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A class of lane time."""

    kind: str
    label: str
    seconds: float
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneTime:
    rows: Sequence[tuple[str, int]]
    """Lanes and the vertical place of their row."""
    paths: Sequence[tuple[str, str]]
    """By kind of span, the `d` of one path that holds all of its bars."""
    ticks: Sequence[tuple[float, float]]
    """Seconds since the first span, and their place."""
    height: int
    num_lanes_left_out: int
    shares: Sequence[Share]
    """Of the time that was not paused, the largest first."""
    busy_share: float
    total_seconds: float
    """Time that was not paused."""
    paused_seconds: float
    lanes: Sequence[Lane]
    """The lanes that were placed: role, node and device of each."""


def lane_time(run_id: UUID, *, now: float) -> LaneTime:
    """What the run's lanes did; without rows where no span was reported."""
    drawn = timeline(run_id, now=now, limit=MAX_SPANS)
    spans = drawn["spans"]
    names = sorted({span["lane"] for span in spans}, key=_natural)
    shown = {name: index * ROW for index, name in enumerate(names[:MAX_LANES])}
    start = min((span["start"] for span in spans), default=0.0)
    length = max((span["end"] for span in spans), default=1.0) - start or 1.0
    bars: defaultdict[str, list[str]] = defaultdict(list)
    for span in spans:
        if span["lane"] in shown:
            x, width = (span["start"] - start) / length * WIDTH, (span["end"] - span["start"]) / length * WIDTH
            bars[span["kind"]].append(f"M{x:.2f} {shown[span['lane']]}h{width:.2f}v{BAR}h{-width:.2f}z")
    unpaused = dict(bubbles(run_id)["by_class"])
    paused = unpaused.pop(SpanKind.PAUSE.value, 0.0)
    return LaneTime(
        rows=list(shown.items()),
        paths=[(kind, "".join(parts)) for kind, parts in sorted(bars.items())],
        ticks=[(length * tick / _NUM_TICKS, WIDTH * tick / _NUM_TICKS) for tick in range(_NUM_TICKS + 1)],
        height=len(shown) * ROW,
        num_lanes_left_out=len(names) - len(shown),
        shares=_shares(unpaused, sum(unpaused.values())),
        busy_share=busy_share(unpaused),
        total_seconds=sum(unpaused.values()),
        paused_seconds=paused,
        lanes=drawn["lanes"],
    )


def _shares(seconds: dict[str, float], total: float) -> list[Share]:
    return [
        Share(
            kind=name.partition(":")[0],
            label=name.replace("_", " ").replace(":", ": ").capitalize(),
            seconds=part,
            percent=100 * part / total,
        )
        for name, part in sorted(seconds.items(), key=lambda entry: -entry[1])
        if total > 0
    ]


def _natural(lane: str) -> tuple[str, int]:
    """`trainer-10` after `trainer-9`."""
    name, _, number = lane.rpartition("-")
    return (name, int(number)) if number.isdigit() else (lane, 0)
