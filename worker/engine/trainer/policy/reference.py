"""The policy that training started from: what a KL term measures the distance to."""

import torch

from worker.engine.models.base import Conditioning, ModelAdapter
from worker.engine.models.lora import lora_disabled


class ReferencePolicy:
    """LoRA training has it for nothing, as the base without its LoRA. Otherwise it is a frozen copy."""

    def __init__(self, model: ModelAdapter, frozen: ModelAdapter | None) -> None:
        """`frozen` is a copy made before `model` was trained; `None`: `model` has LoRA layers to be left out."""
        self._model = model
        self._frozen = frozen

    @torch.no_grad()
    def velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """(N, ...) fp32."""
        if self._frozen is not None:
            return self._frozen.predict_velocity(latents, sigmas, conditioning)
        with lora_disabled(self._model.transformer):
            return self._model.predict_velocity(latents, sigmas, conditioning)
