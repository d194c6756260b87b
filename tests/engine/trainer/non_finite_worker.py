"""A rank process of `test_non_finite_gradients`, where gradients or moments of the last rank alone are not finite."""

import math
from pathlib import Path
from typing import Any

import torch

from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import NonFiniteError

NUM_PAIRS = 24


def message_of(call: Any) -> str:
    """The message of the `NonFiniteError` that `call` raises; empty where it raises none."""
    try:
        call()
    except NonFiniteError as error:
        return str(error)
    return ""


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[int, dict[str, Any]]:
    return {stage: run_stage(task, stage, rank, world_size, folder) for stage in (0, 1, 2, 3)}


def run_stage(task: dict[str, Any], stage: int, rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    given: RunSpec = task["spec"]
    sections = {
        "tuning": Tuning.FULL,
        "base_model": given.base_model.model_copy(update={"dtype": "bf16" if stage else "fp32"}),
        "deepspeed": DeepSpeedSpec.model_validate({"config": f"zero{stage}"}),
    }
    trainer = trainer_rank(given.model_copy(update=sections), task["path"], rank, world_size)
    before = trainer.version(0).sha256
    parameter = list(trainer._trainable.values())[-1]
    is_last = rank == world_size - 1
    hook = parameter.register_hook(lambda gradient: gradient * math.nan) if is_last else None
    accumulate_share(trainer, task["groups"], num_pairs_total=NUM_PAIRS, fresh=False)
    if hook is not None:
        hook.remove()
    result = {"step": message_of(trainer.commit), "is_unchanged": trainer.version(0).sha256 == before}
    accumulate_share(trainer, task["groups"], num_pairs_total=NUM_PAIRS, fresh=False)
    result["norm"] = trainer.commit()["grad_norm"]
    if is_last:
        optimizer = getattr(trainer._deepspeed_engine.optimizer, "optimizer", trainer._deepspeed_engine.optimizer)
        next(iter(optimizer.state.values()))["exp_avg"].view(-1)[0] = torch.inf
    uri = f"file://{folder}/checkpoint-{stage}"
    result["save"] = message_of(lambda: trainer.save_checkpoint(uri, {}))
    return result
