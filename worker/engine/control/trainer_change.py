"""Replaces the trainer gang at a batch boundary: lanes join it, leave it or change to it while the driver lives on.

```text
lanes added start ─► batch trained ─► checkpoint ─────────┐
                                      version published   ├─► old processes end ─► new gang loads ─► restores ─► joins
                                      lanes change role ──┘      (start)                            (restore)
```

Rollout lanes go on generating as far as staleness allows; idle lanes that wait for the gang have the cause `resize`.
Invariant: until the new gang has restored the checkpoint, every lane of the old one is held, so whatever goes wrong,
the old gang can be started again from the same checkpoint.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from worker.contracts.lanes import LaneWork
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneStep, TrainerChangeSeconds
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import RestoredCheckpoint
from worker.engine.control.batch_boundaries import BatchBoundaries
from worker.engine.control.cluster_lanes import PLACEMENT_TIMEOUT_SECONDS, ClusterLanes
from worker.engine.control.lane_move import LaneMove
from worker.engine.control.lane_supervisor import LaneSupervisor
from worker.engine.control.pending_calls import PendingCalls, Reports, RewindNeededError
from worker.engine.control.span_reporter import SpanReporter
from worker.engine.control.trainer_gang import TrainerGang
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.core.messages import Event, LaneJoined, LeaveRequested, Measured, TrainerReleased


class TrainerChangeError(RewindNeededError):
    """The new gang could not be started: the run goes on with the old one, from the checkpoint written for the
    change."""


class _Stage(Enum):
    WAITING = auto()
    """For the lanes that are added, and for the end of a batch."""
    SAVING = auto()
    """The checkpoint is being written, and lanes become free."""
    STARTING = auto()
    """The new gang starts, loads and restores."""
    ENDED = auto()


@dataclass(slots=True, kw_only=True)
class ChangeParts:
    """What a change works with."""

    lanes: ClusterLanes
    calls: PendingCalls
    gang: TrainerGang
    supervisor: LaneSupervisor
    boundaries: BatchBoundaries
    spans: SpanReporter
    apply: Callable[[Event], None]
    """Passes an event on to the scheduler."""
    is_publishing: Callable[[], bool]
    """Whether a version of the old gang is still being published, its copy in the object store included."""


@dataclass(slots=True)
class _StopWatch:
    """Seconds between the steps of a change, by the driver's monotonic clock."""

    last: float = field(default_factory=time.monotonic)

    def lap(self) -> float:
        now = time.monotonic()
        seconds, self.last = now - self.last, now
        return seconds


class TrainerChange:
    """One replacement of the gang; `on_done` is called once it works, with the seconds that it took."""

    def __init__(
        self, moves: Sequence[LaneMove], parts: ChangeParts, on_done: Callable[[TrainerChangeSeconds], None]
    ) -> None:
        """`moves` are those of the gang's lanes."""
        self._moves = {move.lane: move for move in moves}
        self._parts = parts
        self._on_done = on_done
        self._stage = _Stage.WAITING
        self._before = list(parts.gang.lanes)
        after = [lane for lane in self._before if lane not in self._moves]
        self._after = after + [move.lane for move in moves if move.after is LaneRole.TRAINER]
        self._not_placed = {move.lane for move in moves if move.before is None}
        self._not_free: set[str] = set()
        """Lanes that have yet to leave before the old processes can end."""
        self._uri = ""
        self._deadline = time.monotonic() + PLACEMENT_TIMEOUT_SECONDS
        self._watch = _StopWatch()
        self._checkpoint_seconds = self._start_seconds = 0.0

    # --- while the batch goes on ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start the processes of the lanes that are added, so that only loading is left for the boundary."""
        for lane in sorted(self._not_placed):
            move = self._moves[lane]
            assert move.grant is not None, "a lane that is added was granted"
            self._parts.lanes.add(move.grant)
            self._parts.spans.added(lane)
            move.step = LaneStep.STARTING
        self.ask_locations()

    def ask_locations(self) -> None:
        """Ask the lanes that are not known to be up; also after a rewind, which has dropped all calls."""
        for lane in sorted(self._not_placed):
            location = self._parts.lanes[lane].actor.location.remote()
            self._parts.calls.start(LaneWork.START, {lane: location}, self._placed, otherwise=self._fail)

    def _placed(self, reports: Reports) -> None:
        self._parts.supervisor.located(reports)
        for lane in reports:
            self._not_placed.discard(lane)
            self._moves[lane].step = LaneStep.WAITING

    @property
    def has_begun(self) -> bool:
        """Whether training stands still for the change, so that only a rewind can undo it."""
        return self._stage in (_Stage.SAVING, _Stage.STARTING)

    @property
    def wants_boundary(self) -> bool:
        """Whether the change can be carried out at the next batch boundary."""
        return self._stage is _Stage.WAITING and not self._not_placed

    @property
    def _is_overdue(self) -> bool:
        """Whether lanes have taken too long to be placed."""
        return time.monotonic() > self._deadline and (bool(self._not_placed) or self._stage is _Stage.STARTING)

    # --- at the boundary --------------------------------------------------------------------------------------------

    def at_boundary(self) -> None:
        """Begin the change: the gang is free, and no gradients are open."""
        self._stage = _Stage.SAVING
        self._watch.lap()
        self._parts.boundaries.save_to_resize(self._saved, self._fail)
        coming = [move.lane for move in self._moves.values() if move.before not in (None, LaneRole.TRAINER)]
        for lane in [*self._before, *coming]:
            self._not_free.add(lane)
            self._parts.spans.resizing(lane)
            # A rollout lane that is being restarted has nothing to finish.
            if lane in self._parts.supervisor.ready:
                self._parts.apply(LeaveRequested(lane))
            else:
                self.left(lane)
        for move in self._moves.values():
            if move.before is not None:
                move.step = LaneStep.LEAVING

    def _saved(self, uri: str) -> None:
        self._uri = uri

    def left(self, lane: str) -> None:
        """A lane has nothing to do for the old gang any more, or for rollout."""
        self._not_free.discard(lane)
        self._parts.supervisor.ready.discard(lane)

    def step(self) -> None:
        """Go on where that is possible; give up where the cluster does not place lanes in time. Raises
        `TrainerChangeError` when the new processes do not come up."""
        if self._stage is _Stage.SAVING and self._uri and not self._not_free and not self._parts.is_publishing():
            self._start()
        elif self._is_overdue:
            self._fail(f"the cluster did not place the new trainer lanes within {PLACEMENT_TIMEOUT_SECONDS:.0f} s")

    def _start(self) -> None:
        """End the old processes, and start the new ones that are not up yet."""
        self._stage = _Stage.STARTING
        self._checkpoint_seconds = self._watch.lap()
        self._deadline = time.monotonic() + PLACEMENT_TIMEOUT_SECONDS
        lanes, located = self._parts.lanes, {}
        for lane in self._before:
            if lane not in self._after:
                lanes.kill(lane)
        for lane in self._after:
            move = self._moves.get(lane)
            if move is not None:
                move.step = LaneStep.STARTING
            if move is None or move.before is not None:
                # Calls of a process that is about to end, such as a load after a restart, are dropped.
                self._parts.supervisor.forget(lane)
                lanes.replace_actor(lane, LaneRole.TRAINER)
                located[lane] = lanes[lane].actor.location.remote()
        if located:
            self._parts.calls.start(LaneWork.START, located, self._up, otherwise=self._fail)
        else:
            self._up({})

    def _up(self, reports: Reports) -> None:
        self._parts.supervisor.located(reports)
        self._deadline = float("inf")
        self._parts.gang.lanes = list(self._after)
        self._parts.supervisor.load_gang(self._loaded, self._fail)

    def _loaded(self, reports: Reports) -> None:
        self._start_seconds = self._watch.lap()
        self._parts.gang.load_checkpoint([self._uri], self._restored, otherwise=self._fail)

    def _restored(self, restored: RestoredCheckpoint, behaviour: RemoteVersion | None) -> None:
        """Let the new gang join. `behaviour` is still published: the driver has lived on."""
        self._stage = _Stage.ENDED
        seconds = TrainerChangeSeconds(
            checkpoint=self._checkpoint_seconds, start=self._start_seconds, restore=self._watch.lap()
        )
        self._parts.spans.gang_replaced(self._after)
        for lane in self._after:
            self._parts.supervisor.ready.add(lane)
            self._parts.spans.returned(lane)
            self._parts.apply(LaneJoined(lane, LaneRole.TRAINER, None))
            if lane in self._moves:
                self._moves[lane].settle(LaneStep.JOINED)
        self._parts.apply(TrainerReleased())
        self._parts.apply(Measured(GANG, CostKind.START, seconds.start))
        self._parts.apply(Measured(GANG, CostKind.RESTORE, seconds.restore))
        self._on_done(seconds)

    # --- when it goes wrong -----------------------------------------------------------------------------------------

    def _fail(self, reason: str) -> None:
        if self.has_begun:
            raise TrainerChangeError(reason)
        self.cancel(reason)

    def lost(self, lane: str, reason: str) -> bool:
        """A lane has died; returns whether that is dealt with. Raises `TrainerChangeError` for a lane that was to come
        to the gang and has left its role."""
        if self._stage is _Stage.WAITING and lane in self._moves and self._moves[lane].before is None:
            self.cancel(f"lane `{lane}` was lost: {reason}")
            return True
        if self.has_begun and lane in self._moves and self._moves[lane].before is not LaneRole.TRAINER:
            raise TrainerChangeError(f"lane `{lane}` was lost: {reason}")
        return False

    def cancel(self, reason: str) -> None:
        """Give the change up; the old gang stays. Once the change has begun, the caller restarts that from the last
        checkpoint."""
        self._stage = _Stage.ENDED
        self._parts.gang.lanes = list(self._before)
        for lane, move in self._moves.items():
            if move.before is None:
                self._parts.supervisor.forget(lane)
                self._parts.lanes.remove(lane)
                self._parts.spans.removed(lane)
                self._not_placed.discard(lane)
                move.settle(LaneStep.GIVEN_UP, reason)
            else:
                if self._parts.lanes.role(lane) is not move.before:
                    self._parts.lanes.replace_actor(lane, move.before)
                self._parts.spans.returned(lane)
                move.settle(LaneStep.KEPT, reason)
        for lane in self._before:
            self._parts.spans.returned(lane)
