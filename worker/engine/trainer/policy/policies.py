"""The policies that a learner asks: the one that is trained, and those that stand beside it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from worker.engine.models.base import Conditioning, ModelAdapter
from worker.engine.trainer.policy.behaviour import BehaviourPolicy
from worker.engine.trainer.policy.reference import ReferencePolicy

Velocity = Callable[[torch.Tensor, torch.Tensor, Conditioning], torch.Tensor]
"""Latents (N, ...), sigmas (N,), conditioning → velocity (N, ...) fp32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    model: ModelAdapter
    """The one that is trained."""
    velocity: Velocity
    """Of it, as DeepSpeed wraps it."""
    second: BehaviourPolicy | None
    """The older policy, where staleness or the algorithm asks for one."""
    reference: ReferencePolicy | None
    """What training started from; `None` where nobody needs it and it would take a copy."""
