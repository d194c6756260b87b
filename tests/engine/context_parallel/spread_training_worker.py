"""A rank process of `test_spread_training`: optimizer steps on lanes of two GPUs, which also
generate."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.engine.models.family_checks import run_spec_of
from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.stacked import next_latents_of
from tests.engine.trainer.lent_generation import lend
from worker.contracts.names import ModelFamily, Tuning
from worker.contracts.performance import Compilation
from worker.contracts.run_spec import RunSpec
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import PublishedShard

GPUS_PER_LANE = 2
NUM_STEPS = 2


@dataclass(frozen=True, slots=True)
class Case:
    """What is trained, and how."""

    family: ModelFamily = ModelFamily.FLUX
    config: str = "zero1"
    """Of DeepSpeed."""
    tuning: Tuning = Tuning.LORA
    checkpointing: int = 0
    """Every how many blocks one is recomputed; none for 0."""
    compilation: Compilation = Compilation.OFF
    guidance_scale: float = 1.0
    batched_cfg: bool = False

    def __str__(self) -> str:
        of_model = self.family, self.config, self.tuning, self.checkpointing, self.compilation
        return "-".join(map(str, (*of_model, self.guidance_scale, self.batched_cfg)))

    @property
    def is_captured(self) -> bool:
        return self.compilation is not Compilation.OFF

    @property
    def spec(self) -> RunSpec:
        is_clip = self.family in (ModelFamily.WAN, ModelFamily.WAN22)
        # By default ZeRO 3 would keep every weight of so small a model gathered.
        overrides = ["zero_optimization.stage3_param_persistence_threshold=0"] if self.config == "zero3" else []
        return run_spec_of(
            self.family,
            tuning=self.tuning,
            sampling={
                "num_frames": 9 if is_clip else 1,
                "guidance_scale": self.guidance_scale,
                "batched_cfg": self.batched_cfg,
            },
            batch={"micro_batch_size": 2},
            # Every further kind of pass would be captured by itself, which takes seconds.
            algorithm={"kl_coefficient": 0.0 if self.is_captured else 0.5},
            optimizer={"learning_rate": 1e-3},
            deepspeed={"config": self.config, "gradient_checkpointing": self.checkpointing, "overrides": overrides},
            pipeline={"tag": "off" if self.is_captured else "greedy"},
            performance={"compilation": self.compilation},
        )


def lent_draw(trainer: TrainerRank, version: PublishedShard) -> torch.Tensor:
    """The latents of a fragment that a lane draws while its gradients are open."""
    generated = lend(trainer, version)
    assert generated.trajectories is not None
    return next_latents_of(generated.trajectories)


def steps(trainer: TrainerRank, task: dict[str, Any]) -> dict[str, Any]:
    """The optimizer steps of a lane, with a fragment that it generates while its gradients are open."""
    spec, result = trainer._spec, dict[str, Any]()
    num_pairs = spec.algebra.num_pairs_per_optimizer_step
    for step in range(NUM_STEPS):
        is_first = step == 0
        stats = accumulate_share(trainer, task["groups"], num_pairs_total=num_pairs, fresh=is_first)
        if is_first:
            if stats.num_pairs:
                check_replay_gate(stats, spec.replay_bounds)
            result["lent"] = lent_draw(trainer, task["version"]) if trainer.sampler is not None else torch.empty(0)
        result |= {"num_pairs": stats.num_pairs, **trainer.commit()}
    return {**result, "version": trainer.version(1)}


def run_case(case: Case, task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    options = {"gpus_per_lane": GPUS_PER_LANE}
    trainer = trainer_rank(case.spec, task["path"], rank, world_size, **options)
    trainer.load_version(task["version"])
    result = {**steps(trainer, task), "published": list(trainer.snapshot()), "num_shards": trainer.num_shards}
    uri = f"file://{folder}/{case}"
    trainer.save_checkpoint(uri, {})
    resumed = trainer_rank(case.spec, task["path"], rank, world_size, **options)
    resumed.load_checkpoint(uri)
    return {**result, "restored": resumed.version(1).sha256}


def run(tasks: dict[Case, dict[str, Any]], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    return {case: run_case(case, task, rank, world_size, folder) for case, task in tasks.items()}
