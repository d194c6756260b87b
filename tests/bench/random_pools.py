"""Pools that nobody tuned for, drawn from a seed: kinds of lanes, costs, memory, batch and staleness.

    seed ──► RandomPool: what is asked of the planner, and which promise a plan of it must keep

Seconds of a trajectory and of a micro-batch differ between kinds by up to ten times. Costs besides these are drawn as
shares of the least seconds of a batch, since only that says whether they matter. Invariant: a seed gives the same pool
on every machine.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from tests.bench.pipeline_inputs import WORK
from tests.scheduling.strategies import shapes_work
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import PipelineSpec, SamplingSpec
from worker.scheduling.core.costs import Cost
from worker.scheduling.planning.bounds import work_seconds
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts
from worker.scheduling.planning.planner import PlanRequest
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import GB, H100, Accelerator

FRAGMENTS_A_LANE, MICRO_BATCHES_A_RANK = 8, 4
"""What a batch must hold for each lane, and each optimizer step for each lane if all of them train, for a share of the
bound to be promised: work is indivisible, so with less of it the bound is out of reach."""
_LANES = (2, 64)
"""The fewest and the most lanes."""
_SPREAD = (1.1, 10.0)
"""The least and the largest ratio by which kinds may differ."""
_OVERHEAD = (0.0003, 0.03)
"""Commits, publish, pull and switches, each as a share of the least seconds of a batch."""
_SCORING = (0.001, 0.9)
"""Scoring of a batch by all reward lanes, as a share of the same."""
_MEMORY_MODEL = "wan2.1-14b"
"""The model of pools whose memory is scarce: with whole groups as fragments a rollout lane takes the most of it, with
small ones a trainer lane."""
_CARDS = tuple(replace(H100, name=f"card of {size} GB", memory_bytes=size * GB) for size in (42.2, 45.2, 46.2, 80.0))
"""For that model with small fragments: one that only generates; one that trains too, but only at staleness 0 and never
both in turn; one that does both at staleness 0 alone; one for all."""
_CARDS_FOR_GROUPS = tuple(
    replace(H100, name=f"card of {size} GB", memory_bytes=size * GB) for size in (46.2, 52.2, 80.0)
)
"""The same with larger ones, up to whole groups: one that only trains, one that does either but not both in turn, one
for all."""

Promise = Literal["alike", "mixed", "small"]
"""Large pools of lanes alike, large pools of others, and pools too small for a share of the bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomPool:
    """One pool."""

    seed: int
    request: PlanRequest
    promise: Promise

    @property
    def max_staleness(self) -> int:
        return self.request.wanted.max_staleness

    @property
    def num_lanes(self) -> int:
        return len(self.request.devices)


def random_pool(seed: int) -> RandomPool:
    """The pool of this seed."""
    random = Random(seed)
    num_kinds = random.choice((1, 1, 2, 3, 4, 5))
    num_lanes = max(num_kinds, round(_log_uniform(random, *_LANES)))
    is_scarce = num_kinds > 1 and random.random() < 0.25
    work, fragment_sizes = _work(random, num_lanes, is_scarce=is_scarce)
    numbers = _numbers(random, num_kinds, num_lanes)
    lanes = _lanes(random, work.with_fragment_size(fragment_sizes[0]).algebra, numbers)
    cards = _cards(random, num_kinds, fragment_sizes) if is_scarce else [H100] * num_kinds
    devices = [card for card, number in zip(cards, numbers, strict=True) for _ in range(number)]
    lanes = _with_stragglers(random, lanes)
    costs = _with_overheads(random, work.with_fragment_size(fragment_sizes[0]).algebra, lanes)
    wanted = PipelineSpec.model_validate({"placement": "auto", "max_staleness": random.randint(0, 1)})
    request = PlanRequest(
        work=work, devices=tuple(devices), costs=costs, wanted=wanted, fragment_sizes=tuple(fragment_sizes)
    )
    return RandomPool(seed=seed, request=request, promise=_promise(request))


def _promise(request: PlanRequest) -> Promise:
    algebra, num_lanes = request.work.algebra, len(request.devices)
    num_fragments = algebra.num_trajectories // min(request.fragment_sizes)
    num_micro_batches = algebra.num_micro_batches_per_optimizer_step
    if num_fragments < FRAGMENTS_A_LANE * num_lanes or num_micro_batches < MICRO_BATCHES_A_RANK * num_lanes:
        return "small"
    is_alike = len(set(zip(request.costs.lanes, request.devices, strict=True))) == 1
    return "alike" if is_alike else "mixed"


def _work(random: Random, num_lanes: int, *, is_scarce: bool) -> tuple[Workload, Sequence[int]]:
    """A batch, and the fragment sizes to choose from: all, or a single one."""
    group_size = 8 if is_scarce else random.choice((4, 6, 8, 12, 16, 24))
    sizes = [size for size in range(1, group_size + 1) if group_size % size == 0]
    if random.random() < 0.3:
        sizes = [random.choice(sizes)]
    num_minibatches = random.choice((1, 1, 2, 4))
    wanted = _log_uniform(random, 3, 48) * num_lanes * sizes[0] / group_size
    batch = BatchSpec(
        num_prompts_per_batch=num_minibatches * max(1, round(wanted / num_minibatches)),
        group_size=group_size,
        num_minibatches=num_minibatches,
        num_epochs_per_batch=random.choice((1, 1, 1, 2)),
        micro_batch_size=1 if is_scarce else random.choice((1, 2, 4, 8)),
        fragment_size=sizes[0],
    )
    sampling = SamplingSpec(num_denoising_steps=20, num_sde_steps=random.choice((1, 2, 4, 8)))
    algebra = BatchAlgebra.resolve(batch, sampling)
    return replace(WORK[_MEMORY_MODEL], algebra=algebra) if is_scarce else shapes_work(algebra), sizes


def _numbers(random: Random, num_kinds: int, num_lanes: int) -> list[int]:
    """How many lanes there are of each kind, at least one."""
    borders = sorted(random.sample(range(1, num_lanes), num_kinds - 1))
    return [until - since for since, until in zip([0, *borders], [*borders, num_lanes], strict=True)]


def _cards(random: Random, num_kinds: int, fragment_sizes: Sequence[int]) -> list[Accelerator]:
    """The card of each kind; the first one has memory for all."""
    cards = _CARDS if fragment_sizes[0] <= 2 else _CARDS_FOR_GROUPS
    return [cards[-1], *(random.choice(cards) for _ in range(num_kinds - 1))]


def _lanes(random: Random, algebra: BatchAlgebra, numbers: Sequence[int]) -> list[LaneCosts]:
    """Lanes with nothing but generation and training. A trajectory takes 10 s on the fastest lane, and all training of
    a batch a quarter to four times as long as all generation, on lanes of the fastest kinds."""
    spread, fixed = _log_uniform(random, *_SPREAD), random.choice((0.0, random.uniform(0.0, 0.3)))
    num_micro_batches = algebra.num_micro_batches_per_optimizer_step * algebra.num_optimizer_steps_per_batch
    micro_batch = 10.0 * algebra.num_trajectories / num_micro_batches * _log_uniform(random, 0.25, 4.0)
    lanes = []
    for number in numbers:
        generate, accumulate = _log_uniform(random, 1.0, spread), _log_uniform(random, 1.0, spread)
        lane = LaneCosts(
            generate=Cost(10.0 * fixed, 10.0).scaled(generate),
            accumulate=Cost(0.0, micro_batch * accumulate),
            commit=0.0,
            publish=0.0,
            pull=0.0,
            lend=0.0,
            reclaim=0.0,
        )
        lanes += [lane] * number
    return lanes


def _with_stragglers(random: Random, lanes: Sequence[LaneCosts]) -> list[LaneCosts]:
    """In three of ten pools up to an eighth of the lanes, at least one, are slower at both kinds of work."""
    slower = list(lanes)
    if random.random() < 0.3:
        factor = random.uniform(1.5, 4.0)
        for index in random.sample(range(len(lanes)), random.randint(1, max(1, len(lanes) // 8))):
            lane = lanes[index]
            slower[index] = replace(
                lane, generate=lane.generate.scaled(factor), accumulate=lane.accumulate.scaled(factor)
            )
    return slower


def _with_overheads(random: Random, algebra: BatchAlgebra, lanes: Sequence[LaneCosts]) -> PoolCosts:
    """The pool with commits, publishes, pulls, switches and scoring."""
    num_reward = random.randint(1, max(1, len(lanes) // 4))
    without = PoolCosts(lanes=tuple(lanes), score=Cost(0.0, 0.0), num_reward=num_reward)
    least = work_seconds(algebra, without)
    commits, snapshot, publish, pull, lend, reclaim = (least * _log_uniform(random, *_OVERHEAD) for _ in range(6))
    of_kind = {lane: _log_uniform(random, 0.5, 2.0) for lane in dict.fromkeys(lanes)}
    scoring = least * _log_uniform(random, *_SCORING) * num_reward / algebra.num_trajectories
    return replace(
        without,
        lanes=tuple(
            replace(
                lane,
                commit=of_kind[lane] * commits / algebra.num_optimizer_steps_per_batch,
                # A snapshot is a copy within the lane, which takes less than the publish that follows.
                snapshot=of_kind[lane] * min(snapshot, publish),
                publish=of_kind[lane] * publish,
                pull=of_kind[lane] * pull,
                lend=of_kind[lane] * lend,
                reclaim=of_kind[lane] * reclaim,
            )
            for lane in lanes
        ),
        score=Cost(0.0, scoring),
    )


def _log_uniform(random: Random, least: float, most: float) -> float:
    return math.exp(random.uniform(math.log(least), math.log(most)))
