"""FLUX.1 and every checkpoint of its pipeline class, the shipped shapes model included.

Deterministic sampling through this adapter equals `FluxPipeline.__call__` for the same latents: the same schedule, the
same rounding of timesteps, the same position ids.
"""

from functools import lru_cache
from typing import Any

import torch
from diffusers import FluxPipeline

from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.sections import SamplingSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.flow_schedule import (
    TIME_SCALE,
    scheduled_sigmas,
    shift_of_resolution,
    sigmas_to_last_step,
)
from worker.engine.models.guidance import rows
from worker.engine.models.sample_shapes import check_size, in_unit_range
from worker.engine.models.sequence_length import sequence_length

MAX_T5_TOKENS = 512
"""The prompt length of FLUX.1-dev. A checkpoint whose tokenizer allows less (the shapes model) was trained with
that."""

MAX_T5_TOKENS_DISTILLED = 256
"""The prompt length of FLUX.1-schnell, a checkpoint without guidance embedding: it was trained on prompts padded to
it."""


class FluxAdapter(ModelAdapter):
    family = ModelFamily.FLUX
    pipeline_class = FluxPipeline
    default_lora_targets = (
        "attn.to_q",
        "attn.to_k",
        "attn.to_v",
        "attn.to_out.0",
        "attn.add_q_proj",
        "attn.add_k_proj",
        "attn.add_v_proj",
        "attn.to_add_out",
        "ff.net.0.proj",
        "ff.net.2",
        "ff_context.net.0.proj",
        "ff_context.net.2",
        "proj_mlp",
        "proj_out",
    )

    @property
    def guidance(self) -> GuidanceKind:
        return GuidanceKind.EMBEDDED if self.transformer.config.guidance_embeds else GuidanceKind.NONE

    def _encode(self, prompt: str) -> PromptEmbeds:
        embeds, pooled, text_ids = self._pipeline.encode_prompt(
            prompt=[prompt],
            prompt_2=None,
            device=self.device,
            max_sequence_length=_max_tokens(self._pipeline, self.max_sequence_length),
        )
        return {"embeds": embeds, "pooled": pooled, "text_ids": text_ids}

    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        """(tokens, channels): 2 × 2 patches of the autoencoder's latents."""
        rows, columns = self._token_grid(height, width)
        return rows * columns, int(self.transformer.config.in_channels)

    def sigmas(self, num_denoising_steps: int, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        scheduler = self._pipeline.scheduler
        return scheduled_sigmas(
            scheduler,
            num_denoising_steps,
            self.device,
            shift=shift_of_resolution(scheduler, self.latent_shape(height, width)[0]),
            unshifted=sigmas_to_last_step(num_denoising_steps),
        )

    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        num = latents.shape[0]
        scale = conditioning.guidance_scale
        embedded = self.guidance is GuidanceKind.EMBEDDED
        velocity: torch.Tensor = self.transformer(
            hidden_states=latents,
            # The pipeline passes sigma * 1000 / 1000, which rounds.
            timestep=sigmas * TIME_SCALE / TIME_SCALE,
            guidance=torch.full((num,), scale, device=self.device, dtype=torch.float32) if embedded else None,
            pooled_projections=rows(prompt["pooled"], num),
            encoder_hidden_states=rows(prompt["embeds"], num),
            txt_ids=prompt["text_ids"],
            img_ids=_image_ids(*self._token_grid(conditioning.height, conditioning.width), self.device),
            return_dict=False,
        )[0]
        return velocity

    def pixels(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        vae = self._pipeline.vae
        unpacked = self._pipeline._unpack_latents(latents, height, width, self._pipeline.vae_scale_factor)
        scaled = unpacked / vae.config.scaling_factor + vae.config.shift_factor
        return in_unit_range(vae.decode(scaled.to(vae.dtype), return_dict=False)[0])

    @classmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        max_tokens = _max_tokens(pipeline, sampling.max_sequence_length)
        return {"guidance_scale": sampling.guidance_scale, "max_sequence_length": max_tokens}

    def _token_grid(self, height: int, width: int) -> tuple[int, int]:
        patch = self._pipeline.vae_scale_factor * 2
        check_size(height, width, patch)
        return height // patch, width // patch


@lru_cache(maxsize=8)
def _image_ids(num_rows: int, num_columns: int, device: torch.device) -> torch.Tensor:
    """Positions of the image's tokens, (num_rows × num_columns, 3). Cached for the process: a cache of bound methods
    would be a reference cycle, which delays the release of the adapter's memory until a garbage collection."""
    with torch.inference_mode(False):
        ids: torch.Tensor = FluxPipeline._prepare_latent_image_ids(1, num_rows, num_columns, device, torch.float32)
        return ids


def _max_tokens(pipeline: Any, asked: int | None) -> int:
    default = MAX_T5_TOKENS if pipeline.transformer.config.guidance_embeds else MAX_T5_TOKENS_DISTILLED
    return sequence_length(asked, default, pipeline.tokenizer_2)
