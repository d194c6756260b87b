"""What work costs on each lane, learnt from the spans of the run itself.

Used for the throughput shown today; a planner starts from the same numbers. Costs are exponential averages of seconds
per sample, so that they follow a lane that becomes slower without jumping at one odd fragment.
"""

from collections.abc import Iterator

from worker.contracts.spans import Span, SpanKind

LEARNT_KINDS = frozenset({SpanKind.GENERATE, SpanKind.DECODE, SpanKind.SCORE, SpanKind.TRAIN})


class LaneCosts:
    """Seconds per sample by lane and kind of work."""

    def __init__(self, newest_weight: float = 0.2) -> None:
        """`newest_weight` in (0, 1]: how much the newest observation counts; 1 forgets all others."""
        if not 0 < newest_weight <= 1:
            raise ValueError(f"`newest_weight` must be in (0, 1], got {newest_weight}: it weighs the newest span")
        self._newest_weight = newest_weight
        self._seconds_per_sample: dict[tuple[str, SpanKind], float] = {}

    def observe(self, span: Span) -> None:
        """Learn from a span of work on a known number of samples; other spans tell nothing about costs."""
        if span.kind not in LEARNT_KINDS or span.num_samples == 0:
            return
        newest = span.seconds / span.num_samples
        key = (span.lane, span.kind)
        known = self._seconds_per_sample.get(key, newest)
        self._seconds_per_sample[key] = known + self._newest_weight * (newest - known)

    def seconds_per_sample(self, lane: str, kind: SpanKind) -> float | None:
        """`None` until the lane has done any such work."""
        return self._seconds_per_sample.get((lane, kind))

    def samples_per_second(self, kind: SpanKind) -> float:
        """What all lanes together can do of one kind: the sum of their rates; 0 until any is known."""
        return sum(1 / seconds for seconds in self._of_kind(kind) if seconds > 0)

    def forget(self, lane: str) -> None:
        """A lane that left tells nothing about the lanes that stay."""
        for kind in LEARNT_KINDS:
            self._seconds_per_sample.pop((lane, kind), None)

    def _of_kind(self, kind: SpanKind) -> Iterator[float]:
        return (seconds for (_, learnt), seconds in self._seconds_per_sample.items() if learnt is kind)
