"""The module that DeepSpeed wraps: it exposes the trainable parameters alone, and its forward runs the whole model.

DeepSpeed broadcasts every parameter it sees, and casts or shards it like any other. If it sees only the trainable ones,
LoRA weights can be fp32 over a frozen base of any dtype. In ZeRO 3 it must see every layer that has sharded weights, to
gather them when the layer is reached.
"""

from collections.abc import Sequence

import torch

from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning


class PolicyModule(torch.nn.Module):
    """The module for ZeRO 0, 1 and 2."""

    def __init__(self, model: ModelAdapter) -> None:
        super().__init__()
        # In a tuple the adapter's modules stay invisible to `parameters()` and `state_dict()`.
        self._model = (model,)
        for name, parameter in model.trainable.items():
            self.register_parameter(name.replace(".", "/"), parameter)

    def forward(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """The velocity of the policy being trained, (N, ...) fp32."""
        return self._model[0].predict_velocity(latents, sigmas, conditioning)


class ShardedPolicyModule(torch.nn.Module):
    """The module for ZeRO 3."""

    def __init__(self, model: ModelAdapter, frozen_copies: Sequence[ModelAdapter]) -> None:
        """`frozen_copies` are other policies whose layers are sharded too."""
        super().__init__()
        self._model = (model,)
        self.transformer = model.transformer
        self.frozen_copies = torch.nn.ModuleList(other.transformer for other in frozen_copies)

    def forward(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """The velocity of the policy being trained, (N, ...) fp32."""
        return self._model[0].predict_velocity(latents, sigmas, conditioning)
