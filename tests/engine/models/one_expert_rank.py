"""One trainer rank of a model with two experts, as a process of its own:
`python -m tests.engine.models.one_expert_rank RANK WORLD PORT FOLDER`.

Takes the step written in `FOLDER/task.pt` in each ZeRO stage and leaves what it saw in `FOLDER/rank-<rank>.pt`.
"""

import sys
from pathlib import Path

import torch

from tests.engine.trainer.gradients_seen import GradientRecorder
from tests.engine.trainer.one_rank_of_many import ZERO_3, one_step
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.trainer.engine import TrainerEngine
from worker.engine.trainer.process_group import destroy_process_group, init_process_group

STAGES = (0, 1, 2, 3)


def main(rank: int, world_size: int, port: int, folder: Path) -> None:
    torch.set_num_threads(1)
    init_process_group(rank, world_size, "127.0.0.1", port)
    task = torch.load(folder / "task.pt", weights_only=False)
    gradients = {}
    for stage in STAGES:
        section = DeepSpeedSpec.model_validate(ZERO_3 if stage == 3 else {"zero_stage": stage})
        trainer = TrainerEngine(task["spec"].model_copy(update={"deepspeed": section}), task["path"], rank, world_size)
        trainer.load_adapter(task["adapter"])
        recorder = GradientRecorder(trainer)
        one_step(trainer, task["groups"], task["num_pairs"])
        gradients[stage] = recorder.last
    torch.save(gradients, folder / f"rank-{rank}.pt")
    destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
