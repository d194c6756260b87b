"""Predicts a candidate plan by simulation: the scheduler of a real run on the simulator's clock.

Invariant: batches are measured from one publish to a later one while the run still goes on, so that neither its first
seconds, where they differ from later ones, nor its end is counted.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from worker.contracts.names import LaneRole
from worker.contracts.sections import PipelineSpec
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.scheduling.core.costs import ConservativeCost
from worker.scheduling.core.messages import Event, Fragment, FragmentKey, Published, Purpose
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy, search_size
from worker.scheduling.planning.bounds import generation_share, scoring_seconds
from worker.scheduling.planning.cost_estimates import PoolCosts, lane_name, reward_lane_name
from worker.scheduling.planning.work_pieces import WorkPieces
from worker.scheduling.planning.workload import Workload
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread
from worker.scheduling.timeline.bubble_ledger import SpanClass

_NUM_WARM_UP_PER_STALENESS = 2
"""Batches before the first measured one, for each unit of staleness, since batches overlap only from the second one on.
At staleness 0 there is none: lanes join at once and pull a version first, as they do in every later batch."""

_NUM_UNLIKE_BATCHES = 4
"""The fewest measured batches where some groups are without spread: of 8 groups at a share of 0.3, the number without
varies by 54 % (standard deviation) from batch to batch, and by half of that over 4."""


_ENDLESS = 1_000_000_000
"""Batches of a simulated run, which is never simulated to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to use a pool."""

    pipeline: PipelineSpec
    """The switches; placement is resolved."""
    trainers: tuple[int, ...]
    """Indices, in the pool, of the lanes that train; all lanes for colocated placement."""
    fragment_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateResult:
    """The prediction for a candidate."""

    batch_seconds: float
    """Seconds per batch, over the measured time.

    If fewer trajectories were generated, scored or trained in that time than its batches hold, the rest was done
    before, which no run can do forever; so the seconds are divided by the work that was really done. Reward lanes do
    nothing else, so missing scores count only where there are too few reward lanes.
    """
    shares: Mapping[SpanClass, float]
    """By class, the share of the time of generating and training lanes in the measured batches; empty unless asked
    for."""
    mean_staleness: float
    """Batches by which a trained sample is behind, on average."""
    search_size: int
    """Total size of the forecasts that lending by search made, as `Search` counts it."""


class SearchTooLongError(RuntimeError):
    """The forecasts of lending by search took more than the simulation was allowed."""


def num_warm_up_batches(pipeline: PipelineSpec) -> int:
    """The number of batches that a simulation needs before the first measured one."""
    return _NUM_WARM_UP_PER_STALENESS * pipeline.max_staleness


def num_measured_batches(work: Workload, num_batches: int) -> int:
    """How many batches are measured where `num_batches` are asked for: more where they are unlike each other."""
    return max(num_batches, _NUM_UNLIKE_BATCHES) if work.share_without_spread else num_batches


def simulate_candidate(
    work: Workload,
    costs: PoolCosts,
    candidate: Candidate,
    *,
    advantage_std: Literal["group", "batch"],
    num_batches: int = 1,
    with_shares: bool = True,
    max_search_size: float = math.inf,
) -> CandidateResult:
    """Simulate `num_batches` measured batches, and those that must come before them: `CandidateSimulation` once.

    Raises:
        SearchTooLongError: where lending by search makes forecasts of a total size above `max_search_size`.
    """
    simulation = CandidateSimulation(work, costs, candidate, advantage_std=advantage_std, with_shares=with_shares)
    return simulation.measure(num_batches, max_search_size=max_search_size)


class CandidateSimulation:
    """The simulated run of a candidate, which goes on where more of its batches are measured.

    At staleness 0 all batches are alike, but for lanes that are lent whenever they idle, where rounding may decide who
    takes a fragment; at staleness 1 several take different times, and so do they with groups without spread, whose
    number differs from batch to batch.
    """

    def __init__(
        self,
        work: Workload,
        costs: PoolCosts,
        candidate: Candidate,
        *,
        advantage_std: Literal["group", "batch"],
        with_shares: bool = True,
    ) -> None:
        """`with_shares`: record spans for the result's shares, which takes as long as all the rest."""
        if work.algebra.fragment_size != candidate.fragment_size:
            work = work.with_fragment_size(candidate.fragment_size)
        self._work, self._costs = work, costs
        self._first = num_warm_up_batches(candidate.pipeline)
        self._policy = lending_policy(candidate.pipeline)
        self._published, self._pieces, self._spans = [0.0], WorkPieces(), list[Span]()
        self._with_shares = with_shares
        table = costs.cost_table(candidate.trainers)
        scheduler = Scheduler(
            work.algebra,
            candidate.pipeline,
            advantage_std=advantage_std,
            first_batch=0,
            num_batches=_ENDLESS,
            policy_version=0,
            prior=table,
            # Of a line that is the larger of two, only the run's own calls tell which one holds.
            learns_costs=any(isinstance(cost, ConservativeCost) for cost in table.values()),
            lending_policy=self._policy,
            lends_together=work.zero_stage == 3,
            equal_counts=costs.equal_counts,
        )
        self._simulator = Simulator(
            scheduler,
            _lanes(candidate, costs),
            table,
            self._spans.append if with_shares else None,
            observe=self._observe,
            observe_work=self._pieces.add,
            has_spread=partial(has_synthetic_spread, share_without=work.share_without_spread),
        )

    def measure(self, num_batches: int, *, max_search_size: float = math.inf) -> CandidateResult:
        """The result over the first `num_batches` measured batches, simulating those that were not yet.

        Raises:
            SearchTooLongError: where lending by search makes forecasts of a total size above `max_search_size`.
            ValueError: where more batches were measured before.
        """
        num_batches = num_measured_batches(self._work, num_batches)
        last = self._first + num_batches
        if len(self._published) > last + 1:
            raise ValueError(
                f"`num_batches` must be ≥ {len(self._published) - 1 - self._first}, which are simulated, "
                f"got {num_batches}: a simulation only goes on"
            )
        self._simulator.run(lambda: len(self._published) > last or search_size(self._policy) > max_search_size)
        if len(self._published) <= last:
            raise SearchTooLongError(f"forecasts must have a total size of at most {max_search_size}, got more")
        return self._result(num_batches)

    def _observe(self, event: Event, at: float) -> None:
        if isinstance(event, Published):
            self._published.append(at)

    def _result(self, num_batches: int) -> CandidateResult:
        algebra, costs, first, last = self._work.algebra, self._costs, self._first, self._first + num_batches
        start, end = self._published[first], self._published[last]
        num_drawn, num_untrained = _num_groups(self._work, range(first, last))
        num_generated = self._pieces.num_generated(start, end) / algebra.group_size
        generated = min(num_batches, num_batches * num_generated / num_drawn)
        trained = min(num_batches, num_untrained + self._pieces.batches_trained(start, end, last))
        share = generation_share(algebra, costs.expected(self._work))
        least_seconds = scoring_seconds(algebra, costs)
        return CandidateResult(
            batch_seconds=max((end - start) / (share * generated + (1 - share) * trained), least_seconds),
            shares=_shares(self._spans, start, end) if self._with_shares else {},
            mean_staleness=self._pieces.mean_staleness(range(first, last)),
            search_size=search_size(self._policy),
        )


def _num_groups(work: Workload, batches: range) -> tuple[int, int]:
    """How many groups are drawn in these batches, each draw counted, and how many of the batches train on none."""
    algebra, num_drawn, num_untrained = work.algebra, 0, 0
    for batch in batches:
        is_trained = not algebra.filter_groups
        for group in range(algebra.num_groups):
            key = FragmentKey(Purpose.TRAIN, batch, group, 0)
            for draw in range(algebra.max_resamples + 1):
                num_drawn += 1
                if has_synthetic_spread(Fragment(key, (), 0, draw), work.share_without_spread):
                    is_trained = True
                    break
        num_untrained += not is_trained
    return num_drawn, num_untrained


def _lanes(candidate: Candidate, costs: PoolCosts) -> list[SimulatedLane]:
    trainers = set(candidate.trainers)
    pool = [
        SimulatedLane(lane=lane_name(index), role=LaneRole.TRAINER if index in trainers else LaneRole.ROLLOUT)
        for index in range(len(costs.lanes))
    ]
    return pool + [
        SimulatedLane(lane=reward_lane_name(index), role=LaneRole.REWARD) for index in range(costs.num_reward)
    ]


def _shares(spans: list[Span], start: float, end: float) -> dict[SpanClass, float]:
    """By class, the share of the time between `start` and `end` on lanes that generate or train."""
    seconds: dict[tuple[SpanKind, IdleCause | None], float] = {}
    for span in spans:
        inside = min(span.end, end) - max(span.start, start)
        if inside > 0 and not span.lane.startswith(LaneRole.REWARD):
            seconds[span.kind, span.cause] = seconds.get((span.kind, span.cause), 0.0) + inside
    total = sum(seconds.values())
    return {span_class: part / total for span_class, part in seconds.items()}
