"""Reports lending decisions: a `lend` event when one is made, and again when its realised gain is known.

Invariant: decisions are numbered over the whole attempt, from 1 without gaps, whatever schedulers made them.
"""

from worker.contracts.lane_events import LendEvent
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.messages import Lend, LendSettled


class LendReporter:
    """Each new scheduler numbers its decisions from 1 again; `restart` is called when there is a new one."""

    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._num_before = self._num_reported = 0
        """The numbers of decisions: of earlier schedulers, and of all."""
        self._unsettled: dict[int, Lend] = {}
        """By decision of the current scheduler: those whose realised gain is not known yet."""

    def decided(self, lend: Lend) -> None:
        """Report a new decision."""
        self._num_reported = self._num_before + lend.decision
        if lend.predicted_gain_seconds is not None:
            self._unsettled[lend.decision] = lend
        self._report(lend)

    def settled(self, settled: LendSettled) -> None:
        """Report a decision again, with its realised gain."""
        self._report(self._unsettled.pop(settled.decision), settled.realised_gain_seconds)

    def restart(self) -> None:
        """Called when the scheduler was replaced: the realised gain of its open decisions is never known."""
        self._num_before = self._num_reported
        self._unsettled.clear()

    def _report(self, lend: Lend, realised_gain_seconds: float | None = None) -> None:
        self._client.emit(
            LendEvent,
            decision=self._num_before + lend.decision,
            batch=lend.batch + 1,
            lanes=lend.lanes,
            num_fragments=lend.num_fragments,
            predicted_gain_seconds=lend.predicted_gain_seconds,
            least_gain_seconds=lend.least_gain_seconds,
            realised_gain_seconds=realised_gain_seconds,
        )
