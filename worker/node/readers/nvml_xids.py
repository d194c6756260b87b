"""Counts Xid events, the errors that NVIDIA's driver writes to the system log, by card."""

from collections import Counter
from typing import Any

MAX_EVENTS_PER_READING = 20_000
"""Events of one card that are taken in one reading, so that a storm cannot hold it up; the others come with the next.
The largest storm known here was 11,760 Xid 45 (NVSentinel#1748)."""


class XidCounts:
    """Xid events by card, from when the card was first followed.

    Each card has an event set of its own: the set says whose an event is, even when the card fell off the bus and can
    no longer be asked for its UUID.
    """

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._sets: dict[str, Any] = {}
        self._counts: dict[str, Counter[int]] = {}

    def of(self, card: str) -> dict[int, int]:
        """How often each code was seen."""
        return dict(self._counts.get(card, {}))

    def follow(self, card: str, handle: Any) -> None:
        """Have the driver queue the card's events, unless it does. Where it cannot, they are not counted."""
        nvml = self._nvml
        if card in self._sets:
            return
        try:
            events = nvml.nvmlEventSetCreate()
        except nvml.NVMLError:
            return
        try:
            nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, events)
        except nvml.NVMLError:
            self._free(events)
        else:
            self._sets[card] = events

    def take(self) -> None:
        """Count the events since the last time."""
        for card, events in list(self._sets.items()):
            if not self._drain(card, events):
                self._free(self._sets.pop(card))

    def release(self) -> None:
        """Follow no card any more; the counts stay."""
        while self._sets:
            self._free(self._sets.popitem()[1])

    def _drain(self, card: str, events: Any) -> bool:
        """Whether the set is still of use; that of a lost card is not."""
        for _ in range(MAX_EVENTS_PER_READING):
            try:
                event = self._nvml.nvmlEventSetWait_v2(events, 0)
            except self._nvml.NVMLError_Timeout:
                return True
            except self._nvml.NVMLError:
                return False
            self._counts.setdefault(card, Counter())[int(event.eventData)] += 1
        return True

    def _free(self, events: Any) -> None:
        try:
            self._nvml.nvmlEventSetFree(events)
        except self._nvml.NVMLError:
            return
