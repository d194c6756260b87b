"""Ranks tell each other the proximal policy's log-ratios, since later epochs may give a pair to another rank."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.algorithms.proximal_worker import STAGES, trained
from tests.engine.fixed_trajectories import perturbed_version
from tests.engine.rank_processes import run_rank_processes

SECTIONS: dict[str, Any] = {
    "prompts": {"inline": ["a red square", "a blue circle", "a green circle", "a red circle"]},
    # A group has 9 pairs in 3 micro-batches: alone 2 for rank 0 and 1 for rank 1; of two groups one for each rank.
    "batch": {"num_prompts_per_batch": 4, "group_size": 3, "micro_batch_size": 4}
    | {"num_minibatches": 2, "num_epochs_per_batch": 2},
    "optimizer": {"learning_rate": 1e-2},
    "algorithm": {"name": "flow_grpo", "clip_range": 5e-3},
    "pipeline": {"max_staleness": 1},
}


@pytest.fixture(scope="module")
def task(make_setup: SetupMaker) -> dict[str, Any]:
    setup = make_setup(**SECTIONS)
    return {
        "spec": setup.spec,
        "path": setup.path,
        "groups": setup.groups,
        "behaviour": setup.version,
        "current": perturbed_version(setup.spec, setup.path, seed=2, policy_version=1),
    }


def test_all_ranks_know_all_pairs_as_one_rank_does(task: dict[str, Any], tmp_path: Path) -> None:
    ranks = run_rank_processes("tests.engine.algorithms.proximal_worker", task, tmp_path)
    expected = trained(task, 0, 0, 1)["log_ratios"]
    assert torch.isfinite(expected).all() and expected.abs().max() > 1e-2
    for stage in STAGES:
        first, second = (rank[stage] for rank in ranks)
        assert first["num_own"] != second["num_own"]
        assert torch.equal(first["log_ratios"], second["log_ratios"])
        torch.testing.assert_close(first["log_ratios"], expected, rtol=1e-4, atol=1e-6)
        assert first["weights"] == second["weights"]
