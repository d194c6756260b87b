"""Z-Image and its distilled Turbo: prompts of any length, unpacked latents, a transformer that takes and returns lists
and predicts the negative velocity.

The pipeline's guidance is v + g (v - v_neg), where g = 0 is none; here 1 is none as for all families, so g is one less.
Turbo is sampled and trained without guidance, at 1.
"""

from typing import Any

import torch
from diffusers import ZImagePipeline
from diffusers.pipelines.z_image.pipeline_z_image import get_default_z_image_sigmas

from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.sections import SamplingSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.flow_schedule import TIME_SCALE, scheduled_sigmas, shift_of_resolution
from worker.engine.models.guidance import Scale, rows
from worker.engine.models.sample_shapes import check_size, in_unit_range

MAX_TOKENS = 512
"""The pipeline's default prompt length, the chat template's tokens included."""


class ZImageAdapter(ModelAdapter):
    family = ModelFamily.Z_IMAGE
    pipeline_class = ZImagePipeline
    default_lora_targets = (
        "attention.to_q",
        "attention.to_k",
        "attention.to_v",
        "attention.to_out.0",
        "feed_forward.w1",
        "feed_forward.w2",
        "feed_forward.w3",
    )

    def __init__(self, pipeline: Any, path: str, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__(pipeline, path, device, dtype)
        self.transformer.register_forward_hook(_as_one_tensor)

    @property
    def guidance(self) -> GuidanceKind:
        return GuidanceKind.TRUE_CFG

    def _encode(self, prompt: str) -> PromptEmbeds:
        max_tokens = self.max_sequence_length or MAX_TOKENS
        embeds, _ = self._pipeline.encode_prompt(
            prompt=[prompt], device=self.device, do_classifier_free_guidance=False, max_sequence_length=max_tokens
        )
        return {"embeds": embeds[0][None]}

    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        """(channels, rows, columns) of the autoencoder's latents."""
        factor = self._pipeline.vae_scale_factor
        check_size(height, width, factor * 2)
        return int(self.transformer.config.in_channels), height // factor, width // factor

    def sigmas(self, num_denoising_steps: int, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        scheduler = self._pipeline.scheduler
        _, num_rows, num_columns = self.latent_shape(height, width)
        return scheduled_sigmas(
            scheduler,
            num_denoising_steps,
            self.device,
            shift=shift_of_resolution(scheduler, (num_rows // 2) * (num_columns // 2)),
            unshifted=get_default_z_image_sigmas(num_denoising_steps),
        )

    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        num = latents.shape[0]
        if "negative" in prompt:
            captions = [*rows(prompt["negative"], num // 2), *rows(prompt["embeds"], num // 2)]
        else:
            captions = [*rows(prompt["embeds"], num)]
        predicted: torch.Tensor = self.transformer(
            list(latents.unsqueeze(2).unbind(0)),
            (TIME_SCALE - sigmas * TIME_SCALE) / TIME_SCALE,
            captions,
            return_dict=False,
        )[0]
        return -predicted.squeeze(2)

    def _combine(self, conditional: torch.Tensor, unconditional: torch.Tensor, guidance_scale: Scale) -> torch.Tensor:
        """The formula of `guidance.combine`, in the pipeline's order of operations and hence with its rounding."""
        return conditional + (guidance_scale - 1.0) * (conditional - unconditional)

    def _stacked(self, negative: PromptEmbeds, positive: PromptEmbeds, num: int) -> PromptEmbeds:
        """One row of each: the transformer pads and masks captions of different length itself."""
        return {"negative": negative["embeds"], "embeds": positive["embeds"]}

    def pixels(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        vae = self._pipeline.vae
        scaled = latents.to(vae.dtype) / vae.config.scaling_factor + vae.config.shift_factor
        return in_unit_range(vae.decode(scaled, return_dict=False)[0])

    @classmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        return {
            "guidance_scale": sampling.guidance_scale - 1.0,
            "negative_prompt": sampling.negative_prompt,
            "max_sequence_length": sampling.max_sequence_length or MAX_TOKENS,
        }


def _as_one_tensor(_: torch.nn.Module, __: Any, output: tuple[list[torch.Tensor], ...]) -> tuple[torch.Tensor, ...]:
    """Stack the transformer's list of samples before DeepSpeed's hooks see it. In ZeRO 3 they gather weights once per
    tensor of the list, and ranks with micro-batches of different sizes would wait for each other forever."""
    return (torch.stack(output[0]),)
