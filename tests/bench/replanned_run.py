"""A simulated run that was planned on wrong costs, measures, re-plans at batch boundaries and goes on.

    plan on `believed` costs ─► simulator on `true` costs ─► costs measured ─► decision ─► lanes moved, switches revised

Everything but the clock is what a real run uses: planner, scheduler, cost model, decision. A decision is made from what
was known when a version was published and carried out when the next batch is trained, since planning takes time.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.messages import Event, LaneJoined, Published, Snapshotted
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.planning.candidate_simulation import Candidate
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts, lane_name, reward_lane_name
from worker.scheduling.planning.planner import PlanRequest, make_plan
from worker.scheduling.replanning.cadence import Cadence
from worker.scheduling.replanning.replanner import Decision, Situation, decide
from worker.scheduling.replanning.run_costs import RunLanes, run_costs
from worker.scheduling.simulator.gang_change import GangChange
from worker.scheduling.simulator.simulator import Incident, SimulatedLane, Simulator


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustCase:
    """One run: what was believed, and what is true."""

    believed: PlanRequest
    true: PoolCosts
    start_seconds: float = 60.0
    """Start of processes until the model is loaded."""
    save_seconds: float = 5.0
    """Writing a checkpoint, or reading it."""
    num_batches: int = 12
    batches_left: int = 50
    """Batches that decisions count on; the simulation ends before, since the rest would only repeat."""
    slower: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    """By number of batches completed: by lane, the factor by which it is slower from then on."""
    vary: Callable[[float], float] = lambda seconds: seconds
    incidents: Sequence[Incident] = ()

    def with_costs(self, costs: PoolCosts) -> PlanRequest:
        return replace(self.believed, costs=costs)


@dataclass(slots=True)
class RunResult:
    """What a run took."""

    candidate: Candidate
    """The first way of working."""
    published: list[float] = field(default_factory=list)
    """When each batch was published."""
    moving: list[tuple[float, float]] = field(default_factory=list)
    """(from, until) of each change of the trainer lanes."""
    decisions: list[tuple[int, Decision]] = field(default_factory=list)
    """(Batches complete, decision) of those that changed something."""
    deciding_seconds: list[float] = field(default_factory=list)
    """CPU seconds of each decision."""

    @property
    def move_seconds(self) -> float:
        return sum(until - start for start, until in self.moving)

    def batch_seconds(self, first: int) -> float:
        """Mean seconds of the batches from number `first` (from 1) on, changes of the trainer lanes left out."""
        start, end = self.published[first - 2], self.published[-1]
        moved = sum(max(0.0, min(until, end) - max(since, start)) for since, until in self.moving)
        return (end - start - moved) / (len(self.published) - first + 1)


class ReplannedRun:
    """Simulates one case; `replans` says whether it may change anything, `candidate` how it begins."""

    def __init__(self, case: RobustCase, *, replans: bool, candidate: Candidate | None = None) -> None:
        self._case, self._replans = case, replans
        self._request = case.believed
        if candidate is None:
            candidate = make_plan(case.believed, only_best=True).best.split_result.candidate
        self._present, self._can_lend = candidate, candidate.pipeline.trainers_generate
        self._true = case.true
        self._lanes = list(range(len(case.true.lanes)))
        self._costs = dict(self._true.cost_table(candidate.trainers))
        self.result = RunResult(candidate)
        self._pending: Decision | None = None
        self._cadence = Cadence()
        work = case.believed.work.with_fragment_size(candidate.fragment_size)
        self._work = work
        self._scheduler = Scheduler(
            work.algebra,
            candidate.pipeline,
            advantage_std=case.believed.advantage_std,
            first_batch=0,
            num_batches=case.num_batches + candidate.pipeline.max_staleness,
            policy_version=0,
            prior=case.believed.costs.cost_table(candidate.trainers),
            lending_policy=lending_policy(candidate.pipeline),
            lends_together=work.zero_stage == 3,
            equal_counts=case.true.equal_counts,
        )
        roles = {lane_name(lane): LaneRole.ROLLOUT for lane in self._lanes}
        roles |= {lane_name(lane): LaneRole.TRAINER for lane in candidate.trainers}
        roles |= {reward_lane_name(lane): LaneRole.REWARD for lane in range(case.true.num_reward)}
        self._simulator = Simulator(
            self._scheduler,
            work.algebra,
            [SimulatedLane(lane=lane, role=role) for lane, role in roles.items()],
            self._costs,
            lambda span: None,
            vary=case.vary,
            observe=self._observe,
            incidents=case.incidents,
            with_idle_causes=False,
        )

    def run(self) -> RunResult:
        self._simulator.run()
        extra = self._present.pipeline.max_staleness
        self.result.published = self.result.published[: len(self.result.published) - extra]
        return self.result

    def _observe(self, event: Event, at: float) -> None:
        if isinstance(event, Published):
            self.result.published.append(at)
            self._slow_down(len(self.result.published))
            self._cadence.completed(len(self.result.published), at)
            if self._replans and self._pending is None and self._cadence.is_due({}):
                self._decide()
        elif isinstance(event, Snapshotted) and self._pending is not None:
            self._carry_out(self._pending, at)
        elif isinstance(event, LaneJoined) and event.role is LaneRole.TRAINER and self.result.moving:
            start, until = self.result.moving[-1]
            self.result.moving[-1] = (start, max(until, at))

    def _decide(self) -> None:
        started = time.process_time()
        self._cadence.asked({})
        lanes = RunLanes(
            names=tuple(lane_name(lane) for lane in self._lanes),
            trainers=frozenset(self._present.trainers),
            rewards=tuple(reward_lane_name(lane) for lane in range(self._true.num_reward)),
        )
        known = run_costs(
            self._request.costs, self._scheduler.state.costs.measured(), lanes, kinds=self._request.devices
        )
        situation = Situation(
            request=replace(self._request, costs=known.pool, fragment_sizes=(self._present.fragment_size,)),
            present=self._present,
            can_lend=self._can_lend,
            batches_left=self._case.batches_left,
            move_seconds=2 * self._case.save_seconds + self._case.start_seconds,
            relative_error=known.relative_error,
            speeds=known.speeds,
        )
        decision = decide(situation)
        self.result.deciding_seconds.append(time.process_time() - started)
        if decision.is_change:
            self._pending = decision

    def _carry_out(self, decision: Decision, at: float) -> None:
        self._pending = None
        self.result.decisions.append((len(self.result.published), decision))
        self._cadence.changed(
            len(self.result.published), decision.batch_seconds, moves_trainers=decision.moves_trainers
        )
        if decision.candidate.pipeline != self._present.pipeline:
            self._scheduler.revise(decision.candidate.pipeline, lending_policy(decision.candidate.pipeline))
        trainers = [lane for lane in decision.candidate.trainers if lane not in decision.release]
        if decision.moves_trainers:
            self._can_lend = decision.candidate.pipeline.trainers_generate
            self._costs.update(self._true.cost_table(decision.candidate.trainers))
            self.result.moving.append((at, at))
            change = GangChange(
                trainers=tuple(self._name(lane) for lane in trainers),
                released=tuple(self._name(lane) for lane in decision.release),
                save_seconds=self._case.save_seconds,
                start_seconds=self._case.start_seconds,
                restore_seconds=self._case.save_seconds,
            )
            self._simulator.change_gang(change, at)
        for lane in decision.release:
            if lane not in self._present.trainers:
                self._simulator.release(self._name(lane), at)
        self._present = decision.candidate

    def _name(self, index: int) -> str:
        return lane_name(self._lanes[index])

    def _slow_down(self, batch: int) -> None:
        if batch not in self._case.slower:
            return
        lanes = list(self._true.lanes)
        for lane, factor in self._case.slower[batch].items():
            lanes[lane] = slowed(lanes[lane], factor)
        self._true = replace(self._true, lanes=tuple(lanes))
        self._costs.update(self._true.cost_table(self._present.trainers))


def slowed(lane: LaneCosts, factor: float) -> LaneCosts:
    """The lane with `factor` times the seconds of generation and training."""
    return replace(lane, generate=lane.generate.scaled(factor), accumulate=lane.accumulate.scaled(factor))


__all__ = ["CostKind", "ReplannedRun", "RobustCase", "RunResult", "slowed"]
