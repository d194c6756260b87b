"""A spec with one batch of fixed trajectories, and trainer ranks that start from the version that drew them."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard, UpdateStats

_VERSIONS: dict[tuple[Hashable, ...], PublishedShard] = {}


def shared_version(spec: RunSpec, path: str, seed: int, policy_version: int = 0) -> PublishedShard:
    """`perturbed_version`, made once for all specs that train the same weights."""
    key = (path, seed, policy_version, spec.base_model, spec.tuning, spec.lora, spec.seed)
    if key not in _VERSIONS:
        _VERSIONS[key] = perturbed_version(spec, path, seed, policy_version)
    return _VERSIONS[key]


@dataclass(frozen=True)
class TrainingSetup:
    """What a trainer rank needs for a mini-batch, whatever the algorithm."""

    spec: RunSpec
    path: str
    """The base model's."""
    version: PublishedShard
    """The version that drew the groups."""
    groups: list[GroupBatch]

    @classmethod
    def drawn(cls, spec: RunSpec, path: str) -> "TrainingSetup":
        """One batch drawn by a version that differs from the base."""
        version = shared_version(spec, path, seed=1)
        return cls(spec, path, version, draw_groups(spec, path, version))

    def trainer(self, rank: int = 0, world_size: int = 1, **options: Any) -> TrainerRank:
        """A new trainer rank that holds `version`; `options` as `TrainerRank` takes them."""
        trainer = trainer_rank(self.spec, self.path, rank, world_size, **options)
        trainer.load_version(self.version)
        return trainer

    def accumulate(self, trainer: TrainerRank, groups: list[GroupBatch] | None = None, **changes: Any) -> UpdateStats:
        """Accumulate the rank's share of `groups`, by default all, as fresh data; keywords change the arguments."""
        chosen = self.groups if groups is None else groups
        arguments = {"num_pairs_total": self.spec.algebra.num_pairs_per_optimizer_step, "fresh": True, **changes}
        return accumulate_share(trainer, chosen, **arguments)

    def step(self, trainer: TrainerRank) -> str:
        """Take one optimizer step over all groups; returns the checksum of the published weights after it."""
        self.accumulate(trainer)
        trainer.commit()
        return trainer.version(0).sha256
