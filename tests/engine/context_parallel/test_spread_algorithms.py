"""Algorithms whose passes are of another kind train on the GPUs of a lane what one GPU trains: through the decoder and
several denoising steps, on noise that is drawn while they train, with two samples in one loss."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.algorithms.conftest import SetupMaker, make_setup  # noqa: F401
from tests.engine.context_parallel.spread_algorithms_worker import weights_after_steps
from tests.engine.context_parallel.spread_training_worker import GPUS_PER_LANE
from tests.engine.rank_processes import run_rank_processes
from tests.engine.trainer.gradient_recorder import relative_distance

ALGORITHMS: dict[str, dict[str, Any]] = {
    "refl": {"num_late_steps": 2, "kl_coefficient": 0.1},
    "reward_flow": {"num_gradient_steps": 2, "kl_coefficient": 0.3, "reward_scale": 0.5},
    "diffusion_nft": {"num_noise_levels": 3, "kl_coefficient": 0.2, "beta": 0.5, "old_decay_rate": 0.1},
    "diffusion_dpo": {"num_noise_levels": 3, "beta": 5.0},
}


@pytest.mark.slow
def test_every_kind_of_pass_trains_on_two_gpus_what_one_trains(
    make_setup: SetupMaker,  # noqa: F811
    tmp_path: Path,
) -> None:
    task = {
        name: make_setup(
            algorithm={"name": name, **settings},
            rewards=[{"name": "shape_match"}],
            batch={"group_size": 2, "micro_batch_size": 1 if name in ("refl", "reward_flow") else 2},
        )
        for name, settings in ALGORITHMS.items()
    }
    ranks = run_rank_processes(
        "tests.engine.context_parallel.spread_algorithms_worker", task, tmp_path, world_size=GPUS_PER_LANE
    )
    for name, setup in task.items():
        expected = weights_after_steps(setup, setup.trainer())
        for found in (rank[name] for rank in ranks):
            assert found["norms"] == pytest.approx(expected["norms"], rel=1e-4), name
            for tensor, weights in expected["tensors"].items():
                assert relative_distance(found["tensors"][tensor], weights) < 1e-4, (name, tensor)
