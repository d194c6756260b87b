"""The policy that drew a stale batch, held beside the one being trained: what the replay gate replays with.

Bound from the published bytes that rollout lanes pulled, so a rollout lane that drew with anything else is found out.
"""

from collections.abc import Iterable

import torch

from worker.engine.errors import SyncError
from worker.engine.models.base import Conditioning, ModelAdapter
from worker.engine.models.lora import lora_parameters
from worker.engine.sync.adapter import bind
from worker.engine.trainer.sharding import gathered
from worker.engine.types import GroupBatch, PublishedAdapter


class BehaviourPolicy:
    """Shares the base with the model it is made from, which nothing may have hooked into yet."""

    def __init__(self, model: ModelAdapter) -> None:
        self._model = model.twin()
        self._held: str | None = None

    @property
    def transformer(self) -> torch.nn.Module:
        return self._model.transformer

    def hold(self, adapter: PublishedAdapter, groups: Iterable[GroupBatch]) -> None:
        """Bind the version that drew `groups`, unless it is held already.

        Raises:
            SyncError: when a trajectory is of another version, or as a pull does.
        """
        versions = {fragment.fragment.policy_version for group in groups for fragment in group.trajectories}
        if versions != {adapter.policy_version}:
            raise SyncError(
                f"the behaviour adapter must be of the version that drew the batch, got {adapter.policy_version} for "
                f"trajectories of {', '.join(str(version) for version in sorted(versions))}"
            )
        if self._held != adapter.sha256:
            self.take(adapter)
            self._held = adapter.sha256

    def take(self, adapter: PublishedAdapter) -> None:
        """Bind any adapter, of whatever version."""
        self._held = None
        with gathered(lora_parameters(self.transformer).values(), written=True):
            bind(self.transformer, adapter)

    def velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """(N, ...) fp32."""
        return self._model.predict_velocity(latents, sigmas, conditioning)
