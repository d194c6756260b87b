"""Records what the older policy of trainer ranks replays."""

from typing import Any

import pytest
import torch

from worker.engine.trainer.policy.policies import BehaviourPolicy


def record_replays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of pairs of each replay by an older policy from now on; the list grows."""
    replayed: list[int] = []
    velocity = BehaviourPolicy.velocity

    def recording(policy: BehaviourPolicy, latents: torch.Tensor, *others: Any) -> torch.Tensor:
        replayed.append(len(latents))
        return velocity(policy, latents, *others)

    monkeypatch.setattr(BehaviourPolicy, "velocity", recording)
    return replayed
