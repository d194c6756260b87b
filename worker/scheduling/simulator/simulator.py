"""The simulator: the scheduler of a real run on a virtual clock, with lanes whose work only takes time.

    scheduler ── next_actions ──► event queue: (when the action ends, its answer) ── clock jumps to the next ──► apply

Costs come from a table of the kind that a run measures. The spans are those of a real run, so a plan is drawn on the
same timeline and compared with the run that followed it. Invariant: nothing but the costs and the scheduler's decisions
determines the outcome; the same input gives the same spans. Rollout and reward lanes may come and go at given times;
trainer lanes change by `change_gang` alone, at the end of a batch: a gang that loses one restarts from its checkpoint,
which is another run.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from worker.contracts.names import LaneRole
from worker.contracts.spans import Span, SpanKind
from worker.scheduling.core.costs import GANG, CostKind, CostTable
from worker.scheduling.core.messages import (
    Accumulate,
    Accumulated,
    Action,
    Commit,
    Committed,
    EvaluationComplete,
    Event,
    Fragment,
    Generate,
    Generated,
    LaneJoined,
    LaneLost,
    Leave,
    LeaveRequested,
    Lend,
    LendSettled,
    Publish,
    Published,
    Pull,
    Pulled,
    Score,
    Scored,
    Snapshot,
    Snapshotted,
    Switch,
    Switched,
    TrainerReleased,
    TrainerReserved,
)
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.simulator.durations import Durations, Piece
from worker.scheduling.simulator.gang_change import GangChange, OpenGangChange
from worker.scheduling.simulator.simulated_lanes import Arrival, Incident, Loss, SimulatedLane
from worker.scheduling.timeline.span_recorder import SpanRecorder, Work


@dataclass(slots=True, eq=False)
class _ScheduledEvent:
    """An event that will be applied at its time, unless one of its lanes is lost before."""

    event: Event
    lanes: tuple[str, ...]
    """The lanes that are occupied until then."""
    later_spans: tuple[tuple[float, SpanKind, Work], ...] = ()
    """Spans of a lane's call after its first: when each begins, its kind, and its work."""


class Simulator:
    """Simulates one run to its end; use once."""

    def __init__(
        self,
        scheduler: Scheduler,
        lanes: Iterable[SimulatedLane],
        costs: CostTable,
        emit: Callable[[Span], None] | None,
        *,
        vary: Callable[[float], float] = lambda seconds: seconds,
        observe: Callable[[Event, float], None] = lambda event, at: None,
        observe_work: Callable[[SpanKind, Work, float, float], None] = lambda kind, work, start, end: None,
        incidents: Iterable[Incident] = (),
        has_spread: Callable[[Fragment], bool] = lambda fragment: True,
        relative_seconds: Callable[[str, CostKind, Piece], float] = lambda lane, kind, piece: 1.0,
    ) -> None:
        """
        Args:
            costs: see `Durations`, also for `vary` and `relative_seconds`.
            emit: called with each span of each lane once it has ended; `None` for no spans, which saves half of the
                simulation's own time.
            observe: called with each event and its virtual time.
            observe_work: called with each piece of work of each lane when it begins: its kind, the work, and the
                virtual times of its beginning and of its end, unless the lane is lost before.
            incidents: lanes that come and go during the run.
            has_spread: whether the draw of the group that a fragment belongs to has spread.

        Raises:
            ValueError: where a role has no lane or work no cost, so that the run would never end; for a trainer lane
                that comes or goes.
        """
        self._scheduler = scheduler
        self._lanes = {lane.lane: lane for lane in lanes}
        self._seconds = Durations(costs, vary=vary, relative_seconds=relative_seconds).seconds
        self._observe = observe
        self._observe_work = observe_work
        self._has_spread = has_spread
        self._recorder: SpanRecorder | None = None
        if emit is not None:
            self._recorder = SpanRecorder(emit, scheduler.state.idle_cause, scheduler.state.idle_state)
        self._event_queue: list[tuple[float, int, _ScheduledEvent | Incident | OpenGangChange]] = []
        """A heap of (virtual time, ordinal, entry); entries of the same time keep the order in which they came."""
        self._num_entries = 0
        self._occupied: dict[str, _ScheduledEvent] = {}
        """By lane: the event that ends what it does now, joining included."""
        self._in_step: tuple[float, float] | None = None
        """When ranks in step last began to accumulate, and the seconds that it takes all of them."""
        self._change: OpenGangChange | None = None
        self._now: float | None = None
        """Virtual seconds since the start of the lanes; `None` before it."""
        self._trainers = tuple(name for name, lane in self._lanes.items() if lane.role is LaneRole.TRAINER)
        for role in {scheduler.state.generators, LaneRole.TRAINER, LaneRole.REWARD}:
            if all(lane.role is not role for lane in self._lanes.values()):
                raise ValueError(f"`lanes` must hold at least one {role} lane, got none: the run would wait forever")
        for incident in incidents:
            self._check(incident)
            self._push(incident.at, incident)

    def run(self, until: Callable[[], bool] = lambda: False) -> float:
        """Run to the end, or to the first moment when `until` holds; returns the virtual seconds from the start of the
        lanes to then. A later call goes on from there.

        Raises:
            ValueError: for a later call of a simulator that records spans, since those were ended.
        """
        if self._now is None:
            self._now = 0.0
            for lane in self._lanes.values():
                self._start_up(lane, self._now, self._joins_at(lane))
        elif self._recorder is not None:
            raise ValueError("`record` must be absent where a simulation goes on, got one: its spans were ended")
        while not self._scheduler.state.is_finished and not until():
            self._now = self._advance()
        if self._recorder is not None:
            self._recorder.stop_all(self._now)
        return self._now

    def _advance(self) -> float:
        """Jump to the next time with any event, apply all events of that time, and start the actions that follow."""
        if not self._event_queue:
            raise ValueError("`incidents` must leave a lane of each role, got none of one: the run waits forever")
        now = self._event_queue[0][0]
        while self._event_queue and self._event_queue[0][0] == now:
            match heapq.heappop(self._event_queue)[2]:
                case Arrival(lane=lane):
                    self.start(lane, now)
                case Loss(lane=name):
                    self._lose(name, now)
                case OpenGangChange() as change:
                    self._gang_replaced(change, now)
                case _ScheduledEvent() as scheduled:
                    self._end(scheduled, now)
        for action in self._scheduler.next_actions(now):
            self._begin(action, now)
        if self._change is not None and self._change.may_start(self._scheduler.state.publishing):
            self._push(self._change.start(now), self._change)
        if self._recorder is not None:
            self._recorder.settle(now)
        return now

    def _end(self, scheduled: _ScheduledEvent, now: float) -> None:
        """Free the lanes of a scheduled event and apply it, unless its lane was lost."""
        lanes, occupied = scheduled.lanes, self._occupied
        for lane in lanes:
            if occupied.get(lane) is not scheduled:
                return
        for lane in lanes:
            del occupied[lane]
            if self._recorder is not None and not isinstance(scheduled.event, LaneJoined):
                for start, kind, work in scheduled.later_spans:
                    self._recorder.began(lane, kind, start, work)
                self._recorder.ended(lane, now)
        self._apply(scheduled.event, now)

    def _apply(self, event: Event, now: float) -> None:
        self._scheduler.apply(event, now)
        self._observe(event, now)

    # --- lanes that change their role -------------------------------------------------------------------------------

    def change_gang(self, change: GangChange, now: float) -> None:
        """Replace the trainer gang, which has just taken a snapshot: to be called by `observe`."""
        self._scheduler.apply(TrainerReserved(), now)
        leaving = [*self._trainers, *(lane for lane in change.trainers if lane not in self._trainers)]
        self._change = OpenGangChange(change, set(leaving), saved_at=now + change.save_seconds)
        for lane in leaving:
            self._scheduler.apply(LeaveRequested(lane), now)

    def _gang_replaced(self, opened: OpenGangChange, now: float) -> None:
        """The new gang works; lanes that it does without start in the role of a rollout lane, unless released."""
        change, before = opened.change, self._trainers
        self._change, self._trainers = None, change.trainers
        for rank, lane in enumerate(change.trainers):
            self._lanes[lane] = SimulatedLane(lane=lane, role=LaneRole.TRAINER)
            if self._recorder is not None:
                self._recorder.lane_started(lane, now, rank)
            self._apply(LaneJoined(lane, LaneRole.TRAINER, None), now)
        self._scheduler.apply(TrainerReleased(), now)
        for lane in before:
            if lane not in change.trainers and lane not in change.released:
                self._lanes[lane] = SimulatedLane(lane=lane, role=LaneRole.ROLLOUT)
                self._start_up(self._lanes[lane], now, now + change.start_seconds)

    def hold_trainers(self, seconds: float, batch: int, now: float) -> None:
        """Let the trainer gang, which has just taken a snapshot, write a checkpoint: to be called by `observe`."""
        self._scheduler.apply(TrainerReserved(), now)
        self._occupy(self._trainers, SpanKind.CHECKPOINT, Work(batch=batch), now, seconds, TrainerReleased())

    # --- lanes that come and go -------------------------------------------------------------------------------------

    def start(self, lane: SimulatedLane, now: float) -> None:
        """Let a rollout or reward lane start up: to be called by `observe`."""
        self._lanes[lane.lane] = lane
        self._start_up(lane, now, now + lane.start_up_seconds)

    def release(self, lane: str, now: float) -> None:
        """Let a rollout or reward lane leave once it has done what it has begun."""
        self._scheduler.apply(LeaveRequested(lane), now)

    def _start_up(self, lane: SimulatedLane, now: float, joins_at: float) -> None:
        rank = self._trainers.index(lane.lane) if lane.role is LaneRole.TRAINER else None
        if self._recorder is not None:
            self._recorder.lane_started(lane.lane, now, rank)
        self._schedule(joins_at, _ScheduledEvent(LaneJoined(lane.lane, lane.role, None), (lane.lane,)))

    def _lose(self, lane: str, now: float) -> None:
        """Remove a lane. The scheduler does not know of a lane that is still starting up."""
        self._stop_spans(lane, now)
        scheduled = self._occupied.pop(lane, None)
        if scheduled is None or not isinstance(scheduled.event, LaneJoined):
            self._apply(LaneLost(lane), now)

    def _stop_spans(self, lane: str, now: float) -> None:
        if self._recorder is not None:
            self._recorder.lane_stopped(lane, now)

    def _check(self, incident: Incident) -> None:
        lane = incident.lane if isinstance(incident, Arrival) else self._lanes.get(incident.lane)
        if lane is not None and lane.role is LaneRole.TRAINER:
            raise ValueError(
                f"`incidents` must not name trainer lanes, got `{lane.lane}` at {incident.at}: "
                "the gang would restart from its checkpoint, which is another run"
            )

    def _joins_at(self, lane: SimulatedLane) -> float:
        """When a lane of the start joins; trainer lanes form one process group, so they join with the last of them."""
        if lane.role is not LaneRole.TRAINER:
            return lane.start_up_seconds
        return max(self._lanes[name].start_up_seconds for name in self._trainers)

    def _schedule(self, at: float, scheduled: _ScheduledEvent) -> None:
        for lane in scheduled.lanes:
            self._occupied[lane] = scheduled
        self._push(at, scheduled)

    def _push(self, at: float, entry: _ScheduledEvent | Incident | OpenGangChange) -> None:
        self._num_entries += 1
        heapq.heappush(self._event_queue, (at, self._num_entries, entry))

    # --- actions ----------------------------------------------------------------------------------------------------

    def _begin(self, action: Action, now: float) -> None:
        match action:
            case Pull(lane, version):
                seconds = self._seconds(lane, CostKind.PULL, action)
                self._occupy((lane,), SpanKind.PULL, Work(policy_version=version), now, seconds, Pulled(lane, version))
            case Switch(lane, to):
                kind = CostKind.LEND if to is LaneRole.ROLLOUT else CostKind.RECLAIM
                self._occupy(
                    (lane,), SpanKind.SWITCH, Work(), now, self._seconds(lane, kind, action), Switched(lane, to)
                )
            case Generate():
                self._generate(action, now)
            case Score(lane, fragment):
                # The schedule does not depend on the rewards' values, only on whether a group's differ.
                event = Scored(lane, fragment.key, (0.0,) * len(fragment.members), self._has_spread(fragment))
                seconds = self._seconds(lane, CostKind.SCORE, fragment, len(fragment.members))
                self._occupy((lane,), SpanKind.SCORE, self._work_of(fragment), now, seconds, event)
            case Accumulate():
                self._accumulate(action, now)
            case Commit() | Snapshot():
                self._begin_gang(action, now)
            case Publish(_, version):
                seconds = self._seconds(GANG, CostKind.PUBLISH, action)
                self._schedule(now + seconds, _ScheduledEvent(Published(version), ()))
            case Leave(lane):
                self._stop_spans(lane, now)
                if self._change is not None:
                    self._change.left(lane)
            case EvaluationComplete() | Lend() | LendSettled():
                pass

    def _accumulate(self, action: Accumulate, now: float) -> None:
        """Ranks that must take equally many micro-batches begin at once and end at once, with the slowest of them."""
        lane, batch = action.lane, action.batch
        num_units = len(action.micro_batches) + action.num_padding
        if not self._scheduler.state.equal_counts:
            seconds = self._seconds(lane, CostKind.ACCUMULATE, action, num_units)
        else:
            if self._in_step is None or self._in_step[0] != now:
                self._in_step = now, self._seconds(GANG, CostKind.ACCUMULATE, action, num_units)
            seconds = self._in_step[1]
        event = Accumulated(lane, batch, action.minibatch, action.epoch, action.micro_batches)
        self._occupy((lane,), SpanKind.TRAIN, Work(batch=batch, num_units=num_units), now, seconds, event)

    def _begin_gang(self, action: Commit | Snapshot, now: float) -> None:
        match action:
            case Commit(batch, minibatch, epoch):
                event: Event
                seconds, event = self._seconds(GANG, CostKind.COMMIT, action), Committed(batch, minibatch, epoch)
                self._occupy(self._trainers, SpanKind.TRAIN, Work(batch=batch), now, seconds, event)
            case Snapshot(batch, version):
                work = Work(batch=batch, policy_version=version)
                seconds = self._seconds(GANG, CostKind.SNAPSHOT, action)
                self._occupy(self._trainers, SpanKind.PUBLISH, work, now, seconds, Snapshotted(version))

    def _generate(self, action: Generate, now: float) -> None:
        """A call takes as long as its fragments, whose cost is their share of calls such as this."""
        lane, end = action.lane, now
        is_lent = self._lanes[lane].role is not self._scheduler.state.generators
        kind = SpanKind.LENT_GENERATE if is_lent else SpanKind.GENERATE
        spans: list[tuple[float, SpanKind, Work]] = []
        for fragment in action.fragments:
            start, work = end, self._work_of(fragment)
            end = start + self._seconds(lane, CostKind.GENERATE, fragment, len(fragment.members))
            self._observe_work(kind, work, start, end)
            spans.append((start, kind, work))
        if self._recorder is not None:
            self._recorder.began(lane, kind, now, spans[0][2])
        event = Generated(lane, tuple(fragment.key for fragment in action.fragments))
        self._schedule(end, _ScheduledEvent(event, (lane,), tuple(spans[1:])))

    def _work_of(self, fragment: Fragment) -> Work:
        key, num_samples = fragment.key, len(fragment.members)
        return Work(
            batch=key.batch,
            group=key.group,
            fragment=key.index,
            policy_version=fragment.policy_version,
            num_samples=num_samples,
            num_units=num_samples,
        )

    def _occupy(
        self, lanes: tuple[str, ...], kind: SpanKind, work: Work, now: float, seconds: float, event: Event
    ) -> None:
        """Let lanes work for `seconds` from `now` on, in a span of `kind`, after which `event` is applied."""
        for lane in lanes:
            self._observe_work(kind, work, now, now + seconds)
            if self._recorder is not None:
                self._recorder.began(lane, kind, now, work)
        self._schedule(now + seconds, _ScheduledEvent(event, lanes))
