"""The policy that drew a stale batch, held beside the one being trained: what the replay gate replays with.

Bound from the published bytes that rollout lanes pulled, so a rollout lane that drew with anything else is found out.
"""

from collections.abc import Iterable

import torch

from worker.engine.errors import SyncError
from worker.engine.models.base import Conditioning, ModelAdapter
from worker.engine.sync.binding import bind
from worker.engine.types import GroupBatch, PublishedVersion


class BehaviourPolicy:
    def __init__(self, model: ModelAdapter) -> None:
        """`model` is a frozen copy of the trained one, which nobody else writes to."""
        self._model = model
        self._held: str | None = None

    def hold(self, version: PublishedVersion, groups: Iterable[GroupBatch]) -> None:
        """Bind the version that drew `groups`, unless it is held already.

        Raises:
            SyncError: when a trajectory is of another version, or as a pull does.
        """
        versions = {fragment.fragment.policy_version for group in groups for fragment in group.trajectories}
        if versions != {version.policy_version}:
            raise SyncError(
                f"the behaviour policy must be of the version that drew the batch, got {version.policy_version} for "
                f"trajectories of {', '.join(str(found) for found in sorted(versions))}"
            )
        if self._held != version.sha256:
            self.take(version)
            self._held = version.sha256

    def take(self, version: PublishedVersion) -> None:
        """Bind any version."""
        self._held = None
        bind(self._model.trained, version)

    def velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """(N, ...) fp32."""
        return self._model.predict_velocity(latents, sigmas, conditioning)
