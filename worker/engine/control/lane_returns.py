"""Gives back the lanes that the pool asks for with notice: each may finish what it has under way, up to a bound.

```text
start() ─► asked to leave ─┬─► fragment finished ─► left() ──────────────────────┐
                           └─► bound reached ─► dropped, another lane draws it ──┴─► process ended, reported
```

Invariants: a lane is let go within its bound, whatever else the run is doing, a resize among it; nothing is lost, since
what is dropped goes back to the scheduler as after the loss of a lane, and is done again from the same seeds.
"""

import logging
import time
from collections.abc import Callable, Collection, Mapping

from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneStep, Resize, ResizeReport, ResizeState
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.lane_move import LaneMove
from worker.engine.control.lane_supervisor import LaneSupervisor
from worker.engine.control.open_resize import OpenResize
from worker.engine.control.span_reporter import SpanReporter
from worker.scheduling.core.messages import Event, Generate, LaneLost, LeaveRequested, Score
from worker.scheduling.core.scheduler import Scheduler

logger = logging.getLogger(__name__)


class LaneReturns:
    """The lanes that are being given back; any number of commands may have asked for them."""

    def __init__(
        self,
        lanes: ClusterLanes,
        spans: SpanReporter,
        supervisor: LaneSupervisor,
        commands: CommandQueue,
        apply: Callable[[Event], None],
    ) -> None:
        self._lanes, self._spans, self._supervisor, self._commands = lanes, spans, supervisor, commands
        self._apply = apply
        self._open: dict[str, OpenResize] = {}
        """By the id of the command."""
        self._reported: dict[str, ResizeReport] = {}

    @property
    def lanes(self) -> set[str]:
        """Lanes that have not been let go yet."""
        return {move.lane for opened in self._open.values() for move in opened.moves.values() if not move.is_settled}

    def start(
        self, resize_id: str, resize: Resize, roles: Mapping[str, LaneRole], *, withdrawn: Collection[str]
    ) -> None:
        """Ask the lanes to leave. `resize` is a release that has no problems for lanes with these `roles`; the lanes
        `withdrawn` were let go before they had joined."""
        assert resize.within_seconds is not None, "other releases are resizes"
        opened = self._open[resize_id] = OpenResize.of(resize_id, resize, roles, is_command=True)
        for move in opened.moves.values():
            if move.lane in withdrawn:
                move.settle(LaneStep.RELEASED)
            elif move.lane in self._supervisor.ready:
                move.step = LaneStep.LEAVING
                opened.deadlines[move.lane] = time.monotonic() + resize.within_seconds
                self._spans.resizing(move.lane)
                self._apply(LeaveRequested(move.lane))
            else:
                # It was lost and is being restarted, or was given up: it has nothing to finish.
                self._let_go(opened, move)
        self._report(opened)

    def step(self, scheduler: Scheduler) -> None:
        """Drop what lanes have under way whose seconds are over; called once per iteration of the controller's loop."""
        for opened in list(self._open.values()):
            for lane, deadline in list(opened.deadlines.items()):
                if time.monotonic() >= deadline:
                    self._drop(opened, opened.moves[lane], scheduler)
            self._report(opened)

    def _drop(self, opened: OpenResize, move: LaneMove, scheduler: Scheduler) -> None:
        match scheduler.state.lanes[move.lane].under_way:
            case Generate(fragments=fragments):
                move.num_dropped = len(fragments)
            case Score():
                move.num_dropped = 1
        logger.warning("lane %s is given back amid its work: %d fragments are dropped", move.lane, move.num_dropped)
        self._apply(LaneLost(move.lane))
        self._let_go(opened, move)

    def left(self, lane: str) -> bool:
        """The scheduler has done with a lane that was asked to leave; returns whether it is one of these."""
        return self._ended(lane)

    def lost(self, lane: str) -> bool:
        """A lane's process has died; returns whether it is one of these."""
        return self._ended(lane)

    def _ended(self, lane: str) -> bool:
        for opened in list(self._open.values()):
            move = opened.moves.get(lane)
            if move is not None and not move.is_settled:
                self._let_go(opened, move)
                self._report(opened)
                return True
        return False

    def rewind(self) -> None:
        """Whatever was under way is dropped, so the lanes leave at once."""
        for lane in self.lanes:
            self._ended(lane)

    def close(self, reason: str) -> None:
        """Report what is not given back as failed: the run ends, and its lanes with it."""
        for opened in list(self._open.values()):
            opened.abandon(reason)
            self._report(opened)

    def _let_go(self, opened: OpenResize, move: LaneMove) -> None:
        opened.deadlines.pop(move.lane, None)
        self._supervisor.forget(move.lane)
        self._lanes.remove(move.lane)
        self._spans.removed(move.lane)
        move.settle(LaneStep.RELEASED)

    def _report(self, opened: OpenResize) -> None:
        """Report it where it has gone on since its last report, and close it once every lane is let go."""
        report = opened.report()
        if report != self._reported.get(opened.id):
            self._reported[opened.id] = report
            self._supervisor.report(report)
        if report.state is not ResizeState.ACCEPTED:
            del self._open[opened.id], self._reported[opened.id]
            is_done = report.state is ResizeState.DONE
            self._commands.answer(opened.id, report.reason or "every lane is given back", accepted=is_done)
