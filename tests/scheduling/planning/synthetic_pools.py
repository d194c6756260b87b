"""Pools of lanes whose costs are two numbers: seconds of a trajectory and of a micro-batch."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from tests.scheduling.strategies import shapes_work
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import SamplingSpec
from worker.scheduling.core.costs import Cost
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds
from worker.scheduling.planning.planner import PlanRequest
from worker.scheduling.profiles.hardware import H100

FOUR_KINDS = ((4.0, 5.0), (8.0, 3.5), (12.0, 2.0), (16.0, 1.0))
"""(seconds of a trajectory, seconds of a micro-batch): the better at one, the worse at the other."""
OPPOSITE_TALENTS = ((5.0, 6.0), (20.0, 1.5), (10.0, 3.0))
"""The same of three kinds."""
ALIKE = ((10.0, 3.0),)
"""The same of one kind."""


def lane(trajectory_seconds: float, micro_batch_seconds: float) -> LaneCosts:
    """A lane with switches, commits and publishes of half a second."""
    return LaneCosts(
        generate=Cost(0.0, trajectory_seconds),
        accumulate=Cost(0.0, micro_batch_seconds),
        commit=0.5,
        snapshot=0.1,
        publish=0.5,
        pull=0.3,
        lend=0.5,
        reclaim=0.5,
    )


def pool(kinds: Sequence[tuple[float, float]], numbers: Sequence[int]) -> tuple[LaneCosts, ...]:
    """So many lanes of each kind, kind by kind."""
    return tuple(lane(*kind) for kind, number in zip(kinds, numbers, strict=True) for _ in range(number))


def request_for(lanes: Sequence[LaneCosts], *, num_prompts: int | None = None) -> PlanRequest:
    """A plan for these lanes, with groups of 8 in fragments of 1 to 8, 2 pairs a micro-batch, and as many prompts as
    lanes, at least 8: 8 fragments and 16 micro-batches for each lane. Scoring takes next to nothing."""
    number = len(lanes)
    batch = BatchSpec(
        num_prompts_per_batch=num_prompts or max(8, number), group_size=8, micro_batch_size=2, fragment_size=1
    )
    algebra = BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=20, num_sde_steps=4))
    costs = PoolCosts(lanes=tuple(lanes), score=Cost(0.0, 0.01), num_reward=max(1, number // 4))
    return PlanRequest(work=shapes_work(algebra), devices=(H100,) * number, costs=costs, fragment_sizes=(1, 2, 4, 8))


def shuffled(request: PlanRequest, order: Sequence[int]) -> PlanRequest:
    """The request with its lanes listed in another order. `order`: [place], the lane that is listed there."""
    lanes = tuple(request.costs.lanes[lane] for lane in order)
    devices = tuple(request.devices[lane] for lane in order)
    return replace(request, costs=replace(request.costs, lanes=lanes), devices=devices)


def described(request: PlanRequest, lanes: Iterable[int]) -> list[str]:
    """Costs and devices of some of the lanes, sorted: equal for lanes that are interchangeable."""
    return sorted(repr((request.costs.lanes[lane], request.devices[lane])) for lane in lanes)


def every_split(kinds: LaneKinds) -> Counts:
    """[split, kind]: all numbers of trainers of each kind that leave a rollout lane."""
    counts = np.indices(tuple((kinds.number + 1).tolist())).reshape(kinds.number.size, -1).T
    num_ranks = counts.sum(axis=1)
    return counts[(num_ranks > 0) & (num_ranks < kinds.num_lanes)]
