"""One of the ranks of `test_expert_ranks`: takes the step of its task in each ZeRO stage, and tells its gradients."""

from pathlib import Path
from typing import Any

import torch

from tests.engine.ranks import serve
from tests.engine.trainer.gradients_seen import GradientRecorder
from tests.engine.trainer.one_rank_of_many import ZERO_3, one_step
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.trainer.engine import TrainerEngine

STAGES = (0, 1, 2, 3)


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[int, torch.Tensor]:
    gradients = {}
    for stage in STAGES:
        section = DeepSpeedSpec.model_validate(ZERO_3 if stage == 3 else {"zero_stage": stage})
        trainer = TrainerEngine(task["spec"].model_copy(update={"deepspeed": section}), task["path"], rank, world_size)
        trainer.load_version(task["adapter"])
        recorder = GradientRecorder(trainer)
        one_step(trainer, task["groups"], task["num_pairs"])
        gradients[stage] = recorder.last
    return gradients


if __name__ == "__main__":
    serve(run)
