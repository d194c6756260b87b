"""Carries out resizes: one at a time, from the command, or from a plan of the run's own, to the last lane settled.

```text
start() ─► problems? ─► refused
   │
   ├── rollout and reward lanes: added ─► started ─► loaded ─► joined      any time; each lane by itself
   │                             leaving ─► fragment finished ─► left ─► released, or started in another role
   │
   ├── trainer lanes: `TrainerChange`, at a batch boundary
   └── lanes to be given back within seconds: `LaneReturns`, beside whatever is under way
```

Each step is reported in a `lanes` event. Invariant: a lane is reported as let go once its process is ended and its
placement group removed, never before; every resize that was begun is reported as done or failed, unless the driver
dies.
"""

import logging
import time
from functools import partial

from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneStep, Resize, ResizeReport, ResizeState, TrainerChangeSeconds, resize_problems
from worker.engine.control.batch_boundaries import BatchBoundaries
from worker.engine.control.cluster_lanes import PLACEMENT_TIMEOUT_SECONDS
from worker.engine.control.lane_move import LaneMove
from worker.engine.control.lane_returns import LaneReturns
from worker.engine.control.lane_supervisor import LaneSupervisor
from worker.engine.control.open_resize import OpenResize
from worker.engine.control.pending_calls import PendingCalls
from worker.engine.control.run_components import RunComponents
from worker.engine.control.trainer_change import ChangeParts, TrainerChange
from worker.engine.control.trainer_gang import TrainerGang
from worker.engine.errors import EngineError
from worker.scheduling.core.messages import Event, LeaveRequested
from worker.scheduling.core.scheduler import Scheduler

logger = logging.getLogger(__name__)


class ResizeRefusedError(EngineError):
    """The run cannot be resized so, or not now; nothing has changed."""


class Resizer:
    """Grows and shrinks the run. `start` is the entry for whoever decides so within the driver."""

    def __init__(
        self,
        components: RunComponents,
        calls: PendingCalls,
        gang: TrainerGang,
        supervisor: LaneSupervisor,
        boundaries: BatchBoundaries,
    ) -> None:
        self._components = components
        self._lanes, self._spans, self._commands = components.lanes, components.spans, components.commands
        self._supervisor = supervisor
        self._scheduler: Scheduler | None = None
        self._open: OpenResize | None = None
        self._reported: ResizeReport | None = None
        self._returns = LaneReturns(self._lanes, self._spans, supervisor, self._commands, self._apply)
        self._change_parts = ChangeParts(
            lanes=components.lanes,
            calls=calls,
            gang=gang,
            supervisor=supervisor,
            boundaries=boundaries,
            spans=components.spans,
            apply=self._apply,
            is_publishing=lambda: self._current.state.publishing is not None or gang.is_storing,
        )

    @property
    def is_busy(self) -> bool:
        """Whether a resize is under way."""
        return self._open is not None

    @property
    def reported(self) -> ResizeReport | None:
        """The latest report, of the resize under way or of the last one that began."""
        return self._reported

    # --- the entry --------------------------------------------------------------------------------------------------

    def start(self, resize_id: str, resize: Resize, *, is_command: bool = False, drains: bool = False) -> None:
        """Begin a resize, which `lanes` events report under `resize_id`. Its roles must be those of the placement that
        lanes are loaded for from now on.

        `drains`: the trainer gang is replaced while no batch is open, not while the next one is generated.

        Raises:
            ResizeRefusedError: with the reason, where the run cannot be resized so, or not now.
        """
        roles = self._staying()
        reason = self._refusal() or next(resize_problems(resize, roles, self._supervisor.pipeline.placement), None)
        if reason is not None:
            raise ResizeRefusedError(reason)
        opened = self._open = OpenResize.of(resize_id, resize, roles, is_command=is_command, drains=drains)
        moves = list(opened.moves.values())
        of_gang = [move for move in moves if move.is_of_gang]
        if of_gang:
            opened.change = TrainerChange(of_gang, self._change_parts, self._gang_replaced)
            opened.change.begin()
        for move in moves:
            if not move.is_of_gang:
                self._begin(move)
        self._report()

    def _refusal(self) -> str | None:
        """Why no resize can begin now."""
        if self._open is not None:
            return f"the resize {self._open.id} is under way: wait until it is done"
        if self._commands.stop_wanted:
            return "the run is stopping"
        if self._components.metrics.position.batch == self._components.answer.spec.num_batches:
            return "every batch of the run is trained"
        return None

    def start_requested(self) -> None:
        """Begin the resizes that commands ask for; refuse those that cannot begin."""
        for resize_id, resize in self._commands.take_resizes():
            try:
                if resize.within_seconds is None:
                    self.start(resize_id, resize, is_command=True)
                else:
                    self._give_back(resize_id, resize)
            except ResizeRefusedError as error:
                self._refuse(resize_id, resize, str(error))

    def _give_back(self, resize_id: str, resize: Resize) -> None:
        """Begin to give lanes back within seconds, beside the resize under way; a lane that this one is adding does not
        join any more."""
        roles = self._staying()
        reason = next(resize_problems(resize, roles, self._supervisor.gang_pipeline.placement), None)
        moves = {} if self._open is None else self._open.moves
        moving = [moves[lane] for lane in resize.release if lane in moves and not moves[lane].is_settled]
        if reason is None and any(move.before is not None for move in moving):
            reason = f"a lane of it is part of the resize {self._open.id if self._open else ''}: wait until it is done"
        if reason is not None:
            raise ResizeRefusedError(reason)
        for move in moving:
            self._give_up(move.lane, "the pool needs it for another run")
        self._returns.start(resize_id, resize, roles, withdrawn=[move.lane for move in moving])

    def _staying(self) -> dict[str, LaneRole]:
        """The roles of the run's lanes, without those that are being given back."""
        returning = self._returns.lanes
        return {lane: role for lane, role in self._lanes.roles().items() if lane not in returning}

    def _refuse(self, resize_id: str, resize: Resize, reason: str) -> None:
        """Report a resize that did not begin: the lanes that were allocated for it can be freed."""
        refused = OpenResize.of(resize_id, resize, self._lanes.roles(), is_command=True)
        refused.abandon(reason)
        self._supervisor.report(refused.report().model_copy(update={"state": ResizeState.FAILED, "reason": reason}))
        self._commands.answer(resize_id, reason, accepted=False)

    # --- what the controller passes on ------------------------------------------------------------------------------

    def begin(self, scheduler: Scheduler) -> None:
        """Work with a new scheduler, at first or after a rewind."""
        self._scheduler = scheduler
        if self._open is not None and self._open.change is not None:
            self._open.change.ask_locations()

    def step(self) -> None:
        """Go on with the resize under way; called once per iteration of the controller's loop. Raises
        `TrainerChangeError` as `TrainerChange.step` does."""
        self._returns.step(self._current)
        opened = self._open
        if opened is None:
            return
        for lane, deadline in list(opened.deadlines.items()):
            if self._lanes[lane].location is not None:
                del opened.deadlines[lane]
            elif time.monotonic() > deadline:
                self._give_up(lane, f"the cluster did not place it within {PLACEMENT_TIMEOUT_SECONDS:.0f} s")
        change = opened.change
        if change is not None:
            if self.wants_boundary and self._current.state.is_quiescent:
                change.at_boundary()
            change.step()
        self._report()

    @property
    def wants_boundary(self) -> bool:
        """Whether the trainer gang is to be replaced at this batch boundary."""
        if self._open is None or self._open.change is None or self._commands.stop_wanted:
            return False
        if self._open.drains and self._current.state.has_open_batch:
            return False
        is_last = self._components.metrics.position.batch == self._components.answer.spec.num_batches
        return self._open.change.wants_boundary and not is_last

    def at_boundary(self) -> None:
        """Begin to replace the trainer gang, which is free."""
        assert self._open is not None and self._open.change is not None, "`wants_boundary` was asked"
        self._open.change.at_boundary()
        self._report()

    def left(self, lane: str) -> None:
        """The scheduler has done with a lane that was asked to leave."""
        if self._returns.left(lane):
            return
        assert self._open is not None, "only a resize asks lanes to leave"
        move = self._open.moves.get(lane)
        if move is None or move.is_of_gang:
            assert self._open.change is not None, "only a trainer change asks such a lane to leave"
            self._open.change.left(lane)
        else:
            self._end_role(move)
        self._report()

    def ready(self, lane: str) -> None:
        """A lane has loaded and joined."""
        if self._open is not None and lane in self._open.moves:
            move = self._open.moves[lane]
            if move.step is LaneStep.STARTING and move.after is not LaneRole.TRAINER:
                move.settle(LaneStep.JOINED)
                self._report()

    def lost(self, lane: str, reason: str) -> bool:
        """A lane's process has died; returns whether the resize deals with it. Raises `TrainerChangeError` where the
        gang that is being started cannot do without it."""
        if self._returns.lost(lane):
            return True
        if self._open is None:
            return False
        if self._open.change is not None and self._open.change.lost(lane, reason):
            self._report()
            return True
        move = self._open.moves.get(lane)
        if move is None or move.step.is_settled or (move.is_of_gang and move.step is not LaneStep.STARTING):
            return False
        if move.step is LaneStep.LEAVING:
            self._end_role(move)
        elif move.step is LaneStep.STARTING and lane not in self._supervisor.ready:
            self._give_up(lane, f"its process was lost: {reason}")
        else:
            return False
        self._report()
        return True

    def rewind(self, reason: str) -> None:
        """The run goes back to its last checkpoint: whatever was under way is dropped, so lanes leave at once, and a
        gang that was being replaced stays the old one."""
        self._scheduler = None
        self._returns.rewind()
        if self._open is None:
            return
        if self._open.change is not None and self._open.change.has_begun:
            self._open.change.cancel(reason)
        for move in self._open.moves.values():
            if move.step is LaneStep.LEAVING:
                self._end_role(move)
        self._report()

    def close(self, reason: str) -> None:
        """Report the resize under way, and those that have not begun, as failed: the run ends."""
        for resize_id, resize in self._commands.take_resizes():
            self._refuse(resize_id, resize, reason)
        self._returns.close(reason)
        opened = self._open
        if opened is not None:
            for move in opened.moves.values():
                if move.before is None and not move.step.is_settled:
                    self._give_up(move.lane, reason)
            opened.abandon(reason)
            self._report()

    # --- rollout and reward lanes -----------------------------------------------------------------------------------

    def _begin(self, move: LaneMove) -> None:
        if move.grant is not None:
            self._lanes.add(move.grant)
            self._spans.added(move.lane)
            self._bring_up(move)
        elif move.lane in self._supervisor.ready:
            move.step = LaneStep.LEAVING
            self._spans.resizing(move.lane)
            self._apply(LeaveRequested(move.lane))
        else:
            # It was lost and is being restarted, or was given up: it has nothing to finish.
            self._end_role(move)

    def _end_role(self, move: LaneMove) -> None:
        """The lane has nothing more to do in its role: let go of it, or start it in its next one."""
        self._supervisor.forget(move.lane)
        if move.after is None:
            self._let_go(move, LaneStep.RELEASED)
            return
        self._spans.resizing(move.lane)
        self._lanes.replace_actor(move.lane, move.after)
        self._bring_up(move)

    def _bring_up(self, move: LaneMove) -> None:
        assert self._open is not None, "lanes start for a resize"
        move.step = LaneStep.STARTING
        self._open.deadlines[move.lane] = time.monotonic() + PLACEMENT_TIMEOUT_SECONDS
        self._supervisor.bring_up(move.lane, partial(self._give_up, move.lane))

    def _give_up(self, lane: str, reason: str) -> None:
        """A lane could not be started: let go of it."""
        assert self._open is not None, "lanes start for a resize"
        logger.error("lane %s is given up: %s", lane, reason)
        self._open.deadlines.pop(lane, None)
        self._supervisor.forget(lane)
        self._let_go(self._open.moves[lane], LaneStep.GIVEN_UP, reason)
        self._report()

    def _let_go(self, move: LaneMove, step: LaneStep, detail: str = "") -> None:
        self._lanes.remove(move.lane)
        self._spans.removed(move.lane)
        move.settle(step, detail)

    # --- trainer lanes ----------------------------------------------------------------------------------------------

    def _gang_replaced(self, seconds: TrainerChangeSeconds) -> None:
        """The new gang works: lanes that it does without are let go, or start in another role."""
        assert self._open is not None, "the gang is replaced for a resize"
        self._open.trainer_seconds = seconds
        logger.info("the trainer gang was replaced, in seconds: %s", seconds)
        for move in self._open.moves.values():
            if move.before is LaneRole.TRAINER and not move.is_settled:
                self._end_role(move)
        self._report()

    # --- reports ----------------------------------------------------------------------------------------------------

    def _report(self) -> None:
        """Report the resize under way where it has gone on since the last report, and close it once all is settled."""
        opened = self._open
        if opened is None:
            return
        report = opened.report()
        if report != self._reported:
            self._reported = report
            self._supervisor.report(report)
        if report.state is ResizeState.ACCEPTED:
            return
        self._open = None
        if opened.is_command:
            is_done = report.state is ResizeState.DONE
            self._commands.answer(opened.id, report.reason or "every lane is in its place", accepted=is_done)

    def _apply(self, event: Event) -> None:
        self._current.apply(event, self._components.clock.now())

    @property
    def _current(self) -> Scheduler:
        assert self._scheduler is not None, "`begin` was called first"
        return self._scheduler
