"""A rank process of `test_full_state`: takes a step of full fine-tuning in each case and returns the bytes it holds."""

from pathlib import Path
from typing import Any

from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.trainer.state_bytes import state_bytes
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec

Case = tuple[str, int]
"""(the base's dtype, ZeRO stage)."""
CASES: tuple[Case, ...] = (("fp32", 0), ("fp32", 3), ("bf16", 1), ("bf16", 2), ("bf16", 3))


def bytes_after_a_step(task: dict[str, Any], case: Case, rank: int, world_size: int) -> dict[str, int]:
    dtype, stage = case
    given: RunSpec = task["spec"]
    # By default ZeRO 3 would keep every weight of so small a model gathered.
    overrides = {"overrides": ["zero_optimization.stage3_param_persistence_threshold=0"]} if stage == 3 else {}
    sections = {
        "tuning": Tuning.FULL,
        "base_model": given.base_model.model_copy(update={"dtype": dtype}),
        "deepspeed": DeepSpeedSpec.model_validate({"config": f"zero{stage}", **overrides}),
    }
    spec = given.model_copy(update=sections)
    trainer = trainer_rank(spec, task["path"], rank, world_size)
    num_pairs = spec.algebra.num_pairs_per_optimizer_step
    accumulate_share(trainer, task["groups"], num_pairs_total=num_pairs, fresh=False)
    trainer.commit()
    accumulate_share(trainer, task["groups"][:1], num_pairs_total=num_pairs, fresh=False)
    return state_bytes(trainer)


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, int]]:
    return {case: bytes_after_a_step(task, case, rank, world_size) for case in CASES}
