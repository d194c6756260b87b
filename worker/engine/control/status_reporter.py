"""Where the run stands, told when it changes: phase, state, queues; and what it has learnt of costs."""

import time
from collections.abc import Callable

from worker.contracts.events import CostsEvent, Phase, PhaseEvent, QueueEvent, StateEvent
from worker.contracts.states import RunState
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import dump_costs

REPORT_SECONDS = 1.0


class StatusReporter:
    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._phase: Phase | None = None
        self._state: RunState | None = None
        self._last_queues: dict[str, int] = {}
        self._next_queues = 0.0

    @property
    def has_run(self) -> bool:
        """Whether this attempt has been in any state yet."""
        return self._state is not None

    def enter(self, phase: Phase, detail: str = "") -> None:
        if phase is not self._phase:
            self._phase = phase
            self._client.emit(PhaseEvent, phase=phase, detail=detail)

    def state(self, *, batch: int, is_paused: bool, is_stopping: bool) -> None:
        """`batch`: how many are trained."""
        state, reason = RunState.RUNNING, "goes on after the pause"
        if is_stopping:
            state, reason = RunState.STOPPING, "the batch under way is finished first"
        elif is_paused:
            state, reason = RunState.PAUSED, f"nothing is under way after batch {batch}"
        elif self._state is not RunState.PAUSED:
            reason = f"lanes are up, training goes on from batch {batch}" if batch else "lanes are up, training begins"
        if state is not self._state:
            self._state = state
            self._client.emit(StateEvent, state=state, reason=reason)

    def queues(self, depths: Callable[[], dict[str, int]], *, batch: int) -> None:
        """At most once in `REPORT_SECONDS`."""
        now = time.monotonic()
        if now < self._next_queues:
            return
        self._next_queues = now + REPORT_SECONDS
        found = depths()
        if found != self._last_queues:
            self._last_queues = found
            self._client.emit(QueueEvent, batch=batch, depths=found)

    def costs(self, costs: CostModel, *, batch: int) -> None:
        self._client.emit(CostsEvent, batch=batch, costs=dump_costs(costs.measured()))
