"""How much of lane time was work: the one definition, for metrics, pages and reports.

    busy share = seconds of any work ÷ seconds that were not paused
    idle share = seconds of idling   ÷ seconds that were not paused

What no span covers is neither: nobody knows what it was. Lent generation is work, a lane that is being resized idles.
"""

from collections.abc import Mapping

from worker.contracts.spans import SpanKind

_NOT_WORK = frozenset({SpanKind.IDLE, SpanKind.PAUSE})
WORK = frozenset(SpanKind) - _NOT_WORK
"""The kinds of span in which a lane works."""

SecondsByClass = Mapping[str, float] | Mapping[SpanKind, float]
"""By class: a span's kind, for idle spans with or without `:<cause>`, or a name of what no span covers."""


def busy_share(seconds: SecondsByClass) -> float:
    """The share of work in the lane time that was not paused; 0 where there is none."""
    return _share(seconds, {kind.value for kind in WORK})


def idle_share(seconds: SecondsByClass) -> float:
    """The share of idling in the lane time that was not paused; 0 where there is none."""
    return _share(seconds, {SpanKind.IDLE.value})


def _share(seconds: SecondsByClass, kinds: set[str]) -> float:
    by_kind = [(str(name).partition(":")[0], part) for name, part in seconds.items()]
    unpaused = sum(part for kind, part in by_kind if kind != SpanKind.PAUSE)
    return sum(part for kind, part in by_kind if kind in kinds) / unpaused if unpaused > 0 else 0.0
