"""What a plan on mixed cards is worth when it is made from what an earlier run has measured.

    python -m tests.bench.second_plans [--pools 60] [--first-pool 0] [--out var/bench/second_plans.json]

    random cards and model ─► plan on the profiles ─► what its lanes measure on true costs ─► plan from that

True costs are up to 35 % above or 26 % below those of the profiles, for generation and for training of each card by
itself. A lane measures only the work that it does: where the first run was disaggregated, a card that only generated
tells nothing of how it trains. The error of a plan is what it promises against what its way of working takes on the
true costs; its regret, what that takes more than the plan made from the true costs.
"""

import argparse
import json
import math
import os
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random

from tests.bench.robust_cases import profiled
from worker.contracts.names import Placement
from worker.scheduling.core.costs import Cost, CostKind, MeasuredCost, MeasuredCostTable
from worker.scheduling.planning.candidate_simulation import Candidate
from worker.scheduling.planning.cost_estimates import PoolCosts, lane_name
from worker.scheduling.planning.device_costs import by_device
from worker.scheduling.planning.measured_costs import costs_from_history
from worker.scheduling.planning.modes import allowed_modes
from worker.scheduling.planning.planner import PlanRequest, make_plan
from worker.scheduling.profiles.hardware import H20, H100, H200, L40S
from worker.scheduling.replanning.decision import predicted_seconds

OUTPUT = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "second_plans.json"
"""Where the report is written by default."""
CARDS = (H100, H200, L40S, H20)
MODELS = ("flux.1-12b", "qwen-image-20b", "hunyuanvideo-13b", "wan2.1-14b")
MOST_LANES = 4
"""Of each card, in a pool."""
LARGEST_ERROR = 0.3
"""Logarithm of true ÷ expected seconds, at most."""
FIRST = {"chosen by the plan": tuple(Placement), "disaggregated": (Placement.DISAGGREGATED,)}
"""What the first run may be, by its name in the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One pool, planned twice."""

    pool: int
    model: str
    cards: dict[str, int]
    first_run: str
    first_error: float
    first_regret: float
    second_error: float
    second_regret: float


def row_of(seed: int, first_run: str) -> Row:
    """The pool of a seed. Raises `ValueError` where no lane has memory for the model."""
    random = Random(seed)
    cards = random.sample(CARDS, random.choice((2, 2, 3)))
    devices = [card for card in cards for _ in range(random.randint(1, MOST_LANES))]
    model = random.choice(MODELS)
    believed = profiled(model, devices, max_staleness=random.choice((0, 1)))
    errors = {card.name: (_error(random), _error(random)) for card in cards}
    truth = replace(believed, costs=_true_costs(believed, errors))
    first = _planned(believed, FIRST[first_run])
    second_request = replace(believed, costs=_from_measured(believed, truth.costs, first))
    second, best_seconds = _planned(second_request), predicted_seconds(truth, _planned(truth))
    first_seconds, second_seconds = predicted_seconds(truth, first), predicted_seconds(truth, second)
    return Row(
        pool=seed,
        model=model,
        cards={card.name: devices.count(card) for card in cards},
        first_run=first_run,
        first_error=predicted_seconds(believed, first) / first_seconds - 1,
        first_regret=first_seconds / best_seconds - 1,
        second_error=predicted_seconds(second_request, second) / second_seconds - 1,
        second_regret=second_seconds / best_seconds - 1,
    )


def _error(random: Random) -> float:
    return math.exp(random.uniform(-LARGEST_ERROR, LARGEST_ERROR))


def _planned(request: PlanRequest, placements: Collection[Placement] = tuple(Placement)) -> Candidate:
    modes = [mode for mode in allowed_modes(request.wanted) if mode.placement in placements]
    return make_plan(request, modes=modes, only_best=True).best.split_result.candidate


def _true_costs(believed: PlanRequest, errors: Mapping[str, tuple[float, float]]) -> PoolCosts:
    lanes = []
    for lane, device in zip(believed.costs.lanes, believed.devices, strict=True):
        generate, accumulate = errors[device.name]
        lanes.append(
            replace(lane, generate=lane.generate.scaled(generate), accumulate=lane.accumulate.scaled(accumulate))
        )
    return replace(believed.costs, lanes=tuple(lanes))


def _from_measured(believed: PlanRequest, true: PoolCosts, first: Candidate) -> PoolCosts:
    """The costs that a later plan is made from. Scoring stays as believed: it was right."""
    device_of = {lane_name(lane): device.name for lane, device in enumerate(believed.devices)}
    table = by_device(_measured(true, first), device_of)
    found = costs_from_history([table], believed.work, believed.devices, num_reward=true.num_reward)
    return replace(found, score=believed.costs.score)


def _measured(true: PoolCosts, candidate: Candidate) -> MeasuredCostTable:
    """What the lanes of a run measure that works so."""
    table, size = dict[tuple[str, CostKind], MeasuredCost](), candidate.fragment_size
    for index, lane in enumerate(true.lanes):
        name, trains = lane_name(index), index in candidate.trainers
        if not trains or candidate.pipeline.placement is Placement.COLOCATED or candidate.pipeline.trainers_generate:
            table[name, CostKind.GENERATE] = MeasuredCost(lane.generate, size, size)
            table[name, CostKind.PULL] = MeasuredCost(Cost(lane.pull), 1, 1)
        if trains:
            table[name, CostKind.ACCUMULATE] = MeasuredCost(lane.accumulate, 1, 4)
    return table


def summary(rows: Sequence[Row], first_run: str) -> dict[str, float]:
    """Of the errors without their sign, and of the regrets: median, 90th percentile and largest."""
    own = [row for row in rows if row.first_run == first_run]
    found: dict[str, float] = {"num_pools": len(own)}
    for name in ("first_error", "second_error", "first_regret", "second_regret"):
        values = sorted(abs(getattr(row, name)) if "error" in name else getattr(row, name) for row in own)
        found[f"{name}_median"] = statistics.median(values)
        found[f"{name}_percentile_90"] = statistics.quantiles(values, n=10)[-1]
        found[f"{name}_largest"] = values[-1]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pools", type=int, default=60)
    parser.add_argument("--first-pool", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    rows = list[Row]()
    for first_run in FIRST:
        for seed in range(arguments.first_pool, arguments.first_pool + arguments.pools):
            try:
                row = row_of(seed, first_run)
            except ValueError as error:
                print(f"pool {seed}: {error}")
                continue
            print(
                f"pool {seed}, {row.model}, {row.cards}, {first_run}: error {row.first_error:+.1%} then "
                f"{row.second_error:+.1%}, regret {row.first_regret:.1%} then {row.second_regret:.1%}",
                flush=True,
            )
            rows.append(row)
    by_first_run = {first_run: summary(rows, first_run) for first_run in FIRST}
    for first_run, found in by_first_run.items():
        print(first_run, {name: round(value, 4) for name, value in found.items()})
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(
        json.dumps({"by_first_run": by_first_run, "rows": [asdict(row) for row in rows]}, indent=1)
    )


if __name__ == "__main__":
    main()
