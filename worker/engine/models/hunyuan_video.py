"""HunyuanVideo: guidance embedded in the model, LLaVA-Llama and CLIP embeddings, a prompt template that asks for a
description and whose own tokens the pipeline crops from the embeddings.

The padding of prompts is cropped, too, where the pipeline masks it: the kernels that are fastest take no mask, and the
256 tokens that prompts are padded to cost attention as much as a tenth of a small clip's. Samples are the pipeline's
but for rounding.
"""

from typing import Any

import numpy as np
import torch
from diffusers import HunyuanVideoPipeline
from diffusers.models.transformers.transformer_hunyuan_video import HunyuanVideoAttnProcessor2_0

from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.sections import SamplingSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.flow_schedule import TIME_SCALE, scheduled_sigmas
from worker.engine.models.guidance import rows
from worker.engine.models.sample_shapes import as_frames, clip_latent_shape

MAX_TOKENS = 256
"""The pipeline's default prompt length, the template's own tokens not counted."""

GUIDANCE_UNIT = 1000.0
"""The factor of the guidance scale in the guidance embedding, as in `HunyuanVideoPipeline`."""


class HunyuanVideoAdapter(ModelAdapter):
    family = ModelFamily.HUNYUAN_VIDEO
    pipeline_class = HunyuanVideoPipeline
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

    def __init__(self, pipeline: Any, path: str, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__(pipeline, path, device, dtype)
        for module in self.transformer.modules():
            if isinstance(getattr(module, "processor", None), HunyuanVideoAttnProcessor2_0):
                module.processor = _UnmaskedAttention()

    @property
    def guidance(self) -> GuidanceKind:
        return GuidanceKind.EMBEDDED if self._pipeline.transformer.config.guidance_embeds else GuidanceKind.NONE

    def _encode(self, prompt: str) -> PromptEmbeds:
        max_tokens = self.max_sequence_length or MAX_TOKENS
        embeds, pooled, mask = self._pipeline.encode_prompt(
            prompt=[prompt], device=self.device, max_sequence_length=max_tokens
        )
        return {"embeds": embeds[:, mask[0].bool()], "pooled": pooled}

    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        patch = self._pipeline.transformer.config.patch_size
        return clip_latent_shape(self._pipeline, patch=patch, height=height, width=width, num_frames=num_frames)

    def sigmas(self, num_denoising_steps: int, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        unshifted = np.linspace(1.0, 0.0, num_denoising_steps + 1)[:-1]
        return scheduled_sigmas(self._pipeline.scheduler, num_denoising_steps, self.device, unshifted=unshifted)

    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        num, embeds = len(latents), prompt["embeds"]
        velocity: torch.Tensor = self.transformer(
            hidden_states=latents,
            timestep=sigmas * TIME_SCALE,
            encoder_hidden_states=rows(embeds, num).to(self.dtype),
            encoder_attention_mask=torch.ones(num, embeds.shape[1], device=self.device, dtype=self.dtype),
            pooled_projections=rows(prompt["pooled"], num).to(self.dtype),
            guidance=self._guidance(conditioning.guidance_scale, num),
            return_dict=False,
        )[0]
        return velocity

    def _guidance(self, guidance_scale: float, num: int) -> torch.Tensor | None:
        if self.guidance is not GuidanceKind.EMBEDDED:
            return None
        return torch.full((num,), guidance_scale, device=self.device, dtype=self.dtype) * GUIDANCE_UNIT

    def pixels(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        vae = self._pipeline.vae
        scaled = latents.to(vae.dtype) / vae.config.scaling_factor
        return as_frames(vae.decode(scaled, return_dict=False)[0])

    @classmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        return {
            "guidance_scale": sampling.guidance_scale,
            "num_frames": sampling.num_frames,
            "max_sequence_length": sampling.max_sequence_length or MAX_TOKENS,
        }


class _UnmaskedAttention(HunyuanVideoAttnProcessor2_0):
    """Attention of tokens that are all real, whatever mask the transformer builds of them."""

    # diffusers passes what the signature names.
    def __call__(
        self,
        attn: Any,
        hidden_states: torch.Tensor,
        encoder_hidden_states: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        image_rotary_emb: Any = None,
    ) -> Any:
        return super().__call__(attn, hidden_states, encoder_hidden_states, None, image_rotary_emb)
