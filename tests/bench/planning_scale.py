"""How long the planner takes for 1,024 lanes, measured on this machine."""

import time

from tests.bench.pipeline_inputs import WORK
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import SamplingSpec
from worker.scheduling.planning.cost_estimates import pool_costs
from worker.scheduling.planning.planner import PlanRequest, make_plan
from worker.scheduling.profiles.hardware import H20, H100, Accelerator
from worker.scheduling.profiles.image_models import QWEN_IMAGE

POOLS: dict[str, tuple[Accelerator, ...]] = {
    "1,024 alike": (H100,) * 1024,
    "1,024 of two kinds": (H100,) * 512 + (H20,) * 512,
}


"""A large pool of one and of two kinds of lanes; the number of splits grows with both."""


def planning_seconds() -> dict[str, float]:
    """By pool: seconds in which all modes are compared."""
    return {name: _planning_seconds(devices) for name, devices in POOLS.items()}


def _planning_seconds(devices: tuple[Accelerator, ...]) -> float:
    """Seconds of one plan, with one prompt per lane in a batch."""
    batch = BatchSpec(num_prompts_per_batch=len(devices), group_size=16, micro_batch_size=2, fragment_size=4)
    algebra = BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=20, num_sde_steps=8))
    work = WORK[QWEN_IMAGE.name].with_algebra(algebra)
    costs = pool_costs(work, devices, num_reward=len(devices) // 4)
    started = time.perf_counter()
    make_plan(PlanRequest(work=work, devices=devices, costs=costs, fragment_sizes=(1, 2, 4, 8, 16)))
    return round(time.perf_counter() - started, 3)
