"""FLUX.2: dev with embedded guidance, klein with true CFG, distilled klein without guidance.

All share transformer, autoencoder and schedule; dev and klein differ in the text encoder and in guidance. Tokens of the
latent grid are ordered row by row, so their position ids follow from the size alone.
"""

from functools import lru_cache
from typing import Any

import torch
from diffusers import Flux2KleinPipeline, Flux2Pipeline
from diffusers.pipelines.flux2.pipeline_flux2 import compute_empirical_mu

from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.sections import SamplingSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.flow_schedule import TIME_SCALE, scheduled_sigmas, sigmas_to_last_step
from worker.engine.models.guidance import rows
from worker.engine.models.sample_shapes import check_size, in_unit_range

MAX_TOKENS = 512
"""The default prompt length of both pipelines; prompts are padded to it."""


class Flux2Adapter(ModelAdapter):
    family = ModelFamily.FLUX2
    pipeline_class = Flux2Pipeline
    default_lora_targets = (
        "attn.to_q",
        "attn.to_k",
        "attn.to_v",
        "attn.to_out.0",
        "attn.add_q_proj",
        "attn.add_k_proj",
        "attn.add_v_proj",
        "attn.to_add_out",
        "attn.to_qkv_mlp_proj",
        "attn.to_out",
    )

    @property
    def guidance(self) -> GuidanceKind:
        return GuidanceKind.EMBEDDED if self.transformer.config.guidance_embeds else GuidanceKind.NONE

    def _encode(self, prompt: str) -> PromptEmbeds:
        max_tokens = self.max_sequence_length or MAX_TOKENS
        embeds, text_ids = self._pipeline.encode_prompt(
            prompt=[prompt], device=self.device, max_sequence_length=max_tokens
        )
        return {"embeds": embeds, "text_ids": text_ids}

    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        """(tokens, channels): 2 × 2 patches of the autoencoder's latents."""
        num_rows, num_columns = self._token_grid(height, width)
        return num_rows * num_columns, int(self.transformer.config.in_channels)

    def sigmas(self, num_denoising_steps: int, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        num_tokens = self.latent_shape(height, width)[0]
        return scheduled_sigmas(
            self._pipeline.scheduler,
            num_denoising_steps,
            self.device,
            shift=compute_empirical_mu(image_seq_len=num_tokens, num_steps=num_denoising_steps),
            unshifted=sigmas_to_last_step(num_denoising_steps),
        )

    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        num, scale = latents.shape[0], conditioning.guidance_scale
        embedded = self.guidance is GuidanceKind.EMBEDDED
        velocity: torch.Tensor = self.transformer(
            hidden_states=latents,
            # The pipeline passes sigma * 1000 / 1000, which rounds.
            timestep=sigmas * TIME_SCALE / TIME_SCALE,
            guidance=torch.full((num,), scale, device=self.device, dtype=torch.float32) if embedded else None,
            encoder_hidden_states=rows(prompt["embeds"], num),
            txt_ids=rows(prompt["text_ids"], num),
            img_ids=rows(_image_ids(*self._token_grid(conditioning.height, conditioning.width), self.device), num),
            return_dict=False,
        )[0]
        return velocity

    def pixels(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        vae = self._pipeline.vae
        grid = latents.permute(0, 2, 1).unflatten(2, self._token_grid(height, width))
        mean = vae.bn.running_mean.view(1, -1, 1, 1).to(grid.device, grid.dtype)
        std = torch.sqrt(vae.bn.running_var.view(1, -1, 1, 1) + vae.config.batch_norm_eps).to(grid.device, grid.dtype)
        unpatched = self._pipeline._unpatchify_latents(grid * std + mean)
        return in_unit_range(vae.decode(unpatched.to(vae.dtype), return_dict=False)[0])

    @classmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        max_tokens = sampling.max_sequence_length or MAX_TOKENS
        return {"guidance_scale": sampling.guidance_scale, "max_sequence_length": max_tokens}

    def _token_grid(self, height: int, width: int) -> tuple[int, int]:
        patch = self._pipeline.vae_scale_factor * 2
        check_size(height, width, patch)
        return height // patch, width // patch


@lru_cache(maxsize=8)
def _image_ids(num_rows: int, num_columns: int, device: torch.device) -> torch.Tensor:
    """Positions of the image's tokens, (1, num_rows × num_columns, 4). Cached for the process, see `flux`."""
    with torch.inference_mode(False):
        ids: torch.Tensor = Flux2Pipeline._prepare_latent_ids(torch.empty(1, 1, num_rows, num_columns)).to(device)
        return ids


class Flux2KleinAdapter(Flux2Adapter):
    family = ModelFamily.FLUX2_KLEIN
    pipeline_class = Flux2KleinPipeline

    @property
    def guidance(self) -> GuidanceKind:
        return GuidanceKind.NONE if self._pipeline.config.is_distilled else GuidanceKind.TRUE_CFG
