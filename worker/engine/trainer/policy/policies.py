"""The policies that a learner predicts with: the one being trained, the one that drew the data, and the reference."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import torch

from worker.engine.errors import SyncError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.lora import lora_disabled
from worker.engine.models.sharded_parameters import gathered
from worker.engine.sync.binding import bind
from worker.engine.types import GroupBatch, PublishedVersion

Velocity = Callable[[torch.Tensor, torch.Tensor, Conditioning], torch.Tensor]
"""A prediction: latents (N, ...), sigmas (N,), conditioning → velocity (N, ...) fp32."""


class BehaviourPolicy:
    """An older policy: the version that drew stale data, then the proximal policy, or DiffusionNFT's old policy.

    A stale version is bound from the published bytes that rollout lanes pulled, so the replay gate, which replays with
    it, also detects a rollout lane that drew with other weights. The gate is done when the first optimizer step on the
    batch is taken; the weights before that step, around which stale pairs are clipped, take the version's place.
    """

    def __init__(self, model: ModelAdapter) -> None:
        """`model` is a frozen copy of the trained one, which nothing else writes to."""
        self._model = model
        self._bound_sha256: str | None = None

    def bind_version_of(self, groups: Iterable[GroupBatch], version: PublishedVersion) -> None:
        """Bind `version`, which must have drawn `groups`, unless it is bound already.

        Raises:
            SyncError: when a trajectory is of another version, or as `bind`.
        """
        versions = {fragment.fragment.policy_version for group in groups for fragment in group.trajectories}
        if versions != {version.policy_version}:
            raise SyncError(
                f"the behaviour policy must be of the version that drew the batch, got {version.policy_version} for "
                f"trajectories of {', '.join(str(found) for found in sorted(versions))}"
            )
        if self._bound_sha256 != version.sha256:
            self.bind(version)
            self._bound_sha256 = version.sha256

    def bind(self, version: PublishedVersion) -> None:
        """Bind any version. Raises `SyncError` as `worker.engine.sync.binding.bind`."""
        self._bound_sha256 = None
        bind(self._model.trainable, version)

    @torch.no_grad()
    def copy_from(self, trainable: Mapping[str, torch.nn.Parameter], shards: Iterable[Collection[str]]) -> None:
        """Hold a copy of `trainable`, shard by shard; `shards` are their names. A collective in ZeRO 3."""
        self._bound_sha256 = None
        own = self._model.trainable
        for names in shards:
            with gathered(trainable[name] for name in names), gathered((own[name] for name in names), written=True):
                for name in names:
                    own[name].copy_(trainable[name])

    def velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """(N, ...) fp32."""
        return self._model.predict_velocity(latents, sigmas, conditioning)


class ReferencePolicy:
    """The policy that training started from, to which KL terms measure the distance.

    LoRA training needs no memory for it: it is the base with the LoRA layers disabled. Full fine-tuning keeps a copy.
    """

    def __init__(self, model: ModelAdapter, frozen: ModelAdapter | None) -> None:
        """`frozen` is a copy made before `model` was trained; without one, `model` must have LoRA layers."""
        self._model = model
        self._frozen = frozen

    @torch.no_grad()
    def velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """(N, ...) fp32."""
        if self._frozen is not None:
            return self._frozen.predict_velocity(latents, sigmas, conditioning)
        with lora_disabled(self._model.transformer):
            return self._model.predict_velocity(latents, sigmas, conditioning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The policies of one trainer rank."""

    model: ModelAdapter
    """The model being trained."""
    velocity: Velocity
    """The prediction of the model being trained, through DeepSpeed's engine."""
    behaviour: BehaviourPolicy | None
    """The older policy; `None` unless `max_staleness`, the algorithm or recomputed log-probs need one."""
    reference: ReferencePolicy | None
    """The policy that training started from; `None` where the algorithm does not need it and it would take a copy."""
