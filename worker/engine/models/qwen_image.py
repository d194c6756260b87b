"""Qwen-Image: prompts of any length from a language model, packed latents, true CFG that keeps each token's norm.

The pipeline drops the chat template's first tokens, so an embedding is as long as its prompt. Prompts are padded, and
masked, only where a batched pass has two of different length.
"""

from typing import Any

import torch
from diffusers import QwenImagePipeline
from torch.nn.functional import pad

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
from worker.engine.models.guidance import Scale, combine_keeping_norm, rows
from worker.engine.models.sample_shapes import check_size, in_unit_range

MAX_TOKENS = 512
"""The pipeline's default prompt length."""


class QwenImageAdapter(ModelAdapter):
    family = ModelFamily.QWEN_IMAGE
    pipeline_class = QwenImagePipeline
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
        max_tokens = self.max_sequence_length or MAX_TOKENS
        embeds, _ = self._pipeline.encode_prompt(prompt=[prompt], device=self.device, max_sequence_length=max_tokens)
        return {"embeds": embeds}

    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        """(tokens, channels): 2 × 2 patches of the autoencoder's latents."""
        num_rows, num_columns = self._token_grid(height, width)
        return num_rows * num_columns, int(self.transformer.config.in_channels)

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
        mask = prompt.get("mask")
        velocity: torch.Tensor = self.transformer(
            hidden_states=latents,
            # The pipeline passes sigma * 1000 / 1000, which rounds.
            timestep=sigmas * TIME_SCALE / TIME_SCALE,
            encoder_hidden_states=rows(prompt["embeds"], num),
            encoder_hidden_states_mask=None if mask is None else rows(mask, num),
            img_shapes=[[(1, *self._token_grid(conditioning.height, conditioning.width))]] * num,
            return_dict=False,
        )[0]
        return velocity

    def _combine(self, conditional: torch.Tensor, unconditional: torch.Tensor, guidance_scale: Scale) -> torch.Tensor:
        return combine_keeping_norm(conditional, unconditional, guidance_scale)

    def _stacked(self, negative: PromptEmbeds, positive: PromptEmbeds, num: int) -> PromptEmbeds:
        lengths = [embeds["embeds"].shape[1] for embeds in (negative, positive)]
        padded, masks = [], []
        for embeds, length in zip((negative, positive), lengths, strict=True):
            missing = max(lengths) - length
            padded.append(rows(pad(embeds["embeds"], (0, 0, 0, missing)), num))
            masks.append(rows(pad(torch.ones(1, length, dtype=torch.long, device=self.device), (0, missing)), num))
        stacked = {"embeds": torch.cat(padded)}
        return stacked if lengths[0] == lengths[1] else stacked | {"mask": torch.cat(masks)}

    def pixels(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        vae = self._pipeline.vae
        unpacked = self._pipeline._unpack_latents(latents, height, width, self._pipeline.vae_scale_factor)
        unpacked = unpacked.to(vae.dtype)
        mean, std = (
            torch.tensor(values, device=unpacked.device, dtype=unpacked.dtype).view(1, -1, 1, 1, 1)
            for values in (vae.config.latents_mean, vae.config.latents_std)
        )
        # Divided by the inverse, as the pipeline does: a product would round differently.
        return in_unit_range(vae.decode(unpacked / (1.0 / std) + mean, return_dict=False)[0][:, :, 0])

    @classmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        return {
            "true_cfg_scale": sampling.guidance_scale,
            "negative_prompt": sampling.negative_prompt,
            "max_sequence_length": sampling.max_sequence_length or MAX_TOKENS,
        }

    def _token_grid(self, height: int, width: int) -> tuple[int, int]:
        patch = self._pipeline.vae_scale_factor * 2
        check_size(height, width, patch)
        return height // patch, width // patch
