"""One of the ranks of `test_family_ranks`: takes two steps in each case, and tells what it saw."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.engine.learning import Learning
from tests.engine.ranks import serve
from tests.engine.trainer.gradients_seen import GradientRecorder
from tests.engine.trainer.one_rank_of_many import ZERO_3
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import ModelFamily

Case = tuple[ModelFamily, int, int]
"""Family, ZeRO stage, and every how many blocks one is recomputed (0: none)."""


def run_case(learning: Learning, case: Case, rank: int, world_size: int) -> dict[str, Any]:
    _, stage, every = case
    section: dict[str, Any] = ZERO_3 if stage == 3 else {"zero_stage": stage}
    deepspeed = DeepSpeedSpec.model_validate(section | {"gradient_checkpointing": every})
    learning = replace(learning, spec=learning.spec.model_copy(update={"deepspeed": deepspeed}))
    trainer = learning.trainer(rank, world_size)
    recorder = GradientRecorder(trainer)
    for group in learning.groups:
        learning.accumulate(trainer, [group])
    norm = trainer.commit()["grad_norm"]
    gradient = recorder.last
    learning.accumulate(trainer, fresh=False)
    trainer.commit()
    return {"gradient": gradient, "norm": norm, "published": trainer.version(2).tensors}


def run(task: dict[Case, Learning], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    return {case: run_case(learning, case, rank, world_size) for case, learning in task.items()}


if __name__ == "__main__":
    serve(run)
