"""Wan2.1 text-to-video: one transformer, UMT5 embeddings, true CFG.

Published checkpoints are sampled with UniPC, a multistep solver, for which there is no SDE kernel. Its schedule and its
integer timesteps are kept, but all denoising steps are of first order, in evaluation and in training. So deterministic
sampling equals `WanPipeline.__call__` with `FlowMatchEulerDiscreteScheduler`, or with UniPC of order 1 without
corrector, which is the same step.
"""

from typing import Any

import torch
from diffusers import FlowMatchEulerDiscreteScheduler, WanPipeline

from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.prompts import Prompt
from worker.contracts.sections import SamplingSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.flow_schedule import TIME_SCALE, TimestepLookup, scheduled_sigmas
from worker.engine.models.guidance import rows
from worker.engine.models.sample_shapes import as_frames, clip_latent_shape

MAX_TOKENS = 512
"""The prompt length of the pipeline, with which the model was trained; shorter prompts are padded with zeros."""


class WanAdapter(ModelAdapter):
    family = ModelFamily.WAN
    pipeline_class = WanPipeline
    default_lora_targets = tuple(
        f"{attention}.{linear}" for attention in ("attn1", "attn2") for linear in ("to_q", "to_k", "to_v", "to_out.0")
    )
    vae_dtype = torch.float32

    def __init__(self, pipeline: Any, path: str, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__(pipeline, path, device, dtype)
        self._check_experts()
        scheduler = pipeline.scheduler
        self._has_integer_timesteps = not isinstance(scheduler, FlowMatchEulerDiscreteScheduler)
        if self._has_integer_timesteps and not scheduler.config.get("use_flow_sigmas", False):
            raise ModelLoadError(
                f"the scheduler of `base_model.path` must be one of flow matching, got {type(scheduler).__name__} "
                "without `use_flow_sigmas`: its sigmas would mean something else"
            )
        self._integer_timesteps = TimestepLookup(device)
        self._registered: set[int] = set()
        """Lengths of the schedules whose timesteps were registered."""

    def _check_experts(self) -> None:
        """Raise `ModelLoadError` for a checkpoint with two transformers."""
        if getattr(self._pipeline, "transformer_2", None) is not None:
            raise ModelLoadError(
                f"`base_model.family` must be {ModelFamily.WAN22.value} for a checkpoint with two transformers, "
                f"got {self.family.value}: the second would never be used"
            )

    @property
    def guidance(self) -> GuidanceKind:
        return GuidanceKind.TRUE_CFG

    def conditioning(self, prompt: Prompt, sampling: SamplingSpec, *, training: bool = False) -> Conditioning:
        """As `ModelAdapter.conditioning`. Since every lane calls it before its first prediction, it also registers the
        timesteps of the spec's schedules."""
        for num_denoising_steps in {sampling.num_denoising_steps, sampling.num_eval_denoising_steps} - self._registered:
            sigmas = self.sigmas(
                num_denoising_steps, height=sampling.height, width=sampling.width, num_frames=sampling.num_frames
            )
            self._integer_timesteps.register(sigmas, self._pipeline.scheduler.timesteps)
            self._registered.add(num_denoising_steps)
        return super().conditioning(prompt, sampling, training=training)

    def _encode(self, prompt: str) -> PromptEmbeds:
        max_tokens = self.max_sequence_length or MAX_TOKENS
        embeds, _ = self._pipeline.encode_prompt(
            prompt=[prompt], do_classifier_free_guidance=False, device=self.device, max_sequence_length=max_tokens
        )
        return {"embeds": embeds}

    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        patch = self._pipeline.transformer.config.patch_size[1]
        return clip_latent_shape(self._pipeline, patch=patch, height=height, width=width, num_frames=num_frames)

    def sigmas(self, num_denoising_steps: int, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        schedule = scheduled_sigmas(self._pipeline.scheduler, num_denoising_steps, self.device)
        # UniPC starts 1e-6 below 1, because it takes a logarithm; x_T is pure noise nevertheless.
        schedule[0] = 1.0
        return schedule

    def _timesteps(self, sigmas: torch.Tensor) -> torch.Tensor:
        """The model's timesteps (N,) at `sigmas` (N,), as the pipeline's scheduler gives them."""
        return self._integer_timesteps(sigmas) if self._has_integer_timesteps else sigmas * TIME_SCALE

    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        return self._forward(self.transformer, latents, self._timesteps(sigmas), prompt["embeds"])

    def _forward(
        self, transformer: torch.nn.Module, latents: torch.Tensor, timesteps: torch.Tensor, embeds: torch.Tensor
    ) -> torch.Tensor:
        if self._pipeline.config.expand_timesteps:
            # One timestep per token, as in image-to-video, where those of the first frame would be 0.
            timesteps = timesteps[:, None].expand(-1, latents[0, 0, :, ::2, ::2].numel())
        velocity: torch.Tensor = transformer(
            hidden_states=latents,
            timestep=timesteps,
            encoder_hidden_states=rows(embeds, len(latents)).to(self.dtype),
            return_dict=False,
        )[0]
        return velocity

    def pixels(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        vae = self._pipeline.vae
        mean, std = (
            torch.tensor(values, device=latents.device, dtype=vae.dtype).view(1, -1, 1, 1, 1)
            for values in (vae.config.latents_mean, vae.config.latents_std)
        )
        # Divided by the inverse, as the pipeline does: a product would round differently.
        scaled = latents.to(vae.dtype) / (1.0 / std) + mean
        return as_frames(vae.decode(scaled, return_dict=False)[0])

    @classmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        return {
            "guidance_scale": sampling.guidance_scale,
            "guidance_scale_2": sampling.guidance_scale_2,
            "negative_prompt": sampling.negative_prompt,
            "num_frames": sampling.num_frames,
            "max_sequence_length": sampling.max_sequence_length or MAX_TOKENS,
        }
