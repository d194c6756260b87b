"""A rank process of `test_algorithms_on_ranks`: takes the same steps in each case and returns what it observed.

```text
first trainer    step 1 ─ checkpoint ─ step 2 ─ half a mini-batch, aborted ─ step 3
second trainer   step 1        └────►  step 2 ───────────────────────────── step 3 ─ failures, aborted
```
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from tests.engine.trainer.gradient_recorder import GradientRecorder
from tests.engine.trainer.non_finite_worker import message_of
from tests.engine.trainer.two_ranks_worker import ZERO_3
from tests.engine.training_setup import TrainingSetup
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch

Case = tuple[str, int]
"""(algorithm, ZeRO stage)."""


def at_stage(setup: TrainingSetup, stage: int) -> TrainingSetup:
    section = DeepSpeedSpec.model_validate(ZERO_3 if stage == 3 else {"config": f"zero{stage}"})
    return replace(setup, spec=setup.spec.model_copy(update={"deepspeed": section}))


def step(setup: TrainingSetup, trainer: TrainerRank, *, together: bool) -> float:
    """Take one optimizer step over groups that arrive `together` or one at a time; returns the gradient's norm."""
    calls = [setup.groups] if together else [[group] for group in setup.groups]
    for call in calls:
        setup.accumulate(trainer, call)
    return trainer.commit()["grad_norm"]


def run_case(setup: TrainingSetup, rank: int, world_size: int, uri: str) -> dict[str, Any]:
    first = setup.trainer(rank, world_size)
    recorder = GradientRecorder(first)
    norm = step(setup, first, together=False)
    result: dict[str, Any] = {"norm": norm, "gradient": recorder.last, "after_one": [first.version(1).sha256]}
    first.save_checkpoint(uri, {})
    step(setup, first, together=True)
    setup.accumulate(first, setup.groups[:1])
    first.abort()
    step(setup, first, together=False)
    published = first.version(3)
    second = setup.trainer(rank, world_size)
    step(setup, second, together=False)
    result["after_one"].append(second.version(1).sha256)
    second.load_checkpoint(uri)
    step(setup, second, together=True)
    step(setup, second, together=False)
    result |= {"uri": uri, "published": published.tensors, "after_three": [published.sha256, second.version(3).sha256]}
    return result | failures(setup, second, rank)


def failures(setup: TrainingSetup, trainer: TrainerRank, rank: int) -> dict[str, Any]:
    """The errors where a gradient, then a loss, is not finite on the last rank alone, and whether weights changed."""
    before = trainer.version(3).sha256
    parameter = next(iter(trainer._trainable.values()))
    hook = parameter.register_hook(lambda gradient: gradient * torch.inf if rank else gradient)
    setup.accumulate(trainer)
    hook.remove()
    errors = {"gradient_error": message_of(trainer.commit)}
    errors["loss_error"] = message_of(lambda: setup.accumulate(trainer, with_nan(setup.groups)))
    trainer.abort()
    return errors | {"is_unchanged": trainer.version(3).sha256 == before}


def with_nan(groups: list[GroupBatch]) -> list[GroupBatch]:
    """`groups` with NaN in the last member of the last group, which no padding uses."""
    (fragment,) = groups[-1].trajectories
    states = {step: _with_nan(state) for step, state in fragment.states.items()}
    clean = None if fragment.clean is None else _with_nan(fragment.clean)
    return [*groups[:-1], replace(groups[-1], trajectories=(replace(fragment, states=states, clean=clean),))]


def _with_nan(tensor: torch.Tensor) -> torch.Tensor:
    changed = tensor.clone()
    changed[-1] = torch.nan
    return changed


def run(task: dict[Case, TrainingSetup], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    return {
        case: run_case(at_stage(setup, case[1]), rank, world_size, f"file://{folder}/{case[0]}-{case[1]}")
        for case, setup in task.items()
    }
