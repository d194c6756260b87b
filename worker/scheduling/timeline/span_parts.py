"""Cuts spans at moments of their own clock."""

from collections.abc import Iterable

from worker.contracts.spans import Span


def parts_between(spans: Iterable[Span], start: float, end: float) -> tuple[Span, ...]:
    """The spans' parts between two moments, in order of their start, in seconds from the first moment."""
    found = []
    for span in spans:
        first, last = max(span.start, start), min(span.end, end)
        if last > first:
            found.append(span.model_copy(update={"start": first - start, "end": last - start}))
    return tuple(sorted(found, key=lambda span: span.start))
