"""Two ranks that train on the same denoising steps at a time do not run the expert of Wan2.2 that neither needs."""

from collections import Counter
from typing import Any

import pytest

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import CLIP, run_spec_of
from tests.engine.rank_processes import run_rank_processes
from tests.engine.trainer.gradient_recorder import relative_distance
from tests.engine.trainer.two_ranks_worker import ZERO_3
from tests.engine.training_setup import TrainingSetup
from worker.contracts.names import ModelFamily

pytestmark = pytest.mark.slow

SECTIONS: dict[str, dict[str, Any]] = {
    "zero0": {"config": "zero0"},
    "zero2": {"config": "zero2"},
    "zero3": ZERO_3,
    "zero3_optimizer_cpuoffload": {**ZERO_3, "config": "zero3_optimizer_cpuoffload"},
}
LOCKSTEP = [name for name in SECTIONS if name != "zero0"]
NUM_STEPS = 2


@pytest.fixture(scope="module")
def ranks_by_section(
    process_group: None, checkpoint_of: CheckpointOf, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, Any]]]:
    """What both ranks returned, by configuration."""
    # Two groups of two members with three steps each, two of the high-noise expert: each rank takes one member of a
    # group, so that both are at the same step.
    spec = run_spec_of(
        ModelFamily.WAN22,
        sampling=CLIP,
        batch={"micro_batch_size": 1},
        optimizer={"max_grad_norm": 1e9, "learning_rate": 1e-3},
        pipeline={"tsp": False},
    )
    task = (TrainingSetup.drawn(spec, checkpoint_of(ModelFamily.WAN22)), SECTIONS)
    ranks = run_rank_processes("tests.engine.models.idle_expert_worker", task, tmp_path_factory.mktemp("ranks"))
    return {name: [rank[name] for rank in ranks] for name in SECTIONS}


@pytest.mark.parametrize("section", LOCKSTEP)
def test_only_the_first_pass_of_a_step_runs_both_experts(
    ranks_by_section: dict[str, list[dict[str, Any]]], section: str
) -> None:
    for apart, in_step in zip(ranks_by_section["zero0"], ranks_by_section[section], strict=True):
        assert min(apart["passes"].values()) > NUM_STEPS, "both experts have rows"
        extra = Counter(in_step["passes"]) - Counter(apart["passes"])
        assert sum(extra.values()) == NUM_STEPS


@pytest.mark.parametrize("section", LOCKSTEP)
def test_an_expert_that_did_not_run_takes_the_step_of_the_passes_that_ran_it(
    ranks_by_section: dict[str, list[dict[str, Any]]], section: str
) -> None:
    for apart, in_step in zip(ranks_by_section["zero0"], ranks_by_section[section], strict=True):
        assert in_step["norm"] == pytest.approx(apart["norm"], rel=1e-4)
        for name, tensor in in_step["published"].items():
            assert relative_distance(tensor, apart["published"][name]) < 1e-4, name
