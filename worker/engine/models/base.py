"""What every model family answers. Above it nothing knows about pipelines; below it nothing knows about runs.

Latents are in the transformer's own (packed) layout and in fp32 everywhere outside the adapter. Only the adapter
casts to the model's dtype, so the numerics of sampling and replay are the same code.
"""

import copy
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import torch

from worker.contracts.names import ModelFamily
from worker.engine.models.lora import twin_with_own_lora

PromptEmbeds = Mapping[str, torch.Tensor]
"""Named embeddings of one prompt, each with a first dimension of 1 that broadcasts over a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """What a batch of latents is denoised towards: one prompt, since fragments and micro-batches never mix groups."""

    prompt: PromptEmbeds
    height: int
    width: int
    guidance_scale: float


class ModelAdapter(ABC):
    """A diffusers pipeline, frozen, behind the few questions the engine asks."""

    family: ClassVar[ModelFamily]
    default_lora_targets: ClassVar[tuple[str, ...]]

    def __init__(self, transformer: torch.nn.Module, device: torch.device, dtype: torch.dtype) -> None:
        self.transformer = transformer
        self.device = device
        self.dtype = dtype
        self._embeds: dict[str, PromptEmbeds] = {}

    def twin(self) -> Self:
        """The same model once more: LoRA weights of its own, frozen; all else, prompt embeddings too, is shared."""
        other = copy.copy(self)
        other.transformer = twin_with_own_lora(self.transformer)
        return other

    def encode_prompt(self, prompt: str) -> PromptEmbeds:
        """Embeddings of `prompt`, computed once in this process and kept by the prompt's hash."""
        key = hashlib.sha256(prompt.encode()).hexdigest()
        if key not in self._embeds:
            with torch.inference_mode(False), torch.no_grad():
                self._embeds[key] = self._encode(prompt)
        return self._embeds[key]

    @abstractmethod
    def _encode(self, prompt: str) -> PromptEmbeds: ...

    @abstractmethod
    def latent_shape(self, height: int, width: int) -> tuple[int, ...]:
        """Shape of one trajectory's latents, without the batch dimension."""

    @abstractmethod
    def sigmas(self, num_denoising_steps: int, *, height: int, width: int) -> torch.Tensor:
        """The pipeline's own schedule, (num_denoising_steps + 1,) fp32 from 1 to 0, on the model's device."""

    @abstractmethod
    def predict_velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """v = eps - x0 of `latents` (N, ...) at `sigmas` (N,), in fp32."""

    @abstractmethod
    def decode(self, latents: torch.Tensor, *, height: int, width: int) -> np.ndarray:
        """Clean latents (N, ...) as pictures, uint8 of (N, H, W, 3)."""

    @abstractmethod
    def save_lora(self, folder: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """Write LoRA tensors by peft name as the file that the family's pipeline loads."""
