"""The module DeepSpeed wraps: the LoRA parameters alone, with the whole model behind its forward.

DeepSpeed demands one dtype for all parameters it sees, broadcasts and checkpoints them all. Shown only the trainable
ones, it keeps fp32 LoRA weights over a frozen base of any dtype, and its checkpoints are trainable-only by nature.
"""

import torch

from worker.engine.models.base import Conditioning, ModelAdapter
from worker.engine.models.lora import lora_parameters


class PolicyModule(torch.nn.Module):
    def __init__(self, model: ModelAdapter) -> None:
        super().__init__()
        # In a tuple the adapter's modules stay invisible to `parameters()` and `state_dict()`.
        self._model = (model,)
        for name, parameter in lora_parameters(model.transformer).items():
            self.register_parameter(name.replace(".", "/"), parameter)

    def forward(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """The current policy's velocity, (N, ...) fp32."""
        return self._model[0].predict_velocity(latents, sigmas, conditioning)
