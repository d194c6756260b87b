"""What a run loses that was planned on wrong costs, or whose lanes change, if it re-plans and if it does not.

    python -m tests.bench.robust [--seeds 2] [--only TEXT] [--out var/bench/robust.json]

Each run is planned on believed costs, simulated on true ones, and compared with a run that was planned on the true
costs from the start: the regret of a batch is what it takes more, from the third batch on after whatever happened,
changes of the trainer lanes left out. Those are reported apart, in seconds of a run; rollout lanes generate ahead
meanwhile, so regret can be a little below 0.
"""

import argparse
import json
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random

from tests.bench.any_pool import REQUESTS
from tests.bench.pipeline_inputs import SCORER, WORK, fragment_sizes
from tests.bench.replanned_run import ReplannedRun, RobustCase, first_plan
from tests.scheduling.planning.synthetic_pools import ALIKE, pool, request_for
from worker.contracts.names import LaneRole
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts, lane_name, pool_costs
from worker.scheduling.planning.planner import PlanRequest, make_plan
from worker.scheduling.profiles.hardware import H100, Accelerator, accelerator
from worker.scheduling.simulator.simulator import Arrival, Incident, Loss, SimulatedLane

OUTPUT = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "robust.json"
"""Where the report is written by default."""
WRONG = 0.3
"""Relative error of believed costs."""
LONG_TAIL = 0.5
"""Standard deviation of the logarithm of a duration: one in forty takes more than 2.3 times the mean."""
PIECE_SECONDS = 10.0
"""Seconds of a trajectory in the pools with long tails, which varies as a whole."""
SETTLED = 3
"""The batch after whatever happened from which on regret counts."""
NUM_BATCHES_MEASURED = 10
"""Batches of which the mean regret is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case."""

    pool: str
    what: str
    """What was believed wrongly, or what happened."""
    best_seconds: float
    """Seconds of a batch of the run that was planned on the truth."""
    regret_without: float
    """Relative regret of a batch without re-planning."""
    regret: float
    """The same with re-planning."""
    move_seconds: float
    """Seconds in which training stood still for other trainer lanes."""
    num_changes: int
    num_decisions: int
    deciding_seconds: float
    """CPU seconds of the slowest decision."""

    def line(self) -> str:
        return (
            f"{self.pool:33} {self.what:34} {self.best_seconds:8.2f} s, regret {self.regret_without:6.1%} without, "
            f"{self.regret:6.1%} with re-planning, {self.num_changes} changes, {self.move_seconds:5.0f} s of moves, "
            f"a decision takes {self.deciding_seconds:.1f} s"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCase:
    """A case and its names in the report."""

    pool: str
    what: str
    make: Callable[[], RobustCase] = field(repr=False)


# --- pools ------------------------------------------------------------------------------------------------------------


def _profiled(model: str, devices: Sequence[Accelerator]) -> PlanRequest:
    work = WORK[model]
    costs = pool_costs(work, devices, num_reward=max(1, len(devices) // 4), scorer=SCORER)
    # The published batches are planned on devices that hold them or not: memory is another question than costs.
    return PlanRequest(
        work=work, devices=tuple(devices), costs=costs, fragment_sizes=fragment_sizes(work), size_is_known=False
    )


POOLS: dict[str, PlanRequest] = {
    "13 alike": REQUESTS["13 alike"],
    "HunyuanVideo on 6 H100": _profiled("hunyuanvideo-13b", [H100] * 6),
    "Qwen-Image on 2 H200, 6 L40S": _profiled("qwen-image-20b", [accelerator("h200")] * 2 + [accelerator("l40s")] * 6),
    **{
        name: REQUESTS[name]
        for name in (
            "1 of 13 slow",
            "2 each of six speeds",
            "3 each of four kinds",
            "3 each of four kinds in order",
            "3 each of four kinds in no order",
            "4 each of three opposite kinds",
            "FLUX on 3 H100, 5 L40S, 4 H20",
        )
    },
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
    """All cases; `num_seeds` sets of random errors, and of long tails."""
    for name, request in POOLS.items():
        yield NamedCase(pool=name, what="generation +30 %, training -30 %", make=_wrong(request, 1 + WRONG, 1 - WRONG))
        yield NamedCase(pool=name, what="generation -30 %, training +30 %", make=_wrong(request, 1 - WRONG, 1 + WRONG))
        for seed in range(num_seeds):
            yield NamedCase(pool=name, what=f"random within ±30 % by kind ({seed})", make=_randomly(request, seed))
    alike = POOLS["13 alike"]
    for seed in range(num_seeds):
        yield NamedCase(pool="13 alike", what=f"long tails, costs -30 %, +30 % ({seed})", make=_long_tails(alike, seed))
    yield NamedCase(pool="13 alike", what="a lane that generates turns 2× slow", make=lambda: _straggler(alike, 11))
    yield NamedCase(pool="13 alike", what="a lane that trains turns 2× slow", make=lambda: _straggler(alike, 0))
    yield NamedCase(pool="13 alike", what="a lane lost for 300 s, costs wrong", make=lambda: _lost(alike))
    yield NamedCase(pool="10 alike", what="3 lanes join after 4 batches", make=lambda: _joined(10, 3))


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


def _straggler(request: PlanRequest, lane: int) -> RobustCase:
    return RobustCase(believed=request, true=request.costs, slower={4: {lane: 2.0}})


def _lost(request: PlanRequest) -> RobustCase:
    last = lane_name(len(request.costs.lanes) - 1)
    incidents: list[Incident] = [
        Loss(at=200.0, lane=last),
        Arrival(at=500.0, lane=SimulatedLane(lane=last, role=LaneRole.ROLLOUT)),
    ]
    return replace(_wrong(request, 1 + WRONG, 1 - WRONG)(), incidents=incidents)


def _joined(number: int, num_late: int) -> RobustCase:
    request = request_for(pool(ALIKE, [number + num_late]), num_prompts=number + num_late)
    return RobustCase(believed=request, true=request.costs, late={4: tuple(range(number, number + num_late))})


# --- results ----------------------------------------------------------------------------------------------------------


def row_of(named: NamedCase) -> Row:
    """Simulate the case with and without re-planning, and the run that was planned on the truth."""
    case = named.make()
    case = replace(case, num_batches=case.since_batch + SETTLED - 1 + NUM_BATCHES_MEASURED)
    first = case.since_batch + SETTLED
    planned = first_plan(case)
    replanned = ReplannedRun(case, planned, replans=True).run()
    unchanged = ReplannedRun(case, planned, replans=False).run()
    truth = replace(case, true=case.true_at_the_end.costs, slower={}, late={})
    best_plan = make_plan(case.true_at_the_end, only_best=True).best.split_result.candidate
    best = ReplannedRun(truth, best_plan, replans=False).run().batch_seconds(first)
    return Row(
        pool=named.pool,
        what=named.what,
        best_seconds=best,
        regret_without=unchanged.batch_seconds(first) / best - 1,
        regret=replanned.batch_seconds(first) / best - 1,
        move_seconds=replanned.move_seconds,
        num_changes=len(replanned.decisions),
        num_decisions=len(replanned.deciding_seconds),
        deciding_seconds=round(max(replanned.deciding_seconds, default=0.0), 2),
    )


def summary(rows: Sequence[Row]) -> str:
    """Median and 90th percentile of the regrets, with and without."""
    parts = []
    for name, values in (
        ("without re-planning", [row.regret_without for row in rows]),
        ("with it", [row.regret for row in rows]),
    ):
        tenths = statistics.quantiles(values, n=10, method="inclusive")
        parts.append(f"{name}: median {statistics.median(values):.1%}, 90th percentile {tenths[-1]:.1%}")
    moves = [row.move_seconds for row in rows]
    return f"{len(rows)} cases, regret {'; '.join(parts)}; moves take {statistics.mean(moves):.0f} s of a run in mean"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.robust", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="", help="only cases whose names hold this text")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    started = time.process_time()
    rows = []
    for named in cases(options.seeds):
        if options.only in f"{named.pool} {named.what}":
            rows.append(row_of(named))
            print(rows[-1].line(), flush=True)
    cpu = round(time.process_time() - started, 1)
    if len(rows) > 1:
        print(summary(rows))
    print(f"{cpu} s of a core")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"cpu_seconds": cpu, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
