"""A run on emulated lanes over real Ray that was planned on wrong costs, measures and re-plans."""

from pathlib import Path

from tests.engine.driving import grants
from tests.engine.emulated.run_case import start_emulated
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.replanning import ReplanBasis
from worker.contracts.run_spec import RunSpec
from worker.engine.emulated.timing import Emulation
from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost, dump_costs
from worker.scheduling.planning.planner import resolve

NUM_SETTLED = 7
"""Batches that are trained by a new plan before it is graded; the first of them fills the pipeline."""
GENERATE = Cost(0.0, 0.1)
"""Seconds of a trajectory: with 96 of them 9.6 s of a lane for each batch."""
ACCUMULATE = Cost(0.0, 0.1)
"""Seconds of a micro-batch, of which there are as many."""
BELIEVED_FACTOR = 0.2
"""Training was believed to take a fifth of its time, so that the first plan gives one lane of six to it."""


def asked(num_batches: int) -> RunSpec:
    """What the user asked for: six lanes that the planner divides, 96 trajectories and 96 micro-batches a batch."""
    return RunSpec.model_validate(
        {
            "prompts": {"inline": [f"prompt {number}" for number in range(12)]},
            "rewards": [{"name": "colorfulness"}],
            "sampling": {"num_denoising_steps": 9, "num_sde_steps": 8},
            "batch": {"num_prompts_per_batch": 12, "group_size": 8, "micro_batch_size": 8},
            "pipeline": {"placement": "auto", "max_staleness": 1},
            "lanes": {"num_rollout": 3, "num_trainer": 3, "num_reward": 1},
            "evaluation": {"prompts": ["held out"], "num_samples_per_prompt": 1, "every_num_batches": None},
            "checkpoint": {"every_num_batches": None},
            "num_batches": num_batches,
        }
    )


def emulated_costs(spec: RunSpec) -> dict[tuple[str, CostKind], Cost]:
    """What the lanes wait, in either role."""
    costs = {(GANG, CostKind.COMMIT): Cost(0.05), (GANG, CostKind.PUBLISH): Cost(0.05)}
    costs |= {(GANG, kind): Cost(0.5) for kind in (CostKind.CHECKPOINT, CostKind.START, CostKind.RESTORE)}
    for grant in grants(spec):
        costs |= {(grant.lane, CostKind.GENERATE): GENERATE, (grant.lane, CostKind.ACCUMULATE): ACCUMULATE}
        costs[grant.lane, CostKind.SCORE] = Cost(0.005, 0.005)
        costs |= {(grant.lane, kind): Cost(0.05) for kind in (CostKind.PULL, CostKind.LEND, CostKind.RECLAIM)}
    return costs


def history(training_factor: float) -> dict[tuple[str, CostKind], MeasuredCost]:
    """What an earlier run is said to have measured, with training at `training_factor` times its true seconds."""
    return {
        ("lane", CostKind.GENERATE): MeasuredCost(GENERATE, 1, 2),
        ("lane", CostKind.ACCUMULATE): MeasuredCost(ACCUMULATE.scaled(training_factor), 1, 8),
        ("lane", CostKind.SCORE): MeasuredCost(Cost(0.005, 0.005), 1, 2),
        ("lane", CostKind.PULL): MeasuredCost(Cost(0.05), 1, 1),
        ("lane", CostKind.LEND): MeasuredCost(Cost(0.05), 1, 1),
        ("lane", CostKind.RECLAIM): MeasuredCost(Cost(0.05), 1, 1),
        (GANG, CostKind.COMMIT): MeasuredCost(Cost(0.05), 1, 1),
        (GANG, CostKind.PUBLISH): MeasuredCost(Cost(0.05), 1, 1),
    }


def run_until_settled(ray_address: str, ingest: Ingest, folder: Path) -> RunSpec:
    """Run until a new plan has trained `NUM_SETTLED` batches, then stop; returns the spec that the run began with."""
    wanted, believed = asked(num_batches=200), history(BELIEVED_FACTOR)
    spec = resolve(wanted, history=[believed])
    emulation = Emulation(costs=dump_costs(emulated_costs(spec)), relative_spread=0.05)
    basis = ReplanBasis(asked=wanted, history=(dump_costs(believed),))
    driven = start_emulated(spec, emulation, ray_address, ingest, folder, replan=basis)
    try:
        driven.until(lambda: bool(ingest.of_type("plan")))
        driven.until(lambda: max(driven.reported_batches()) >= ingest.of_type("plan")[-1]["batch"] + NUM_SETTLED)
        driven.command("c1", "stop")
        assert driven.finish() == 0
    finally:
        driven.kill()
    return spec
