"""A rank process of `test_family_ranks`: takes two optimizer steps in each case and returns what it observed."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from tests.engine.trainer.gradient_recorder import GradientRecorder
from tests.engine.trainer.two_ranks_worker import ZERO_3
from tests.engine.training_setup import TrainingSetup
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import ModelFamily
from worker.engine.models.experts import experts_of

Case = tuple[ModelFamily, int, int]
"""(family, ZeRO stage, n: every n-th block is recomputed; 0 none)."""


def run_case(setup: TrainingSetup, case: Case, rank: int, world_size: int) -> dict[str, Any]:
    _, stage, every = case
    section: dict[str, Any] = ZERO_3 if stage == 3 else {"config": f"zero{stage}"}
    deepspeed = DeepSpeedSpec.model_validate(section | {"gradient_checkpointing": every})
    return two_steps(setup, deepspeed, rank, world_size)


def two_steps(setup: TrainingSetup, deepspeed: DeepSpeedSpec, rank: int, world_size: int) -> dict[str, Any]:
    """The first step's gradient and norm, the weights after the second, and the passes with a gradient by expert."""
    setup = replace(setup, spec=setup.spec.model_copy(update={"deepspeed": deepspeed}))
    trainer = setup.trainer(rank, world_size)
    recorder, passes = GradientRecorder(trainer), Counter[str]()
    for name, expert in experts_of(trainer._model.transformer).items():
        expert.register_forward_pre_hook(
            lambda *_, name=name: passes.update([name] if torch.is_grad_enabled() else []),
        )
    for group in setup.groups:
        setup.accumulate(trainer, [group])
    norm = trainer.commit()["grad_norm"]
    gradient, of_first_step = recorder.last, passes.copy()
    setup.accumulate(trainer, fresh=False)
    trainer.commit()
    return {
        "gradient": gradient,
        "norm": norm,
        "published": trainer.version(2).tensors,
        "passes": passes,
        "passes_of_first_step": of_first_step,
    }


def run(task: dict[Case, TrainingSetup], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    return {case: run_case(setup, case, rank, world_size) for case, setup in task.items()}
