"""Wan2.2 text-to-video. A14B has two transformers, one for each side of a noise boundary; TI2V-5B has one.

Both experts of A14B are trained, published and exported together, under the pipeline's component names. A prediction
uses the expert that `WanPipeline.__call__` uses at that timestep.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from worker.contracts.names import ModelFamily
from worker.engine.errors import ModelLoadError
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.experts import Expert, Experts, by_expert, experts_of, running_experts
from worker.engine.models.flow_schedule import TIME_SCALE
from worker.engine.models.guidance import Scale
from worker.engine.models.lora import lora_metadata
from worker.engine.models.wan import WanAdapter

HIGH_NOISE, LOW_NOISE = "transformer", "transformer_2"
"""The component names of the experts in `WanPipeline`."""


class Wan22Adapter(WanAdapter):
    family = ModelFamily.WAN22

    def __init__(self, pipeline: Any, path: str, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__(pipeline, path, device, dtype)
        low_noise = getattr(pipeline, LOW_NOISE, None)
        if low_noise is not None:
            if pipeline.config.boundary_ratio is None:
                raise ModelLoadError(
                    "`boundary_ratio` in the model_index.json of `base_model.path` must be a number for a checkpoint "
                    "with two transformers, got none: the second would never be used"
                )
            self.transformer = Experts({HIGH_NOISE: pipeline.transformer, LOW_NOISE: low_noise})

    def _check_experts(self) -> None:
        """Checkpoints with one and with two transformers are of this family."""

    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        if not isinstance(self.transformer, Experts):
            return super()._velocity(latents, sigmas, prompt, conditioning)
        timesteps, embeds = self._timesteps(sigmas), prompt["embeds"].expand(len(latents), -1, -1)

        def expert(name: str) -> Expert:
            transformer = self.transformer.get_submodule(name)
            return lambda rows: self._forward(transformer, latents[rows], timesteps[rows], embeds[rows])

        is_high_noise = self._are_high_noise(timesteps)
        runs = running_experts(self.transformer, is_high_noise)
        return by_expert(is_high_noise, expert(HIGH_NOISE), expert(LOW_NOISE), runs=runs)

    def _scales(self, sigmas: torch.Tensor, conditioning: Conditioning) -> Scale:
        low_noise = conditioning.guidance_scale_2
        if low_noise is None:
            return conditioning.guidance_scale
        is_high_noise = self._are_high_noise(self._timesteps(sigmas))
        return torch.where(is_high_noise, conditioning.guidance_scale, low_noise).view(-1, 1, 1, 1, 1)

    def _are_high_noise(self, timesteps: torch.Tensor) -> torch.Tensor:
        """Which of `timesteps` (N,) are for the high-noise expert, (N,) bool."""
        is_high_noise: torch.Tensor = timesteps >= self._pipeline.config.boundary_ratio * TIME_SCALE
        return is_high_noise

    def save_lora(self, folder: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """One file: the high-noise expert's tensors under `transformer.`, the other's under `transformer_2.`."""
        if not isinstance(self.transformer, Experts):
            super().save_lora(folder, tensors)
            return
        experts = {prefix.removesuffix("."): expert for prefix, expert in experts_of(self.transformer).items()}
        self.pipeline_class._save_lora_weights(
            folder,
            lora_layers={
                name: {
                    key.removeprefix(f"{name}."): tensor
                    for key, tensor in tensors.items()
                    if key.startswith(f"{name}.")
                }
                for name in experts
            },
            lora_metadata={name: lora_metadata(expert) for name, expert in experts.items()},
        )

    @classmethod
    def load_lora(cls, pipeline: Any, file: Path) -> None:
        super().load_lora(pipeline, file)
        if getattr(pipeline, LOW_NOISE, None) is not None:
            # `load_lora_weights` loads into one transformer only, with the tensors under the first one's name.
            pipeline.transformer_2.load_lora_adapter(str(file.parent), weight_name=file.name, prefix=LOW_NOISE)
