"""The error of plans of large pools against one simulation of each mode's choice.

    python -m tests.bench.large_pools [--out var/bench/large_pools.json]

Up to 512 lanes a plan's seconds are simulated already, in fewer batches; beyond, they are estimates from the limits.
Each mode's choice is simulated here, to find the plan's error; the command fails where it is too large. Reward
lanes are sized by `sized_pool_costs`, so that no mode waits for the scorer.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.pipeline_inputs import WORK, sized_pool_costs
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import SamplingSpec
from worker.scheduling.planning.bounds import scoring_seconds
from worker.scheduling.planning.candidate_simulation import simulate_candidate
from worker.scheduling.planning.planner import Plan, PlanRequest, make_plan
from worker.scheduling.profiles.hardware import H20, H100, Accelerator
from worker.scheduling.profiles.image_models import QWEN_IMAGE

POOLS: dict[str, tuple[Accelerator, ...]] = {
    "96 of two kinds": (H100,) * 48 + (H20,) * 48,
    "256 alike": (H100,) * 256,
    "512 of two kinds": (H100,) * 256 + (H20,) * 256,
    "600 of two kinds": (H100,) * 300 + (H20,) * 300,
    "768 alike": (H100,) * 768,
}
"""Pools of one and of two kinds of lanes: some that are simulated, some beyond 512 lanes that are estimated."""
MAX_ERROR, MAX_ERROR_OF_ESTIMATES = 0.03, 0.05
"""The relative error that is allowed of a plan's simulated seconds, and of those that it estimates."""
NUM_BATCHES_AHEAD = 8
"""Batches measured at staleness 1, where they take different times: four windows of two batches, as a simulation takes
longer with lanes and batches."""
FILE = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "large_pools.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One mode's choice for one pool."""

    pool: str
    mode: str
    num_trainer: int
    num_reward: int
    fragment_size: int
    planned_seconds: float
    is_simulated: bool
    """Whether the planned seconds are simulated; otherwise they are an estimate."""
    simulated_seconds: float
    error: float
    """Simulated ÷ planned seconds, less 1."""
    scoring_share: float
    """Seconds in which the reward lanes score a batch ÷ planned seconds; at 1 the mode waits for the scorer alone."""

    def line(self) -> str:
        kind = "planned" if self.is_simulated else "estimated"
        return (
            f"{self.pool:16} {self.mode:14} {self.num_trainer:4d} train, fragments of {self.fragment_size:2d}: {kind} "
            f"{self.planned_seconds:7.2f} s, simulated {self.simulated_seconds:7.2f} s, {self.error:+.1%}; "
            f"{self.num_reward} reward lanes score {self.scoring_share:.0%} of the time"
        )


def plan_of(devices: tuple[Accelerator, ...]) -> Plan:
    """The plan of a pool, with one prompt per lane in a batch."""
    batch = BatchSpec(num_prompts_per_batch=len(devices), group_size=16, micro_batch_size=2, fragment_size=4)
    algebra = BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=20, num_sde_steps=8))
    work = WORK[QWEN_IMAGE.name].with_algebra(algebra)
    costs = sized_pool_costs(work, devices)
    return make_plan(PlanRequest(work=work, devices=devices, costs=costs, fragment_sizes=(1, 2, 4, 8, 16)))


def rows(pool: str) -> Iterator[Row]:
    """Plan and simulate every mode of one of the pools."""
    plan = plan_of(POOLS[pool])
    work, costs = plan.request.work, plan.request.costs
    for mode, choice in plan.by_mode.items():
        candidate, planned = choice.split_result.candidate, choice.split_result.batch_seconds
        num_batches = NUM_BATCHES_AHEAD if candidate.pipeline.max_staleness else 1
        result = simulate_candidate(
            work, costs, candidate, advantage_std="group", num_batches=num_batches, with_shares=False
        )
        algebra = work.with_fragment_size(candidate.fragment_size).algebra
        yield Row(
            pool=pool,
            mode=mode,
            num_trainer=len(candidate.trainers),
            num_reward=costs.num_reward,
            fragment_size=candidate.fragment_size,
            planned_seconds=planned,
            is_simulated=choice.split_result.result is not None,
            simulated_seconds=result.batch_seconds,
            error=result.batch_seconds / planned - 1,
            scoring_share=scoring_seconds(algebra, costs) / planned,
        )


def broken(found: Iterable[Row]) -> list[str]:
    """What predictions are too far from the simulation, in words."""
    return [
        f"`error` must be within ±{allowed:.0%}, got {row.line()}"
        for row in found
        if abs(row.error) > (allowed := MAX_ERROR if row.is_simulated else MAX_ERROR_OF_ESTIMATES)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    found = [row for pool in POOLS for row in rows(pool)]
    print(*(row.line() for row in found), sep="\n")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"rows": [asdict(row) for row in found]}, indent=1) + "\n")
    sys.exit("\n".join(broken(found)) or 0)


if __name__ == "__main__":
    main()
