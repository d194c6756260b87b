"""The bubble ledger: what every second of every lane was spent on.

It adds up the spans that the recorder emits. Invariant: the seconds of a lane's classes add up to its lifetime; a gap
or an overlap between two spans of a lane is refused, so the shares add up to 100 %.
"""

from worker.contracts.spans import IdleCause, Span, SpanKind

_SAME_INSTANT_SECONDS = 1e-6
"""Difference between two roundings of one instant: a double holds Unix time to about 2e-7 s."""

SpanClass = tuple[SpanKind, IdleCause | None]
"""A span's kind; for idle spans, with the cause."""


class BubbleLedger:
    """Seconds by lane and class, over all spans added."""

    def __init__(self) -> None:
        self._seconds: dict[str, dict[SpanClass, float]] = {}
        self._last_end: dict[str, float] = {}

    def add(self, span: Span) -> None:
        """Count a span. Raises `ValueError` where it does not start at the end of the lane's previous one."""
        last_end = self._last_end.get(span.lane)
        if last_end is not None and abs(span.start - last_end) > _SAME_INSTANT_SECONDS:
            raise ValueError(
                f"`start` of lane `{span.lane}`'s {span.kind} span must be {last_end}, where its last span ended, "
                f"got {span.start}: a lane's spans must tile its lifetime"
            )
        self._last_end[span.lane] = span.end
        classes = self._seconds.setdefault(span.lane, {})
        span_class = (span.kind, span.cause)
        classes[span_class] = classes.get(span_class, 0.0) + span.seconds

    @property
    def lanes(self) -> tuple[str, ...]:
        """All lanes with a span."""
        return tuple(self._seconds)

    def seconds(self, lane: str | None = None) -> dict[SpanClass, float]:
        """Seconds by class, of one lane or of all together."""
        if lane is not None:
            return dict(self._seconds.get(lane, {}))
        total: dict[SpanClass, float] = {}
        for classes in self._seconds.values():
            for span_class, seconds in classes.items():
                total[span_class] = total.get(span_class, 0.0) + seconds
        return total

    def shares(self, lane: str | None = None) -> dict[SpanClass, float]:
        """Fractions by class, of one lane or of all together; they sum to 1. Empty where no time has passed."""
        seconds = self.seconds(lane)
        lifetime = sum(seconds.values())
        return {span_class: part / lifetime for span_class, part in seconds.items()} if lifetime > 0 else {}
