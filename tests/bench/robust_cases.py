"""The cases of `make bench-robust`: pools, and what is believed wrongly of them or happens to them.

The pools are those of `tests.bench.any_pool` and published models on cards; the costs believed are wrong by up to 30 %.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from tests.bench.any_pool import REQUESTS
from tests.bench.pipeline_inputs import SCORER, WORK, fragment_sizes
from tests.bench.random_pools import random_pool
from tests.bench.replanned_run import first_plan
from tests.bench.robust_case import RobustCase
from tests.scheduling.planning.synthetic_pools import ALIKE, pool, request_for
from worker.contracts.names import LaneRole
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts, lane_name, pool_costs
from worker.scheduling.planning.planner import PlanRequest
from worker.scheduling.profiles.hardware import H20, H100, L40S, Accelerator
from worker.scheduling.profiles.known_devices import accelerator
from worker.scheduling.simulator.simulated_lanes import Arrival, Incident, Loss, SimulatedLane

WRONG = 0.3
"""Relative error of believed costs."""
LONG_TAIL = 0.5
"""Standard deviation of the logarithm of a duration: one in forty takes more than 2.3 times the mean."""
PIECE_SECONDS = 10.0
"""Seconds of a trajectory in the pools with long tails, which varies as a whole."""
MANY_LANES = 64
"""Lanes from which on a pool is tried with one seed, because each of its simulations takes seconds."""
_MOST_LANES = 512
"""Lanes from which on it is tried in one direction alone, because deciding takes a minute."""
HAPPENS_AFTER = 4
"""Batches complete when something happens to the lanes: by then a plan on wrong costs would have been changed."""
_RECOVERS_AFTER = 8
"""Batches after which a lane that turned slow is as before: by then the run has long moved it."""
_STRAGGLING_POOLS = range(6100, 6117)
"""Seeds of random pools in which a lane turns slow, where they have few lanes."""
_FEW_LANES = 12
"""The most lanes of these, whose simulations take seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCase:
    """A case and its names in the report."""

    pool: str
    cause: str
    """What kind of thing is wrong or happens."""
    what: str
    num_lanes: int
    """Those that generate or train, late ones included."""
    make: Callable[[], RobustCase] = field(repr=False)


# --- pools ------------------------------------------------------------------------------------------------------------


def profiled(model: str, devices: Sequence[Accelerator], *, max_staleness: int = 1) -> PlanRequest:
    """A published model on these cards, with costs from their profiles."""
    work = WORK[model]
    costs = pool_costs(work, devices, num_reward=max(1, len(devices) // 4), scorer=SCORER)
    # The published batches are planned on devices that hold them or not: memory is another question than costs.
    request = PlanRequest(
        work=work, devices=tuple(devices), costs=costs, fragment_sizes=fragment_sizes(work), size_is_known=False
    )
    return replace(request, wanted=request.wanted.model_copy(update={"max_staleness": max_staleness}))


POOLS: dict[str, PlanRequest] = {
    "13 alike": REQUESTS["13 alike"],
    "HunyuanVideo on 6 H100": profiled("hunyuanvideo-13b", [H100] * 6),
    "Qwen-Image on 2 H200, 6 L40S": profiled("qwen-image-20b", [accelerator("h200")] * 2 + [accelerator("l40s")] * 6),
    "FLUX on 8 H100": profiled("flux.1-12b", [H100] * 8),
    **{
        name: REQUESTS[name]
        for name in (
            "1 of 7 slow",
            "1 of 13 slow",
            "2 of 13 slow",
            "2 each of six speeds",
            "3 each of four kinds",
            "3 each of four kinds in order",
            "3 each of four kinds in no order",
            "4 each of three opposite kinds",
            "FLUX on 3 H100, 5 L40S, 4 H20",
        )
    },
    "FLUX on 64 L40S, 32 H20, strict": profiled("flux.1-12b", [L40S] * 64 + [H20] * 32, max_staleness=0),
    "1,024 of three kinds": REQUESTS["1,024 of three kinds"],
}


def _scaled(costs: PoolCosts, factors: Callable[[LaneCosts], tuple[float, float]]) -> PoolCosts:
    """The costs with generation and training times the factors of each kind of lane."""
    of_kind = {lane: factors(lane) for lane in dict.fromkeys(costs.lanes)}
    return replace(
        costs,
        lanes=tuple(
            replace(lane, generate=lane.generate.scaled(generate), accumulate=lane.accumulate.scaled(accumulate))
            for lane, (generate, accumulate) in ((lane, of_kind[lane]) for lane in costs.lanes)
        ),
    )


# --- cases ------------------------------------------------------------------------------------------------------------


def cases(num_seeds: int) -> Iterator[NamedCase]:
    """All cases; `num_seeds` sets of random errors in each pool, and of long tails."""
    for name, request in POOLS.items():
        yield from _wrong_costs(name, request, _num_seeds(len(request.devices), num_seeds))
    alike = POOLS["13 alike"]
    for seed in range(num_seeds):
        yield NamedCase(
            pool="13 alike",
            cause="long tails and wrong costs",
            what=f"costs -30 %, +30 % ({seed})",
            num_lanes=len(alike.devices),
            make=_long_tails(alike, seed),
        )
    yield from _stragglers(alike)
    yield from _stragglers_of_random_pools()
    yield from _other_lanes(alike)


def _num_seeds(num_lanes: int, wanted: int) -> int:
    return wanted if num_lanes < MANY_LANES else int(num_lanes < _MOST_LANES)


def _wrong_costs(name: str, request: PlanRequest, num_seeds: int) -> Iterator[NamedCase]:
    directions = ((WRONG, -WRONG), (-WRONG, WRONG))
    for generate, accumulate in directions[: 1 if len(request.devices) >= _MOST_LANES else 2]:
        yield NamedCase(
            pool=name,
            cause="wrong costs",
            what=f"generation {generate:+.0%}, training {accumulate:+.0%}",
            num_lanes=len(request.devices),
            make=_wrong(request, 1 + generate, 1 + accumulate),
        )
    for seed in range(num_seeds):
        yield NamedCase(
            pool=name,
            cause="wrong costs",
            what=f"random within ±30 % by kind ({seed})",
            num_lanes=len(request.devices),
            make=_randomly(request, seed),
        )


def _stragglers(alike: PlanRequest) -> Iterator[NamedCase]:
    for what, factors in (
        ("a lane that generates turns 2× slow", {11: 2.0}),
        ("a lane that trains turns 2× slow", {0: 2.0}),
        ("a lane that trains turns 20× slow", {0: 20.0}),
    ):
        case = RobustCase(believed=alike, true=alike.costs, slower={HAPPENS_AFTER: factors})
        yield NamedCase(
            pool="13 alike", cause="straggler", what=what, num_lanes=len(alike.devices), make=partial(replace, case)
        )


_Happening = Callable[[Random, Sequence[int], Sequence[int]], dict[int, dict[int, float]]]
"""From a source of chance, the first plan's trainer lanes and its other lanes: `RobustCase.slower`."""


def _stragglers_of_random_pools() -> Iterator[NamedCase]:
    few = {seed: num for seed in _STRAGGLING_POOLS if (num := random_pool(seed).num_lanes) <= _FEW_LANES}
    happenings: dict[str, _Happening] = {
        "a lane that trains turns 3× slow": partial(_one_lane, factor=3.0, trains=True),
        "a lane that generates turns 3× slow": partial(_one_lane, factor=3.0, trains=False),
        "a lane that trains turns 10× slow": partial(_one_lane, factor=10.0, trains=True),
        f"a lane that trains turns 3× slow for {_RECOVERS_AFTER} batches": _recovering_lane,
        "two lanes turn 2× and 5× slow": _two_lanes,
    }
    for seed, num_lanes in few.items():
        for what, happening in happenings.items():
            yield NamedCase(
                pool=f"random pool {seed}",
                cause="straggler of a random pool",
                what=what,
                num_lanes=num_lanes,
                make=partial(_straggler, seed, happening),
            )


def _straggler(seed: int, happening: _Happening) -> RobustCase:
    """Something happens to lanes of the pool, chosen by what the first plan has them do."""
    request = random_pool(seed).request
    case = RobustCase(believed=request, true=request.costs)
    trainers = first_plan(case).trainers
    others = [lane for lane in range(len(request.devices)) if lane not in trainers]
    return replace(case, slower=happening(Random(seed), trainers, others))


def _one_lane(
    random: Random, trainers: Sequence[int], others: Sequence[int], *, factor: float, trains: bool
) -> dict[int, dict[int, float]]:
    """A trainer lane, or a rollout lane where there is any."""
    return {HAPPENS_AFTER: {random.choice(trainers if trains else others or trainers): factor}}


def _recovering_lane(random: Random, trainers: Sequence[int], _others: Sequence[int]) -> dict[int, dict[int, float]]:
    lane, factor = random.choice(trainers), 3.0
    return {HAPPENS_AFTER: {lane: factor}, HAPPENS_AFTER + _RECOVERS_AFTER: {lane: 1 / factor}}


def _two_lanes(random: Random, trainers: Sequence[int], others: Sequence[int]) -> dict[int, dict[int, float]]:
    return {HAPPENS_AFTER: dict(zip(random.sample([*trainers, *others], 2), (2.0, 5.0), strict=True))}


def _other_lanes(alike: PlanRequest) -> Iterator[NamedCase]:
    number = len(alike.costs.lanes)
    lost = lane_name(number - 1)
    incidents: list[Incident] = [
        Loss(at=200.0, lane=lost),
        Arrival(at=500.0, lane=SimulatedLane(lane=lost, role=LaneRole.ROLLOUT)),
    ]
    wrong = _wrong(alike, 1 + WRONG, 1 - WRONG)
    makers: dict[tuple[int, int, str], Callable[[], RobustCase]] = {
        (13, 13, "a lane lost for 300 s, costs wrong"): lambda: replace(wrong(), incidents=incidents),
        (10, 13, "3 lanes join"): lambda: _resized(10, joining=range(10, 13)),
        (8, 20, "12 lanes join"): lambda: _resized(8, joining=range(8, 20)),
        (13, 13, "3 lanes are taken away"): lambda: _resized(13, leaving=range(10, 13)),
    }
    for (at_first, num_lanes, what), make in makers.items():
        yield NamedCase(pool=f"{at_first} alike", cause="lanes", what=what, num_lanes=num_lanes, make=make)


def _wrong(request: PlanRequest, generate: float, accumulate: float) -> Callable[[], RobustCase]:
    believed = _scaled(request.costs, lambda lane: (generate, accumulate))
    return lambda: RobustCase(believed=replace(request, costs=believed), true=request.costs)


def _randomly(request: PlanRequest, seed: int) -> Callable[[], RobustCase]:
    random = Random(seed)
    believed = _scaled(
        request.costs, lambda lane: (random.uniform(1 - WRONG, 1 + WRONG), random.uniform(1 - WRONG, 1 + WRONG))
    )
    return lambda: RobustCase(believed=replace(request, costs=believed), true=request.costs)


def _long_tails(request: PlanRequest, seed: int) -> Callable[[], RobustCase]:
    def durations() -> Callable[[float], float]:
        random = Random(seed)

        def varied(seconds: float) -> float:
            # Longer work is a sum of pieces that vary independently; the mean is the expected duration.
            variance = math.log1p(math.expm1(LONG_TAIL**2) / max(1.0, seconds / PIECE_SECONDS))
            return seconds * random.lognormvariate(-variance / 2, math.sqrt(variance))

        return varied

    return lambda: replace(_wrong(request, 1 - WRONG, 1 + WRONG)(), vary=durations)


def _resized(number: int, *, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> RobustCase:
    request = request_for(pool(ALIKE, [number + len(joining)]), num_prompts=number + len(joining))
    happens = {HAPPENS_AFTER: joining} if joining else {}
    leaves = {HAPPENS_AFTER: leaving} if leaving else {}
    return RobustCase(believed=request, true=request.costs, late=happens, leaving=leaves)
