"""The simulator: the scheduler of a real run, on a virtual clock, with lanes that only take time.

    scheduler ── next_actions ──► agenda: (when it will be done, its answer) ── the clock jumps to the next ──► apply

Costs come from a table of the kind that a run learns itself. The spans are those that a real run writes, so a plan is
drawn and graded like one. Invariant: nothing but the costs and the scheduler's own choices decides the outcome; the
same input gives the same spans.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Role
from worker.contracts.spans import Span, SpanKind
from worker.pipeline.costs import GANG, Cost, CostKind, CostTable
from worker.pipeline.packing import num_micro_batches
from worker.pipeline.scheduler import Scheduler
from worker.pipeline.spans import SpanRecorder, Work
from worker.pipeline.types import (
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
    Lend,
    LendSettled,
    Publish,
    Published,
    Pull,
    Pulled,
    Score,
    Scored,
    Switch,
    Switched,
)

_FREE_OF_CHARGE = frozenset({CostKind.PULL, CostKind.LEND, CostKind.RECLAIM, CostKind.COMMIT, CostKind.PUBLISH})
"""Kinds of work that take no time where the table does not name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedLane:
    lane: str
    role: Role
    start_up_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Appointment:
    """What will have happened; `lanes` are at work until then."""

    event: Event
    lanes: tuple[str, ...]


class Simulator:
    """Plays one run to its end; use once."""

    def __init__(
        self,
        scheduler: Scheduler,
        algebra: BatchAlgebra,
        lanes: Iterable[SimulatedLane],
        costs: CostTable,
        emit: Callable[[Span], None],
        *,
        tsp: bool = True,
        vary: Callable[[float], float] = lambda seconds: seconds,
        observe: Callable[[Event, float], None] = lambda event, at: None,
    ) -> None:
        """
        Args:
            costs: in the units of `CostKind`; pulling, switching, committing and publishing are free where unnamed.
            vary: turns an expected duration into the one that happens.
            observe: called with each event and its virtual time.

        Raises:
            ValueError: where a role has no lane, or work no cost: the run would never end.
        """
        self._scheduler = scheduler
        self._algebra = algebra
        self._lanes = {lane.lane: lane for lane in lanes}
        self._costs = costs
        self._tsp = tsp
        self._vary = vary
        self._observe = observe
        self._recorder = SpanRecorder(emit, scheduler.idle_cause)
        self._agenda: list[tuple[float, int, _Appointment]] = []
        self._num_appointments = 0
        self._trainers = tuple(name for name, lane in self._lanes.items() if lane.role is Role.TRAINER)
        for role in {scheduler.generators, Role.TRAINER, Role.REWARD}:
            if all(lane.role is not role for lane in self._lanes.values()):
                raise ValueError(f"`lanes` must hold at least one {role} lane, got none: the run would wait forever")

    def run(self) -> float:
        """The virtual seconds from the start of the lanes to the end of the run."""
        now = 0.0
        for lane in self._lanes.values():
            self._recorder.lane_started(lane.lane, now)
            self._appoint(self._joins_at(lane), _Appointment(LaneJoined(lane.lane, lane.role, None), ()))
        while not self._scheduler.is_finished:
            now = self._advance()
        self._recorder.stop_all(now)
        return now

    def _advance(self) -> float:
        """Jump to the next moment at which anything happens, and let the scheduler react to all of it."""
        now = self._agenda[0][0]
        while self._agenda and self._agenda[0][0] == now:
            appointment = heapq.heappop(self._agenda)[2]
            for lane in appointment.lanes:
                self._recorder.ended(lane, now)
            self._scheduler.apply(appointment.event, now)
            self._observe(appointment.event, now)
        for action in self._scheduler.next_actions(now):
            self._begin(action, now)
        self._recorder.settle(now)
        return now

    def _joins_at(self, lane: SimulatedLane) -> float:
        """Trainer lanes form one process group, so each waits until the last of them is up."""
        if lane.role is not Role.TRAINER:
            return lane.start_up_seconds
        return max(self._lanes[name].start_up_seconds for name in self._trainers)

    def _appoint(self, at: float, appointment: _Appointment) -> None:
        self._num_appointments += 1
        heapq.heappush(self._agenda, (at, self._num_appointments, appointment))

    def _begin(self, action: Action, now: float) -> None:
        match action:
            case Pull(lane, version):
                seconds = self._seconds(lane, CostKind.PULL)
                self._occupy((lane,), SpanKind.PULL, Work(policy_version=version), now, seconds, Pulled(lane, version))
            case Switch(lane, to):
                kind = CostKind.LEND if to is Role.ROLLOUT else CostKind.RECLAIM
                self._occupy((lane,), SpanKind.SWITCH, Work(), now, self._seconds(lane, kind), Switched(lane, to))
            case Generate(lane, fragment):
                is_lent = self._lanes[lane].role is not self._scheduler.generators
                span = SpanKind.LENT_GENERATE if is_lent else SpanKind.GENERATE
                self._work_on(lane, CostKind.GENERATE, span, fragment, now, Generated(lane, fragment.key))
            case Score(lane, fragment):
                # Rewards do not matter to time: a constant stands for all.
                event = Scored(lane, fragment.key, (0.0,) * len(fragment.members))
                self._work_on(lane, CostKind.SCORE, SpanKind.SCORE, fragment, now, event)
            case Accumulate() | Commit() | Publish():
                self._begin_gang(action, now)
            case EvaluationComplete() | Lend() | LendSettled():
                pass

    def _begin_gang(self, action: Accumulate | Commit | Publish, now: float) -> None:
        match action:
            case Accumulate(batch, minibatch, epoch, groups):
                num_ranks = len(self._trainers)
                num_units = num_micro_batches(self._algebra, len(groups), world_size=num_ranks, tsp=self._tsp)
                work = Work(batch=batch, num_samples=len(groups) * self._algebra.group_size)
                seconds = self._seconds(GANG, CostKind.ACCUMULATE, num_units)
                event: Event = Accumulated(batch, minibatch, epoch, groups)
                self._occupy(self._trainers, SpanKind.TRAIN, work, now, seconds, event)
            case Commit(batch, minibatch, epoch):
                seconds, event = self._seconds(GANG, CostKind.COMMIT), Committed(batch, minibatch, epoch)
                self._occupy(self._trainers, SpanKind.TRAIN, Work(batch=batch), now, seconds, event)
            case Publish(batch, version):
                work = Work(batch=batch, policy_version=version)
                seconds = self._seconds(GANG, CostKind.PUBLISH)
                self._occupy(self._trainers, SpanKind.PUBLISH, work, now, seconds, Published(version))

    def _work_on(self, lane: str, cost: CostKind, span: SpanKind, fragment: Fragment, now: float, event: Event) -> None:
        key, num_samples = fragment.key, len(fragment.members)
        num_fragments_per_group = self._algebra.num_fragments // self._algebra.num_groups
        work = Work(
            batch=key.batch,
            group=key.group,
            fragment=key.group * num_fragments_per_group + key.index,
            policy_version=fragment.policy_version,
            num_samples=num_samples,
        )
        self._occupy((lane,), span, work, now, self._seconds(lane, cost, num_samples), event)

    def _seconds(self, lane: str, kind: CostKind, num_units: int = 1) -> float:
        cost = self._costs.get((lane, kind))
        if cost is None:
            if kind not in _FREE_OF_CHARGE:
                raise ValueError(f"`costs` must name {kind} on `{lane}`: nothing tells how long it takes")
            cost = Cost()
        return self._vary(cost.seconds(num_units))

    def _occupy(
        self, lanes: tuple[str, ...], kind: SpanKind, work: Work, now: float, seconds: float, event: Event
    ) -> None:
        for lane in lanes:
            self._recorder.began(lane, kind, now, work)
        self._appoint(now + seconds, _Appointment(event, lanes))
