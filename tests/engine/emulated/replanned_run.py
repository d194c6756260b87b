"""A run on emulated lanes over real Ray that was planned on wrong costs, measures and re-plans."""

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Seconds of work, true or believed. A batch has 96 trajectories and as many micro-batches."""

    trajectory: float
    micro_batch: float
    commit: float = 0.05
    switch: float = 0.05
    """Of a trainer lane to generation, or back; lanes that keep their memory when they are lent need none in truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplannedRun:
    """A run that is planned on wrong costs."""

    num_lanes: int
    """Lanes that the planner divides."""
    true: Costs
    believed: Costs


TOO_FEW_TRAINERS = MisplannedRun(
    num_lanes=6,
    true=Costs(trajectory=0.1, micro_batch=0.1),
    believed=Costs(trajectory=0.1, micro_batch=0.02),
)
"""Training was believed to take a fifth of its time, so that the first plan gives one lane of six to it."""
TO_COLOCATED = MisplannedRun(
    num_lanes=2,
    true=Costs(trajectory=0.06, micro_batch=0.2),
    believed=Costs(trajectory=0.06, micro_batch=0.06),
)
"""Training takes longer than was believed, and with two lanes no other split gives it more of them."""
TO_DISAGGREGATED = MisplannedRun(
    num_lanes=3,
    true=Costs(trajectory=0.1, micro_batch=0.1, commit=5.0),
    believed=Costs(trajectory=0.1, micro_batch=0.1, switch=0.7),
)
"""A commit takes half a batch, in which colocated lanes do nothing else, and lending was believed to be dear."""


def asked(num_lanes: int) -> RunSpec:
    """What the user asked for: lanes that the planner divides, 96 trajectories and 96 micro-batches a batch."""
    return RunSpec.model_validate(
        {
            "prompts": {"inline": [f"prompt {number}" for number in range(12)]},
            "rewards": [{"name": "colorfulness"}],
            "sampling": {"num_denoising_steps": 9, "num_sde_steps": 8},
            "batch": {"num_prompts_per_batch": 12, "group_size": 8, "micro_batch_size": 8},
            "pipeline": {"placement": "auto", "max_staleness": 1},
            "lanes": {"num_rollout": num_lanes - 1, "num_trainer": 1, "num_reward": 1},
            "evaluation": {"prompts": ["held out"], "num_samples_per_prompt": 1, "every_num_batches": None},
            "checkpoint": {"every_num_batches": None},
            "num_batches": 200,
        }
    )


def emulated_costs(spec: RunSpec, true: Costs) -> dict[tuple[str, CostKind], Cost]:
    """What the lanes wait, in either role."""
    costs = {(GANG, CostKind.COMMIT): Cost(true.commit), (GANG, CostKind.PUBLISH): Cost(0.05)}
    costs |= {(GANG, kind): Cost(0.5) for kind in (CostKind.CHECKPOINT, CostKind.START, CostKind.RESTORE)}
    for grant in grants(spec):
        costs[grant.lane, CostKind.GENERATE] = Cost(0.0, true.trajectory)
        costs[grant.lane, CostKind.ACCUMULATE] = Cost(0.0, true.micro_batch)
        costs[grant.lane, CostKind.SCORE] = Cost(0.005, 0.005)
        costs |= {(grant.lane, kind): Cost(true.switch) for kind in (CostKind.LEND, CostKind.RECLAIM)}
        costs[grant.lane, CostKind.PULL] = Cost(0.05)
    return costs


def history(believed: Costs) -> dict[tuple[str, CostKind], MeasuredCost]:
    """What an earlier run is said to have measured."""
    return {
        ("lane", CostKind.GENERATE): MeasuredCost(Cost(0.0, believed.trajectory), 1, 2),
        ("lane", CostKind.ACCUMULATE): MeasuredCost(Cost(0.0, believed.micro_batch), 1, 8),
        ("lane", CostKind.SCORE): MeasuredCost(Cost(0.005, 0.005), 1, 2),
        ("lane", CostKind.PULL): MeasuredCost(Cost(0.05), 1, 1),
        ("lane", CostKind.LEND): MeasuredCost(Cost(believed.switch), 1, 1),
        ("lane", CostKind.RECLAIM): MeasuredCost(Cost(believed.switch), 1, 1),
        (GANG, CostKind.COMMIT): MeasuredCost(Cost(believed.commit), 1, 1),
        (GANG, CostKind.PUBLISH): MeasuredCost(Cost(0.05), 1, 1),
    }


def run_until_settled(run: MisplannedRun, ray_address: str, ingest: Ingest, folder: Path) -> RunSpec:
    """Run until a new plan has trained `NUM_SETTLED` batches, then stop; returns the spec that the run began with."""
    wanted, believed = asked(run.num_lanes), history(run.believed)
    spec = resolve(wanted, history=[believed])
    emulation = Emulation(costs=dump_costs(emulated_costs(spec, run.true)), relative_spread=0.05)
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
