"""The batches that a plan promises, lane by lane: its simulation, cut where a run that follows it begins a batch.

    spec, lanes, costs ──► simulation from a cold start ──┬─► lead: batches until the pipeline is full
                                                          └─► cycle: those that repeat from then on

A batch begins when a run reports the version that it is generated with: once every generating lane has pulled it.
Invariant: the spans of a batch tile each lane's time from the batch's beginning to its end.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.contracts.spans import Span
from worker.scheduling.core.costs import CostTable
from worker.scheduling.core.messages import Event, Published, Pulled
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.lending_policies import lending_policy, search_size
from worker.scheduling.planning.candidate_simulation import SearchTooLongError, num_warm_up_batches
from worker.scheduling.planning.workload import Workload
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread
from worker.scheduling.timeline.span_parts import parts_between

NUM_CYCLE = 2
"""Batches that repeat: at staleness 1 short and long ones may alternate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatch:
    """What the lanes do from one version to the next."""

    seconds: float
    spans: tuple[Span, ...]
    """In order of their start, in seconds from the batch's beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatches:
    """Batch after batch of a plan that is followed from a cold start."""

    lead: tuple[PlannedBatch, ...]
    """The first batches, which differ from all later ones; none at staleness 0."""
    cycle: tuple[PlannedBatch, ...]
    """Those that follow, over and over."""


def num_simulated_fragments(spec: RunSpec) -> int:
    """The fragments that `planned_batches` simulates, which is what it takes time for."""
    algebra = spec.algebra
    return algebra.num_trajectories // algebra.fragment_size * _num_batches(spec)


def planned_batches(
    spec: RunSpec, lanes: Mapping[str, LaneRole], costs: CostTable, *, max_search_size: float = math.inf
) -> PlannedBatches:
    """The batches of a plan.

    Args:
        spec: the spec as planned, its placement resolved.
        lanes: the role of each lane, by its id.
        costs: by lane id, what the plan assumes that work takes.

    Raises:
        SearchTooLongError: where lending by search makes forecasts of a total size above `max_search_size`.
        ValueError: where a role has no lane or work no cost.
    """
    work, policy, num_batches = Workload.of(spec), lending_policy(spec.pipeline), _num_batches(spec)
    scheduler = Scheduler(
        spec.algebra,
        spec.pipeline,
        advantage_std=spec.algorithm.advantage_std,
        first_batch=0,
        # One more, so that lanes pull the last version that is needed.
        num_batches=num_batches + 1 + spec.pipeline.max_staleness,
        policy_version=0,
        prior=costs,
        learns_costs=False,
        lending_policy=policy,
        lends_together=work.zero_stage == 3,
        equal_counts=work.equal_counts,
    )
    reported = _Reported(scheduler.state, lanes)
    spans: list[Span] = []
    simulator = Simulator(
        scheduler,
        [SimulatedLane(lane=lane, role=role) for lane, role in lanes.items()],
        costs,
        spans.append,
        observe=reported.observe,
        has_spread=partial(has_synthetic_spread, share_without=work.share_without_spread),
    )
    simulator.run(lambda: num_batches in reported.at or search_size(policy) > max_search_size)
    if num_batches not in reported.at:
        raise SearchTooLongError(f"forecasts must have a total size of at most {max_search_size}, got more")
    found = _cut(spans, [reported.at[version] for version in range(num_batches + 1)])
    num_lead = len(found) - NUM_CYCLE
    return PlannedBatches(lead=found[:num_lead], cycle=found[num_lead:])


def _num_batches(spec: RunSpec) -> int:
    return num_warm_up_batches(spec.pipeline) + NUM_CYCLE


class _Reported:
    """When a run would report each version: once all generating lanes have pulled it, and one that some of them skip
    once nothing needs it any more."""

    def __init__(self, state: SchedulerState, lanes: Mapping[str, LaneRole]) -> None:
        self.at: dict[int, float] = {}
        self._state = state
        self._generating = {lane for lane, role in lanes.items() if role is state.generators}
        self._pulled_by: defaultdict[int, set[str]] = defaultdict(set)

    def observe(self, event: Event, at: float) -> None:
        match event:
            case Pulled(lane, version):
                self._pulled_by[version].add(lane)
                if self._pulled_by[version].issuperset(self._generating):
                    self.at.setdefault(version, at)
            case Published():
                for version in self._pulled_by.keys() - self._state.needed_versions:
                    self.at.setdefault(version, at)


def _cut(spans: Sequence[Span], borders: Sequence[float]) -> tuple[PlannedBatch, ...]:
    """The spans between each two borders, as seconds from the first of both."""
    return tuple(
        PlannedBatch(seconds=end - start, spans=parts_between(spans, start, end)) for start, end in pairwise(borders)
    )
