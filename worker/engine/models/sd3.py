"""Stable Diffusion 3 and 3.5: three text encoders, unpacked latents, true CFG.

The pipeline makes both predictions of true CFG in one forward pass; `batched_cfg` does the same, bit for bit.
"""

from typing import Any

import torch
from diffusers import StableDiffusion3Pipeline

from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.sections import SamplingSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.flow_schedule import TIME_SCALE, scheduled_sigmas, shift_of_resolution
from worker.engine.models.guidance import rows
from worker.engine.models.sample_shapes import check_size, in_unit_range
from worker.engine.models.sequence_length import sequence_length

MAX_T5_TOKENS = 256
"""The pipeline's default prompt length."""

MAX_SHIFT = 1.16
"""The pipeline's maximum shift where the scheduler's config names none; those of other families default to 1.15."""


class StableDiffusion3Adapter(ModelAdapter):
    family = ModelFamily.SD3
    pipeline_class = StableDiffusion3Pipeline
    default_lora_targets = (
        "attn.to_q",
        "attn.to_k",
        "attn.to_v",
        "attn.to_out.0",
        "attn.add_q_proj",
        "attn.add_k_proj",
        "attn.add_v_proj",
        "attn.to_add_out",
    )

    @property
    def guidance(self) -> GuidanceKind:
        return GuidanceKind.TRUE_CFG

    def _encode(self, prompt: str) -> PromptEmbeds:
        embeds, _, pooled, _ = self._pipeline.encode_prompt(
            prompt=[prompt],
            prompt_2=None,
            prompt_3=None,
            device=self.device,
            do_classifier_free_guidance=False,
            max_sequence_length=_max_tokens(self._pipeline, self.max_sequence_length),
        )
        return {"embeds": embeds, "pooled": pooled}

    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        """(channels, rows, columns) of the autoencoder's latents."""
        factor = self._pipeline.vae_scale_factor
        check_size(height, width, factor * self._pipeline.patch_size)
        return int(self.transformer.config.in_channels), height // factor, width // factor

    def sigmas(self, num_denoising_steps: int, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        scheduler = self._pipeline.scheduler
        shift = None
        if scheduler.config.get("use_dynamic_shifting"):
            _, num_rows, num_columns = self.latent_shape(height, width)
            patch = self._pipeline.patch_size
            shift = shift_of_resolution(scheduler, (num_rows // patch) * (num_columns // patch), max_shift=MAX_SHIFT)
        return scheduled_sigmas(scheduler, num_denoising_steps, self.device, shift=shift)

    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        num = latents.shape[0]
        velocity: torch.Tensor = self.transformer(
            hidden_states=latents,
            timestep=sigmas * TIME_SCALE,
            encoder_hidden_states=rows(prompt["embeds"], num),
            pooled_projections=rows(prompt["pooled"], num),
            return_dict=False,
        )[0]
        return velocity

    def pixels(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        vae = self._pipeline.vae
        scaled = latents / vae.config.scaling_factor + vae.config.shift_factor
        return in_unit_range(vae.decode(scaled.to(vae.dtype), return_dict=False)[0])

    @classmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        return {
            "guidance_scale": sampling.guidance_scale,
            "negative_prompt": sampling.negative_prompt,
            "max_sequence_length": _max_tokens(pipeline, sampling.max_sequence_length),
        }


def _max_tokens(pipeline: Any, asked: int | None) -> int:
    return sequence_length(asked, MAX_T5_TOKENS, pipeline.tokenizer_3)
