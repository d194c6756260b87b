"""The interface of a model family: one adapter class for each diffusers pipeline class.

```text
rollout and trainer ─► ModelAdapter ─► diffusers pipeline of the family
    prompts, latents, sigmas │ encode, schedule, predict, decode
```

Code outside this package knows no pipeline. Invariant: outside the adapter, latents are in the transformer's own
(packed) layout and in fp32. Only the adapter casts to the model's dtype, so sampling and replay share their numerics.

A family is one file. What families share is in the modules beside it: pipeline_adapter (the base of this class),
pipeline_loading, embeddings, conditioning, guidance, flow_schedule, sample_shapes, experts, lora, trainable, kernels.
"""

import copy
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch

from worker.contracts.families import decodes_in_tiles
from worker.contracts.names import GuidanceKind, ModelFamily, Tuning
from worker.contracts.performance import DIFFUSERS_CHOICE, PerformanceSpec
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models import guidance, pipeline_loading
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.experts import experts_of
from worker.engine.models.guidance import Scale
from worker.engine.models.kernels import use_kernels
from worker.engine.models.lora import add_lora, lora_metadata
from worker.engine.models.pipeline_adapter import PipelineAdapter
from worker.engine.models.precision import at_least_fp32
from worker.engine.models.trainable import copy_with_shared_base, trainable_parameters, unfreeze
from worker.engine.step_count import advance
from worker.scheduling.core.decoding import num_decodings


class ModelAdapter(PipelineAdapter):
    """A frozen diffusers pipeline, behind what rollout and training need of it."""

    family: ClassVar[ModelFamily]
    default_lora_targets: ClassVar[tuple[str, ...]]
    """Names of linear layers, or endings of their names, that LoRA is added to unless a spec names others."""

    def __init__(self, pipeline: Any, path: str, device: torch.device, dtype: torch.dtype) -> None:
        """As `PipelineAdapter`."""
        super().__init__(pipeline, path, device, dtype)
        self.transformer: torch.nn.Module = pipeline.transformer
        """The module that is trained: the pipeline's transformer, or `Experts` where it has more than one."""
        self._performance = DIFFUSERS_CHOICE
        self._tuning: Tuning | None = None

    def use_sampling(self, sampling: SamplingSpec) -> None:
        """Take what of `sampling` is a property of the loaded model: the length of prompts, and whether its autoencoder
        decodes in tiles. Called before the first prompt and the first sample."""
        self.max_sequence_length = sampling.max_sequence_length
        if decodes_in_tiles(self.family, sampling):
            self._pipeline.vae.enable_tiling()
        else:
            self._pipeline.vae.disable_tiling()

    # --- trainable parameters

    def prepare_training(self, spec: RunSpec) -> None:
        """Add LoRA layers (the same on every lane, from `spec.seed`) or unfreeze all weights, as the spec says.

        Raises:
            ModelLoadError: for a LoRA target that matches no layer.
        """
        if spec.tuning is Tuning.LORA:
            add_lora(self.transformer, spec.lora, self.default_lora_targets, seed=spec.seed)
        else:
            unfreeze(self.transformer, self.dtype)
        self._tuning = spec.tuning

    @property
    def trainable(self) -> dict[str, torch.nn.Parameter]:
        """The parameters that `prepare_training` made trainable, by name; in a frozen copy, their copies."""
        assert self._tuning is not None, "read after `prepare_training`"
        return trainable_parameters(self.transformer, self._tuning, self.dtype)

    def frozen_copy(self) -> Self:
        """A second policy on the same base: it has frozen copies of the trainable parameters and shares all else."""
        return self.with_transformer(copy_with_shared_base(self.transformer, self.trainable))

    def with_transformer(self, transformer: torch.nn.Module) -> Self:
        """The same model with `transformer`, which has the same architecture, in place of its own."""
        other = copy.copy(self)
        other.transformer = transformer
        other.use_kernels(self._performance)
        return other

    def use_kernels(self, performance: PerformanceSpec) -> None:
        """Choose the transformer's kernels, and those of copies made later; called before the first prediction.

        Raises:
            ModelLoadError: for a kernel that cannot run here.
        """
        self._performance = performance
        use_kernels(self.transformer, performance, self.device)

    # --- prediction

    @property
    @abstractmethod
    def guidance(self) -> GuidanceKind:
        """The kind of guidance that this checkpoint supports."""

    def texts(self, prompt: Prompt, sampling: SamplingSpec, *, training: bool = False) -> list[str]:
        """The texts whose embeddings `conditioning` takes."""
        scale = sampling.training_guidance if training else sampling.guidance_scale
        guided = guidance.needs_negative(self.guidance, scale)
        return [prompt.text, prompt.negative_or(sampling.negative_prompt)] if guided else [prompt.text]

    def conditioning(self, prompt: Prompt, sampling: SamplingSpec, *, training: bool = False) -> Conditioning:
        """What `prompt` is sampled with, or with `training` what it is trained with.

        Raises:
            ModelLoadError: for a guidance scale that the checkpoint does not support.
        """
        scale = sampling.training_guidance if training else sampling.guidance_scale
        scale_2 = sampling.training_guidance_2 if training else sampling.guidance_scale_2
        guidance.check_scale(self.guidance, scale)
        guidance.check_second_scale(len(experts_of(self.transformer)), scale_2)
        texts = self.texts(prompt, sampling, training=training)
        self.encode_prompts(texts)
        return Conditioning(
            prompt=self.encode_prompt(prompt.text),
            height=sampling.height,
            width=sampling.width,
            guidance_scale=scale,
            guidance_scale_2=scale_2,
            num_frames=sampling.num_frames,
            negative=self.encode_prompt(texts[1]) if len(texts) > 1 else None,
            batched_cfg=sampling.batched_cfg,
        )

    def predict_velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """v = eps - x0 of `latents` (N, ...) at `sigmas` (N,), guided, in fp32."""
        advance()
        scale, negative = conditioning.guidance_scale, conditioning.negative
        guidance.check_scale(self.guidance, scale)
        if not guidance.needs_negative(self.guidance, scale):
            return self._predict(latents, sigmas, conditioning.prompt, conditioning)
        assert negative is not None, "`conditioning` encodes the negative prompt wherever it is needed"
        if conditioning.batched_cfg:
            both = self._stacked(negative, conditioning.prompt, len(latents))
            predicted = self._predict(torch.cat([latents] * 2), torch.cat([sigmas] * 2), both, conditioning)
            unconditional, conditional = predicted.chunk(2)
        else:
            conditional = self._predict(latents, sigmas, conditioning.prompt, conditioning)
            unconditional = self._predict(latents, sigmas, negative, conditioning)
        return self._combine(conditional, unconditional, self._scales(sigmas, conditioning))

    def _predict(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        """One unguided prediction, (N, ...) fp32."""
        return at_least_fp32(self._velocity(latents.to(self.dtype), sigmas, prompt, conditioning))

    @abstractmethod
    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        """One forward pass: v of `latents` (N, ...) in the model's dtype at `sigmas` (N,), for `prompt` (1 or N rows).
        Embedded guidance is part of it, true CFG is not."""

    def _scales(self, sigmas: torch.Tensor, conditioning: Conditioning) -> Scale:
        """The scale of true CFG at `sigmas` (N,): one for all rows, or one for each."""
        return conditioning.guidance_scale

    def _combine(self, conditional: torch.Tensor, unconditional: torch.Tensor, guidance_scale: Scale) -> torch.Tensor:
        """Classifier-free guidance of two predictions (N, ...), as the family's pipeline does it."""
        return guidance.combine(conditional, unconditional, guidance_scale)

    def _stacked(self, negative: PromptEmbeds, positive: PromptEmbeds, num: int) -> PromptEmbeds:
        """Embeddings of 2 × `num` rows for a batched pass, negative rows first."""
        return guidance.stacked(negative, positive, num)

    # --- latents and pictures

    @abstractmethod
    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        """The shape of one trajectory's latents, without the batch dimension.

        Raises:
            ModelLoadError: for a size or a number of frames that the model cannot draw.
        """

    @abstractmethod
    def sigmas(self, num_denoising_steps: int, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        """The pipeline's own schedule, (num_denoising_steps + 1,) fp32 from 1 to 0, on the model's device."""

    @abstractmethod
    def pixels(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> torch.Tensor:
        """Clean latents (N, ...) decoded: fp32 in [0, 1] of (N, 3, H, W), or (N, F, 3, H, W) for clips. Gradients
        flow through it where they are enabled."""

    @torch.inference_mode()
    def decode(self, latents: torch.Tensor, *, height: int, width: int, num_frames: int = 1) -> np.ndarray:
        """Clean latents (N, ...) as pictures, uint8 of (N, H, W, 3), or as clips, (N, F, H, W, 3)."""
        if pipeline_loading.is_skeleton(self._pipeline.vae):
            raise ModelLoadError("the autoencoder was not loaded on this lane: load the model with `Part.VAE`")
        advance()
        num_parts = num_decodings(len(latents), height=height, width=width, num_frames=num_frames)
        decoded = (
            self.pixels(part, height=height, width=width, num_frames=num_frames).mul(255).round().to(torch.uint8)
            for part in latents.tensor_split(num_parts)
        )
        return torch.cat([part.movedim(-3, -1).contiguous().cpu() for part in decoded]).numpy()

    # --- export

    def save_lora(self, folder: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """Write LoRA tensors, given by peft name, as the file that the family's pipeline loads.

        A family with several experts overrides it, because pipelines differ in how they name them.
        """
        self.pipeline_class.save_lora_weights(
            folder,
            transformer_lora_layers=dict(tensors),
            # Without it alpha is lost and loaders assume alpha = rank, which would scale the LoRA differently.
            transformer_lora_adapter_metadata=lora_metadata(next(iter(experts_of(self.transformer).values()))),
        )

    @classmethod
    def load_lora(cls, pipeline: Any, file: Path) -> None:
        """Load what `save_lora` wrote into a pipeline of the family, as a user of plain diffusers would."""
        pipeline.load_lora_weights(str(file.parent), weight_name=file.name)

    @classmethod
    @abstractmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        """The arguments, beside prompt, size and number of denoising steps, with which a call of the family's pipeline
        draws what `sampling` says: guidance by the pipeline's own parameter, prompt length, frames."""
