"""Colocated lanes of opposite talents over real Ray: the one that trains better begins while the other generates."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.driving import RUN_SECONDS, grants
from tests.engine.emulated.run_case import start_emulated
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.engine.emulated.timing import Emulation
from worker.scheduling.core.costs import GANG, Cost, CostKind, dump_costs

pytestmark = [pytest.mark.ray, pytest.mark.timeout(300)]

SPEC = RunSpec.model_validate(
    {
        "prompts": {"inline": [f"prompt {number}" for number in range(8)]},
        "rewards": [{"name": "colorfulness"}],
        "batch": {"num_prompts_per_batch": 8, "group_size": 4, "fragment_size": 2, "micro_batch_size": 4},
        "pipeline": {"placement": "colocated"},
        "lanes": {"num_rollout": 0, "num_trainer": 2, "num_reward": 1},
        # Evaluations at start and end cannot be switched off, so they have one image.
        "evaluation": {"prompts": ["held out"], "num_samples_per_prompt": 1, "every_num_batches": None},
        "checkpoint": {"every_num_batches": None},
        "num_batches": 3,
    }
)
FRAGMENT_SECONDS, GROUP_SECONDS = (0.2, 1.0), (1.6, 0.4)
"""Of the lane that generates better and of the one that trains better."""


def emulation() -> Emulation:
    costs = {(GANG, CostKind.COMMIT): Cost(0.02), (GANG, CostKind.PUBLISH): Cost(0.02)}
    trainers = [grant.lane for grant in grants(SPEC) if grant.role is LaneRole.TRAINER]
    num_per_group = SPEC.algebra.num_micro_batches_per_optimizer_step / SPEC.algebra.num_groups
    for lane, fragment, group in zip(trainers, FRAGMENT_SECONDS, GROUP_SECONDS, strict=True):
        costs[lane, CostKind.GENERATE] = Cost(0.0, fragment / SPEC.algebra.fragment_size)
        costs[lane, CostKind.ACCUMULATE] = Cost(0.0, group / num_per_group)
        costs[lane, CostKind.PULL] = costs[lane, CostKind.LEND] = costs[lane, CostKind.RECLAIM] = Cost(0.02)
    costs["reward-0", CostKind.SCORE] = Cost(0.01)
    return Emulation.model_validate({"costs": dump_costs(costs)})


def test_a_lane_that_trains_better_begins_while_the_other_generates(
    ray_address: str, ingest: Ingest, tmp_path: Path
) -> None:
    driven = start_emulated(SPEC, emulation(), ray_address, ingest, tmp_path)
    try:
        output, _ = driven.process.communicate(timeout=RUN_SECONDS)
    finally:
        driven.kill()
    assert driven.process.returncode == 0, output[-4000:]
    spans: list[dict[str, Any]] = [span for event in ingest.of_type("spans") for span in event["spans"]]
    # The first batch measures what the lanes take.
    for batch in range(1, SPEC.num_batches):
        generated = [each for each in spans if each["batch"] == batch and each["kind"] == "generate"]
        trained = [each for each in spans if each["batch"] == batch and each["kind"] == "train"]
        last = max(each["start"] for each in generated if each["lane"] == "trainer-0")
        assert min(each["start"] for each in trained if each["lane"] == "trainer-1") < last
        assert min(each["start"] for each in trained if each["lane"] == "trainer-0") > last
