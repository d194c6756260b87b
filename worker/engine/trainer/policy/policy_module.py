"""The module DeepSpeed wraps: the trained parameters alone, with the whole model behind its forward.

DeepSpeed broadcasts and checkpoints all parameters it sees. Shown only the trainable ones, it keeps fp32 LoRA weights
over a frozen base of any dtype, and its checkpoints are trainable-only by nature. In ZeRO 3 it must see every layer
that holds a part of the weights, to gather them when the layer is reached.
"""

from collections.abc import Sequence

import torch

from worker.engine.models.base import Conditioning, ModelAdapter


class PolicyModule(torch.nn.Module):
    """For ZeRO 0, 1 and 2."""

    def __init__(self, model: ModelAdapter) -> None:
        super().__init__()
        # In a tuple the adapter's modules stay invisible to `parameters()` and `state_dict()`.
        self._model = (model,)
        for name, parameter in model.trained.items():
            self.register_parameter(name.replace(".", "/"), parameter)

    def forward(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """The current policy's velocity, (N, ...) fp32."""
        return self._model[0].predict_velocity(latents, sigmas, conditioning)


class ShardedPolicyModule(torch.nn.Module):
    """For ZeRO 3."""

    def __init__(self, model: ModelAdapter, beside: Sequence[ModelAdapter]) -> None:
        """`beside` are other policies whose layers are cut too."""
        super().__init__()
        self._model = (model,)
        self.transformer = model.transformer
        self.beside = torch.nn.ModuleList(other.transformer for other in beside)

    def forward(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """The current policy's velocity, (N, ...) fp32."""
        return self._model[0].predict_velocity(latents, sigmas, conditioning)
