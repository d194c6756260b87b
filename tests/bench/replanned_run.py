"""A simulated run that was planned on wrong costs, measures, re-plans at batch boundaries and goes on.

    plan on `believed` costs ─► simulator on `true` costs ─► costs measured ─► decision ─► lanes moved, switches revised

Everything but the clock is what a real run uses: planner, scheduler, cost model, cadence, decision. A decision is made
from what was known when a version was published and carried out when the next batch is trained, since planning takes
time. Lanes are named by their index in `true`, and those of `late` join while the run works.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.bench.robust_case import RobustCase, restricted, slowed
from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import MeasuredCostTable
from worker.scheduling.core.messages import AdmissionClosed, AdmissionOpened, Event, LaneJoined, Published, Snapshotted
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.planning.candidate_simulation import Candidate
from worker.scheduling.planning.cost_estimates import lane_name, reward_lane_name
from worker.scheduling.planning.planner import make_plan
from worker.scheduling.replanning.cadence import Cadence
from worker.scheduling.replanning.decision import Decision, Situation, decide
from worker.scheduling.replanning.run_costs import run_costs
from worker.scheduling.replanning.run_lanes import RunLanes
from worker.scheduling.simulator.gang_change import GangChange
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a run works."""

    lanes: tuple[int, ...]
    """Indices, in the true costs, of the lanes that it has."""
    candidate: Candidate
    """Its trainers are numbered among `lanes`."""


@dataclass(slots=True)
class RunResult:
    """What a run took."""

    published: list[float] = field(default_factory=list)
    """When each batch was published."""
    ways: list[tuple[int, Way]] = field(default_factory=list)
    """(Number of the batch, from 1, that was the first to be trained so, way of working), in order."""
    moving: list[tuple[float, float]] = field(default_factory=list)
    """(from, until) of each change of the trainer lanes."""
    decisions: list[tuple[int, Decision]] = field(default_factory=list)
    """(Batches complete, decision) of those that changed something."""
    deciding_seconds: list[float] = field(default_factory=list)
    """CPU seconds of each decision."""

    @property
    def move_seconds(self) -> float:
        """Seconds in which training stood still for other trainer lanes."""
        return sum(until - start for start, until in self.moving)

    def way_of(self, batch: int) -> Way:
        """How batch number `batch`, from 1, was trained."""
        return [way for first, way in self.ways if first <= batch][-1]

    def batch_seconds(self, first: int) -> float:
        """Mean seconds of the batches from number `first` (from 1, at least 2) on."""
        return (self.published[-1] - self.published[first - 2]) / (len(self.published) - first + 1)


class ReplannedRun:
    """Simulates one case; use once."""

    def __init__(self, case: RobustCase, candidate: Candidate, *, replans: bool) -> None:
        """
        Args:
            candidate: how the run begins, on the lanes of the start in order.
            replans: whether it may change anything.
        """
        self._case, self._replans, self._present = case, replans, candidate
        self._can_lend = candidate.pipeline.trainers_generate
        self._true = case.true
        self._lanes = list(case.lanes_at_the_start)
        self._costs = dict(self._true.cost_table(self._global(candidate.trainers)))
        self.result = RunResult()
        self.result.ways.append((1, Way(lanes=tuple(self._lanes), candidate=candidate)))
        self._pending: Decision | None = None
        self._cadence = Cadence()
        work = case.believed.work.with_fragment_size(candidate.fragment_size)
        self._scheduler = Scheduler(
            work.algebra,
            candidate.pipeline,
            advantage_std=case.believed.advantage_std,
            first_batch=0,
            num_batches=case.num_batches + candidate.pipeline.max_staleness,
            policy_version=0,
            prior=case.believed.costs.cost_table(self._global(candidate.trainers)),
            lending_policy=lending_policy(candidate.pipeline),
            lends_together=work.zero_stage == 3,
            equal_counts=case.true.equal_counts,
        )
        roles = {lane_name(lane): LaneRole.ROLLOUT for lane in self._lanes}
        roles |= {lane_name(lane): LaneRole.TRAINER for lane in self._global(candidate.trainers)}
        roles |= {reward_lane_name(lane): LaneRole.REWARD for lane in range(case.true.num_reward)}
        self._simulator = Simulator(
            self._scheduler,
            [SimulatedLane(lane=lane, role=role) for lane, role in roles.items()],
            self._costs,
            None,
            vary=case.vary() if case.vary else lambda seconds: seconds,
            observe=self._observe,
            incidents=case.incidents,
        )

    def run(self) -> RunResult:
        self._simulator.run()
        # The last batches have none after them to overlap with.
        self.result.published = self.result.published[: self._case.num_batches]
        return self.result

    def _global(self, places: Sequence[int]) -> tuple[int, ...]:
        """Indices in `true` of lanes that are numbered among the present ones."""
        return tuple(self._lanes[place] for place in places)

    def _observe(self, event: Event, at: float) -> None:
        if isinstance(event, Published):
            self.result.published.append(at)
            self._happen(len(self.result.published), at)
            costs = self._scheduler.state.costs
            self._cadence.completed(len(self.result.published), at, is_in_doubt=costs.is_in_doubt)
            measured = costs.measured()
            if self._replans and self._pending is None and self._cadence.is_due(self._roles, measured):
                self._decide(measured)
        elif isinstance(event, Snapshotted) and self._pending is not None:
            if self._pending.drains and self._scheduler.state.has_open_batch:
                return
            self._carry_out(self._pending, at)
        elif isinstance(event, LaneJoined) and event.role is LaneRole.TRAINER and self.result.moving:
            start, until = self.result.moving[-1]
            self.result.moving[-1] = (start, max(until, at))

    # --- what happens to the run ------------------------------------------------------------------------------------

    def _happen(self, batch: int, at: float) -> None:
        """Slow lanes down, and let others join and leave, as the case says for the end of this batch."""
        lanes = list(self._true.lanes)
        for lane, factor in self._case.slower.get(batch, {}).items():
            lanes[lane] = slowed(lanes[lane], factor)
        self._true = replace(self._true, lanes=tuple(lanes))
        joining = self._case.late.get(batch, ())
        for lane in joining:
            self._simulator.start(SimulatedLane(lane=lane_name(lane), role=LaneRole.ROLLOUT), at)
        self._lanes += joining
        leaving = self._case.leaving.get(batch, ())
        for lane in leaving:
            self._simulator.release(lane_name(lane), at)
        self._keep([lane for lane in self._lanes if lane not in leaving])
        if joining or leaving:
            self._note_way(batch + 1)
        self._costs.update(self._true.cost_table(self._global(self._present.trainers)))

    # --- what the run does about it ---------------------------------------------------------------------------------

    @property
    def _roles(self) -> dict[str, LaneRole]:
        return {
            lane_name(lane): LaneRole.TRAINER if place in self._present.trainers else LaneRole.ROLLOUT
            for place, lane in enumerate(self._lanes)
        }

    def _decide(self, measured: MeasuredCostTable) -> None:
        started = time.process_time()
        self._cadence.asked(self._roles, measured)
        request = restricted(self._case.believed, self._lanes)
        lanes = RunLanes(
            names=tuple(lane_name(lane) for lane in self._lanes),
            trainers=frozenset(self._present.trainers),
            rewards=tuple(reward_lane_name(lane) for lane in range(self._true.num_reward)),
        )
        known = run_costs(request.costs, measured, lanes, kinds=request.devices)
        decision = decide(
            Situation(
                request=replace(request, costs=known.pool),
                present=self._present,
                can_lend=self._can_lend,
                batches_left=self._case.batches_left,
                move_seconds=2 * self._case.save_seconds + self._case.start_seconds,
                num_changes=self._cadence.num_changes,
                relative_error=known.relative_error,
                speeds=known.speeds,
            )
        )
        self.result.deciding_seconds.append(time.process_time() - started)
        if decision.is_change:
            self._pending = decision
            if decision.drains and self._scheduler.state.has_open_batch:
                self._scheduler.apply(AdmissionClosed(), self.result.published[-1])
        else:
            self._cadence.stays(decision.batch_seconds)

    def _carry_out(self, decision: Decision, at: float) -> None:
        self._pending = None
        batch, before, after = len(self.result.published), self._present, decision.candidate
        self.result.decisions.append((batch, decision))
        only_switches = not decision.renews_gang and after.fragment_size == before.fragment_size
        self._cadence.changed(batch, decision.batch_seconds, only_switches=only_switches)
        self._scheduler.revise(after.pipeline, after.fragment_size, lending_policy(after.pipeline))
        if not self._scheduler.state.admission.is_open:
            self._scheduler.apply(AdmissionOpened(), at)
        trainers = self._global([lane for lane in after.trainers if lane not in decision.release])
        released = self._global(decision.release)
        if decision.renews_gang:
            self._can_lend = after.pipeline.trainers_generate
            self.result.moving.append((at, at))
            change = GangChange(
                trainers=tuple(map(lane_name, trainers)),
                released=tuple(map(lane_name, released)),
                save_seconds=self._case.save_seconds,
                start_seconds=self._case.start_seconds,
                restore_seconds=self._case.save_seconds,
            )
            self._simulator.change_gang(change, at)
        for lane in set(released) - set(self._global(before.trainers)):
            self._simulator.release(lane_name(lane), at)
        self._present = after
        self._keep([lane for lane in self._lanes if lane not in released])
        self._costs.update(self._true.cost_table(trainers))
        # The batch after the one that was just trained is the first of the new plan.
        self._note_way(batch + 2)

    def _keep(self, lanes: list[int]) -> None:
        """Go on with these of the present lanes."""
        trainers = self._global(self._present.trainers)
        self._lanes = lanes
        places = tuple(place for place, lane in enumerate(lanes) if lane in trainers)
        self._present = replace(self._present, trainers=places)

    def _note_way(self, first: int) -> None:
        self.result.ways.append((first, Way(lanes=tuple(self._lanes), candidate=self._present)))


def first_plan(case: RobustCase) -> Candidate:
    """The plan on believed costs, for the lanes that the run begins with."""
    request = restricted(case.believed, case.lanes_at_the_start)
    return make_plan(request, only_best=True).best.split_result.candidate


def settled_seconds(case: RobustCase, way: Way, num_batches: int) -> float:
    """Mean seconds of a batch of a run that works so all the time, on what is true in the end."""
    believed = case.truth_of(way.lanes)
    # The first batches of a run at staleness 1 fill its pipeline.
    alone = RobustCase(believed=believed, true=believed.costs, num_batches=num_batches + 2, vary=case.vary)
    return ReplannedRun(alone, way.candidate, replans=False).run().batch_seconds(3)
