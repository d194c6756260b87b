"""FLUX.1 and every checkpoint of its pipeline class, the shipped shapes model included.

Deterministic sampling through this adapter equals `FluxPipeline.__call__` for the same latents: the same schedule,
the same rounding of time steps, the same ids.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

import numpy as np
import torch
from diffusers import FluxPipeline
from diffusers.pipelines.flux.pipeline_flux import calculate_shift

from worker.contracts.names import ModelFamily
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import Conditioning, ModelAdapter, PromptEmbeds
from worker.engine.models.lora import lora_metadata
from worker.engine.models.precision import at_least_fp32

MAX_T5_TOKENS = 512
"""FLUX.1's own prompt length; a checkpoint whose tokenizer is shorter (the shapes model) was trained with that."""

TIME_SCALE = 1000.0


class FluxAdapter(ModelAdapter):
    family = ModelFamily.FLUX
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

    def __init__(self, path: str, device: torch.device, dtype: torch.dtype) -> None:
        """Load from a folder or a hub id, safetensors only. Raises `OSError` (diffusers) where weights are missing."""
        pipeline = FluxPipeline.from_pretrained(path, dtype=dtype, use_safetensors=True)
        pipeline.to(device)
        for part in (pipeline.transformer, pipeline.vae, pipeline.text_encoder, pipeline.text_encoder_2):
            part.requires_grad_(False).eval()
        super().__init__(pipeline.transformer, device, dtype)
        self._pipeline = pipeline
        self._image_ids = lru_cache(maxsize=8)(self._build_image_ids)

    def _encode(self, prompt: str) -> PromptEmbeds:
        embeds, pooled, text_ids = self._pipeline.encode_prompt(
            prompt=[prompt],
            prompt_2=None,
            device=self.device,
            max_sequence_length=min(MAX_T5_TOKENS, self._pipeline.tokenizer_2.model_max_length),
        )
        return {"embeds": embeds, "pooled": pooled, "text_ids": text_ids}

    def latent_shape(self, height: int, width: int) -> tuple[int, ...]:
        """(tokens, channels): 2 × 2 patches of the autoencoder's latents."""
        rows, columns = self._token_grid(height, width)
        return rows * columns, int(self.transformer.config.in_channels)

    def sigmas(self, num_denoising_steps: int, *, height: int, width: int) -> torch.Tensor:
        scheduler = self._pipeline.scheduler
        num_tokens = self.latent_shape(height, width)[0]
        config = scheduler.config
        shift = calculate_shift(
            num_tokens,
            config.get("base_image_seq_len", 256),
            config.get("max_image_seq_len", 4096),
            config.get("base_shift", 0.5),
            config.get("max_shift", 1.15),
        )
        if config.get("use_flow_sigmas", False):
            scheduler.set_timesteps(num_denoising_steps, device=self.device, mu=shift)
        else:
            linear = np.linspace(1.0, 1 / num_denoising_steps, num_denoising_steps)
            scheduler.set_timesteps(sigmas=linear, device=self.device, mu=shift)
        return scheduler.sigmas.to(self.device, torch.float32).clone()

    def predict_velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        num, prompt = latents.shape[0], conditioning.prompt
        with self._autocast():
            velocity = self.transformer(
                hidden_states=latents.to(self.dtype),
                # The pipeline hands its time steps over as sigma * 1000 / 1000; the detour rounds.
                timestep=sigmas * TIME_SCALE / TIME_SCALE,
                guidance=self._guidance(conditioning.guidance_scale, num),
                pooled_projections=prompt["pooled"].expand(num, -1),
                encoder_hidden_states=prompt["embeds"].expand(num, -1, -1),
                txt_ids=prompt["text_ids"],
                img_ids=self._image_ids(conditioning.height, conditioning.width),
                return_dict=False,
            )[0]
        return at_least_fp32(velocity)

    @torch.inference_mode()
    def decode(self, latents: torch.Tensor, *, height: int, width: int) -> np.ndarray:
        vae = self._pipeline.vae
        unpacked = self._pipeline._unpack_latents(latents, height, width, self._pipeline.vae_scale_factor)
        scaled = unpacked / vae.config.scaling_factor + vae.config.shift_factor
        pictures = vae.decode(scaled.to(vae.dtype), return_dict=False)[0].float()
        pictures = (pictures / 2 + 0.5).clamp(0, 1).mul(255).round()
        return pictures.to(torch.uint8).permute(0, 2, 3, 1).contiguous().cpu().numpy()

    def save_lora(self, folder: str, tensors: Mapping[str, torch.Tensor]) -> None:
        self._pipeline.save_lora_weights(
            folder,
            transformer_lora_layers=dict(tensors),
            # Without it alpha is lost and loaders assume alpha = rank, i.e. another policy.
            transformer_lora_adapter_metadata=lora_metadata(self.transformer),
        )

    def _guidance(self, guidance_scale: float, num: int) -> torch.Tensor | None:
        if self.transformer.config.guidance_embeds:
            return torch.full((num,), guidance_scale, device=self.device, dtype=torch.float32)
        if guidance_scale not in (0.0, 1.0):
            raise ModelLoadError(
                f"`sampling.guidance_scale` must be 1 for this model, got {guidance_scale}: "
                "it has no guidance embedding, so the value would change nothing"
            )
        return None

    def _autocast(self) -> AbstractContextManager[object]:
        """LoRA weights stay fp32 (they are their own master copy); autocast runs them in the base's dtype."""
        if self.dtype is not torch.bfloat16:
            return nullcontext()
        return torch.autocast(self.device.type, dtype=self.dtype)

    def _token_grid(self, height: int, width: int) -> tuple[int, int]:
        patch = self._pipeline.vae_scale_factor * 2
        return height // patch, width // patch

    def _build_image_ids(self, height: int, width: int) -> torch.Tensor:
        with torch.inference_mode(False):
            rows, columns = self._token_grid(height, width)
            return self._pipeline._prepare_latent_image_ids(1, rows, columns, self.device, torch.float32)
