"""Reports the run's status when it changes (phase, state, queue depths) and the costs that it has measured."""

import time
from collections.abc import Callable

from worker.contracts.events import CostsEvent, PhaseEvent, QueueEvent, StateEvent
from worker.contracts.states import Phase, RunState
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import dump_costs

REPORT_SECONDS = 1.0
"""The least time between two reports of queue depths, which change with every fragment."""


class StatusReporter:
    """Emits an event for each change of phase or state, and samples the queue depths."""

    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._phase: Phase | None = None
        self._state: RunState | None = None
        self._last_queues: dict[str, int] = {}
        self._next_queues = 0.0

    @property
    def has_run(self) -> bool:
        """Whether this attempt has reported a state, so that it was training before."""
        return self._state is not None

    def enter(self, phase: Phase, detail: str = "") -> None:
        """Report a phase, unless the run is in it already."""
        if phase is not self._phase:
            self._phase = phase
            self._client.emit(PhaseEvent, phase=phase, detail=detail)

    def state(self, *, batch: int, is_paused: bool, is_stopping: bool) -> None:
        """Report the run's state if it has changed; `batch` is the number of batches trained."""
        state, reason = RunState.RUNNING, "training continues after the pause"
        if is_stopping:
            state, reason = RunState.STOPPING, "the open batch is finished first"
        elif is_paused:
            state, reason = RunState.PAUSED, f"all lanes are idle after batch {batch}"
        elif self._state is not RunState.PAUSED:
            reason = (
                f"lanes are up, training continues after batch {batch}" if batch else "lanes are up, training begins"
            )
        if state is not self._state:
            self._state = state
            self._client.emit(StateEvent, state=state, reason=reason)

    def queues(self, depths: Callable[[], dict[str, int]], *, batch: int) -> None:
        """Report the depth of each queue if one has changed, at most once in `REPORT_SECONDS`."""
        now = time.monotonic()
        if now < self._next_queues:
            return
        self._next_queues = now + REPORT_SECONDS
        current = depths()
        if current != self._last_queues:
            self._last_queues = current
            self._client.emit(QueueEvent, batch=batch, depths=current)

    def costs(self, costs: CostModel, *, batch: int) -> None:
        """Report the costs measured so far."""
        self._client.emit(CostsEvent, batch=batch, costs=dump_costs(costs.measured()))
