"""Lending decisions as a run tells them: numbered over the whole attempt, told when made and again when settled."""

from worker.contracts.events import LendEvent
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.messages import Lend, LendSettled


class LendReporter:
    """A new scheduler counts its decisions from 1 again; `restart` lets the run's count go on."""

    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._num_before = self._num_told = 0
        self._unsettled: dict[int, Lend] = {}

    def made(self, lend: Lend) -> None:
        self._num_told = self._num_before + lend.decision
        if lend.predicted_gain_seconds is not None:
            self._unsettled[lend.decision] = lend
        self._report(lend)

    def settled(self, settled: LendSettled) -> None:
        self._report(self._unsettled.pop(settled.decision), settled.realised_gain_seconds)

    def restart(self) -> None:
        """The scheduler was replaced: what it had predicted is settled by nobody."""
        self._num_before = self._num_told
        self._unsettled.clear()

    def _report(self, lend: Lend, realised_gain_seconds: float | None = None) -> None:
        self._client.emit(
            LendEvent,
            decision=self._num_before + lend.decision,
            batch=lend.batch + 1,
            lanes=lend.lanes,
            num_fragments=lend.num_fragments,
            predicted_gain_seconds=lend.predicted_gain_seconds,
            realised_gain_seconds=realised_gain_seconds,
        )
