"""A trainer and its trajectories for any algorithm."""

from dataclasses import dataclass
from typing import Any

from tests.engine.fixed_trajectories import draw_groups, perturbed_adapter
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard, UpdateStats


@dataclass(frozen=True)
class TrainingSetup:
    """Groups drawn by the adapter that each trainer starts from."""

    spec: RunSpec
    path: str
    adapter: PublishedShard
    groups: list[GroupBatch]

    @classmethod
    def drawn(cls, spec: RunSpec, path: str) -> "TrainingSetup":
        """One batch under an adapter that is not the base."""
        adapter = perturbed_adapter(spec, path, seed=1)
        return cls(spec, path, adapter, draw_groups(spec, path, adapter))

    def trainer(self, rank: int = 0, world_size: int = 1) -> TrainerRank:
        trainer = TrainerRank(self.spec, self.path, rank, world_size)
        trainer.load_version(self.adapter)
        return trainer

    def accumulate(self, trainer: TrainerRank, groups: list[GroupBatch] | None = None, **changes: Any) -> UpdateStats:
        num_pairs = self.spec.algebra.num_pairs_per_optimizer_step
        return trainer.accumulate(
            self.groups if groups is None else groups, **{"num_pairs_total": num_pairs, "fresh": True, **changes}
        )

    def step(self, trainer: TrainerRank) -> str:
        """One optimizer step; the checksum of what is published after it."""
        self.accumulate(trainer)
        trainer.commit()
        return trainer.version(0).sha256
