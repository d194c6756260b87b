"""A rank process of `test_full_ranks`: full fine-tuning in each case; returns what the rank observed and published."""

from pathlib import Path
from typing import Any

from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.stacked import latents_of
from tests.engine.trainer.lent_generation import lend
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.sync import shards
from worker.engine.sync.packing import pack
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch

Case = tuple[str, str]
"""(DeepSpeed configuration, dtype)."""
CASES: tuple[Case, ...] = (("zero0", "fp32"), ("zero2", "bf16"), ("zero3", "fp32"), ("zero3", "bf16"))
SHARD_BYTES = 2**14
"""Small enough that a version has several shards for each rank."""
ALL_SHARDED = ["zero_optimization.stage3_param_persistence_threshold=0"]
"""By default ZeRO 3 would keep every weight of so small a model gathered."""


def spec_of(given: RunSpec, case: Case) -> RunSpec:
    config, dtype = case
    sections = {
        "base_model": given.base_model.model_copy(update={"dtype": dtype}),
        "deepspeed": DeepSpeedSpec.model_validate(
            {"config": config, "offload_idle_states": True, "overrides": ALL_SHARDED if config == "zero3" else []}
        ),
    }
    return RunSpec.model_validate(given.model_copy(update=sections).model_dump())


def step(trainer: TrainerRank, groups: list[GroupBatch], num_pairs: int) -> dict[str, float]:
    for group in groups:
        accumulate_share(trainer, [group], num_pairs_total=num_pairs, fresh=False)
    return trainer.commit()


def run_case(task: dict[str, Any], case: Case, rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    dtype = case[1]
    spec, version, groups = spec_of(task["spec"], case), task["versions"][dtype], task["groups"][dtype]
    trainer = trainer_rank(spec, task["path"], rank, world_size)
    trainer.load_version(version)
    stats = [accumulate_share(trainer, [group], num_pairs_total=task["num_pairs"], fresh=True) for group in groups]
    drawn = lend(trainer, version)
    result: dict[str, Any] = {"gate": [each.maxima for each in stats], "norm": trainer.commit()["grad_norm"]}
    assert drawn.trajectories is not None
    result["latents"] = latents_of(drawn.trajectories)
    result["shards"] = {index: pack(copies, 1) for index, copies in trainer.snapshot().items()}
    result["num_shards"], result["version"] = trainer.num_shards, trainer.version(1)
    uri = str(folder / "-".join(case))
    result["num_bytes"] = trainer.save_checkpoint(uri, {"case": list(case)})
    step(trainer, groups, task["num_pairs"])
    result["undisturbed"] = trainer.version(2).sha256
    resumed = trainer_rank(spec, task["path"], rank, world_size)
    result["state"] = resumed.load_checkpoint(uri).client_state
    step(resumed, groups, task["num_pairs"])
    result["resumed"] = resumed.version(2).sha256
    return result


def run(task: Any, rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    shards.SHARD_BYTES = SHARD_BYTES
    return {case: run_case(task, case, rank, world_size, folder) for case in CASES}
