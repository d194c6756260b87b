"""One of the ranks of `test_learning_ranks`: goes through the same steps in each case, and tells what it saw.

```text
first    step 1 ─ checkpoint ─ step 2 ─ half a mini-batch, aborted ─ step 3
second   step 1        └────►  step 2 ───────────────────────────── step 3 ─ failures, aborted
```
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from tests.engine.learning import Learning
from tests.engine.ranks import serve
from tests.engine.trainer.gradients_seen import GradientRecorder
from tests.engine.trainer.one_rank_of_many import ZERO_3
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.errors import NonFiniteError
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch

Case = tuple[str, int]
"""Algorithm and ZeRO stage."""


def at_stage(learning: Learning, stage: int) -> Learning:
    section = DeepSpeedSpec.model_validate(ZERO_3 if stage == 3 else {"zero_stage": stage})
    return replace(learning, spec=learning.spec.model_copy(update={"deepspeed": section}))


def step(learning: Learning, trainer: TrainerRank, *, together: bool) -> float:
    """One optimizer step, over groups that come all at once or one at a time; the gradient's norm."""
    calls = [learning.groups] if together else [[group] for group in learning.groups]
    for call in calls:
        learning.accumulate(trainer, call)
    return trainer.commit()["grad_norm"]


def run_case(learning: Learning, rank: int, world_size: int, uri: str) -> dict[str, Any]:
    first = learning.trainer(rank, world_size)
    recorder = GradientRecorder(first)
    norm = step(learning, first, together=False)
    result: dict[str, Any] = {"norm": norm, "gradient": recorder.last, "after_one": [first.version(1).sha256]}
    first.save_checkpoint(uri, {})
    step(learning, first, together=True)
    learning.accumulate(first, learning.groups[:1])
    first.abort()
    step(learning, first, together=False)
    published = first.version(3)
    second = learning.trainer(rank, world_size)
    step(learning, second, together=False)
    result["after_one"].append(second.version(1).sha256)
    second.load_checkpoint(uri)
    step(learning, second, together=True)
    step(learning, second, together=False)
    result |= {"uri": uri, "published": published.tensors, "after_three": [published.sha256, second.version(3).sha256]}
    return result | failures(learning, second, rank)


def failures(learning: Learning, trainer: TrainerRank, rank: int) -> dict[str, Any]:
    """What is not finite at one rank alone: who says so, and whether anything is left of it."""
    before = trainer.version(3).sha256
    parameter = next(iter(trainer._parameters.values()))
    hook = parameter.register_hook(lambda gradient: gradient * torch.inf if rank else gradient)
    learning.accumulate(trainer)
    hook.remove()
    told = {"gradient_error": error_of(trainer.commit)}
    told["loss_error"] = error_of(lambda: learning.accumulate(trainer, poisoned(learning.groups)))
    trainer.abort()
    return told | {"untouched": trainer.version(3).sha256 == before}


def error_of(call: Any) -> str:
    try:
        call()
    except NonFiniteError as error:
        return str(error)
    return ""


def poisoned(groups: list[GroupBatch]) -> list[GroupBatch]:
    """The last member of the last group is not a number: no padding holds it."""
    (fragment,) = groups[-1].trajectories
    changed = {}
    for name in ("latents", "clean"):
        tensor = getattr(fragment, name)
        if tensor is not None and tensor.numel():
            changed[name] = tensor.clone()
            changed[name][-1] = torch.nan
    return [*groups[:-1], replace(groups[-1], trajectories=(replace(fragment, **changed),))]


def run(task: dict[Case, Learning], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    return {
        case: run_case(at_stage(learning, case[1]), rank, world_size, f"file://{folder}/{case[0]}-{case[1]}")
        for case, learning in task.items()
    }


if __name__ == "__main__":
    serve(run)
