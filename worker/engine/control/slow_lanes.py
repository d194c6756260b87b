"""Names the lanes that are far slower than their kind: once, and again only where that has changed.

Invariant: what was reported last is what the run page shows, so a lane that leaves or recovers is taken back.
"""

import math
from collections.abc import Mapping

from worker.contracts.lane_events import SlowLanesEvent
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.replanning.lane_ratios import SAME_WITHIN


class SlowLanes:
    """Reports `slow_lanes` events where other lanes are slow, or where they are slower or faster than was reported."""

    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._reported: Mapping[str, float] = {}
        """By lane: its seconds ÷ those of its kind, as reported last."""

    def found(self, factors: Mapping[str, float], *, batch: int) -> None:
        """These lanes are slow, as measured in `batch` complete batches, and no others."""
        if factors.keys() == self._reported.keys() and all(
            abs(math.log(factor / self._reported[lane])) <= SAME_WITHIN for lane, factor in factors.items()
        ):
            return
        self._reported = dict(factors)
        self._client.emit(SlowLanesEvent, batch=batch, lanes=self._reported)
