"""A rank process of `test_spread_algorithms`: two optimizer steps of each algorithm on one lane of two GPUs."""

from pathlib import Path
from typing import Any

from tests.engine.context_parallel.spread_training_worker import GPUS_PER_LANE, NUM_STEPS
from tests.engine.training_setup import TrainingSetup
from worker.engine.trainer.rank import TrainerRank


def weights_after_steps(setup: TrainingSetup, trainer: TrainerRank) -> dict[str, Any]:
    norms = []
    for step in range(NUM_STEPS):
        setup.accumulate(trainer, fresh=step == 0)
        norms.append(trainer.commit()["grad_norm"])
    return {"norms": norms, "tensors": trainer.version(1).tensors}


def run(task: dict[str, TrainingSetup], rank: int, world_size: int, folder: Path) -> dict[str, dict[str, Any]]:
    return {
        name: weights_after_steps(setup, setup.trainer(rank, world_size, gpus_per_lane=GPUS_PER_LANE))
        for name, setup in task.items()
    }
