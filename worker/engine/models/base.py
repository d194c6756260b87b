"""What every model family answers. Above it nothing knows about pipelines; below it nothing knows about runs.

Latents are in the transformer's own (packed) layout and in fp32 everywhere outside the adapter. Only the adapter
casts to the model's dtype, so the numerics of sampling and replay are the same code.

A family is one file: how its pipeline encodes, schedules, predicts and decodes. What families share lies in small
modules beside it: parts (loading), embeddings, guidance, flow_schedule, experts, lora.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from diffusers import DiffusionPipeline

from worker.contracts.names import GuidanceKind, ModelFamily, Tuning
from worker.contracts.performance import PerformanceSpec
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models import guidance, pipeline_loading
from worker.engine.models.embeddings import PromptEmbeddingCache, PromptEmbeds
from worker.engine.models.experts import experts_of
from worker.engine.models.guidance import Scale
from worker.engine.models.kernels import use_kernels
from worker.engine.models.lora import add_lora, lora_metadata
from worker.engine.models.pipeline_loading import ALL_PARTS, TEXT_ONLY, Part
from worker.engine.models.precision import at_least_fp32
from worker.engine.models.trainable import replica_of, trained_parameters, unfreeze
from worker.scheduling.core.decoding import num_decodings


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """What a batch of latents is denoised towards: one prompt, since fragments and micro-batches never mix groups."""

    prompt: PromptEmbeds
    height: int
    width: int
    guidance_scale: float
    guidance_scale_2: float | None = None
    """Of the low-noise expert, where it has a scale of its own."""
    num_frames: int = 1
    negative: PromptEmbeds | None = None
    """Of true CFG with a scale other than 1."""
    batched_cfg: bool = False
    """One forward pass of twice the batch instead of two."""


class ModelAdapter(ABC):
    """A diffusers pipeline, frozen, behind the few questions the engine asks."""

    family: ClassVar[ModelFamily]
    pipeline_class: ClassVar[type[DiffusionPipeline]]
    default_lora_targets: ClassVar[tuple[str, ...]]
    vae_dtype: ClassVar[torch.dtype | None] = None
    """Where half precision is known to harm the autoencoder."""

    def __init__(self, pipeline: Any, path: str, device: torch.device, dtype: torch.dtype) -> None:
        self.transformer: torch.nn.Module = pipeline.transformer
        """What is trained: the pipeline's transformer, or `Experts` where it has more than one."""
        self.device = device
        self.dtype = dtype
        self._pipeline = pipeline
        self._path = path
        self._embeddings = PromptEmbeddingCache(device)
        self._performance = PerformanceSpec()
        self._tuning: Tuning | None = None

    @classmethod
    def load(
        cls,
        path: str,
        device: torch.device,
        dtype: torch.dtype,
        *,
        wanted: frozenset[Part] = ALL_PARTS,
        given: Mapping[str, torch.nn.Module] | None = None,
    ) -> Self:
        """From a folder or a hub id; see `load_pipeline`. Raises `OSError` (diffusers') where weights are missing."""
        pipeline = pipeline_loading.load_pipeline(
            cls.pipeline_class, path, device=device, dtype=dtype, parts=wanted, vae_dtype=cls.vae_dtype, given=given
        )
        return cls(pipeline, path, device, dtype)

    # --- what is trained

    def train(self, spec: RunSpec) -> None:
        """Make ready what the spec trains: LoRA layers (the same on every lane, from `spec.seed`), or all weights.

        Raises:
            ModelLoadError: for a LoRA target that matches no layer.
        """
        if spec.tuning is Tuning.LORA:
            add_lora(self.transformer, spec.lora, self.default_lora_targets, seed=spec.seed)
        else:
            unfreeze(self.transformer, self.dtype)
        self._tuning = spec.tuning

    @property
    def trained(self) -> dict[str, torch.nn.Parameter]:
        """What `train` made ready, by name; in a twin, its frozen copies."""
        assert self._tuning is not None, "asked for after `train`"
        return trained_parameters(self.transformer, self._tuning, self.dtype)

    def twin(self) -> Self:
        """The same model once more: trained tensors of its own, frozen; all else, prompt embeddings too, is shared."""
        return self.around(replica_of(self.transformer, self.trained))

    def around(self, transformer: torch.nn.Module) -> Self:
        """The same model on another transformer like its own."""
        other = copy.copy(self)
        other.transformer = transformer
        other.use_kernels(self._performance)
        return other

    def use_kernels(self, performance: PerformanceSpec) -> None:
        """Before the first prediction; twins get the same. Raises `ModelLoadError`."""
        self._performance = performance
        use_kernels(self.transformer, performance, self.device)

    # --- text

    def encode_prompt(self, prompt: str) -> PromptEmbeds:
        """Embeddings of `prompt` on the device, computed once; text encoders that were dropped come back for it."""
        if prompt not in self._embeddings:
            self.encode_prompts([prompt])
        return self._embeddings.get(prompt)

    def encode_prompts(self, prompts: Iterable[str]) -> None:
        """Encode up front what is not yet known, one prompt at a time: its bits must not depend on the others."""
        unknown = [prompt for prompt in prompts if prompt not in self._embeddings]
        if not unknown:
            return
        if pipeline_loading.has_text_encoders(self._pipeline):
            with torch.inference_mode(False), torch.no_grad():
                for prompt in unknown:
                    self._embeddings.put(prompt, self._encode(prompt))
            return
        text_only = self.load(self._path, self.device, self.dtype, wanted=TEXT_ONLY)
        text_only.encode_prompts(unknown)
        text_only.drop_text_encoders()
        self.take_embeddings(text_only.embeddings())

    def embeddings(self) -> dict[str, PromptEmbeds]:
        """All that were encoded here, on the CPU: another lane may `take_embeddings` of them."""
        return self._embeddings.give()

    def take_embeddings(self, embeddings: Mapping[str, PromptEmbeds]) -> None:
        self._embeddings.take(embeddings)

    def drop_text_encoders(self) -> None:
        """Free their memory; to be called once the run's prompts are encoded."""
        pipeline_loading.drop_text_encoders(self._pipeline)

    @abstractmethod
    def _encode(self, prompt: str) -> PromptEmbeds: ...

    # --- prediction

    @property
    @abstractmethod
    def guidance(self) -> GuidanceKind:
        """Of this checkpoint."""

    def conditioning(self, prompt: str, sampling: SamplingSpec, *, training: bool = False) -> Conditioning:
        """What `prompt` is sampled with, or trained with.

        Raises:
            ModelLoadError: for a guidance scale that the checkpoint cannot follow.
        """
        scale = sampling.training_guidance if training else sampling.guidance_scale
        scale_2 = sampling.training_guidance_2 if training else sampling.guidance_scale_2
        guidance.check_scale(self.guidance, scale)
        guidance.check_second_scale(len(experts_of(self.transformer)), scale_2)
        guided = guidance.needs_negative(self.guidance, scale)
        return Conditioning(
            prompt=self.encode_prompt(prompt),
            height=sampling.height,
            width=sampling.width,
            guidance_scale=scale,
            guidance_scale_2=scale_2,
            num_frames=sampling.num_frames,
            negative=self.encode_prompt(sampling.negative_prompt) if guided else None,
            batched_cfg=sampling.batched_cfg,
        )

    def predict_velocity(self, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        """v = eps - x0 of `latents` (N, ...) at `sigmas` (N,), guided, in fp32."""
        scale, negative = conditioning.guidance_scale, conditioning.negative
        guidance.check_scale(self.guidance, scale)
        if not guidance.needs_negative(self.guidance, scale):
            return self._predict(latents, sigmas, conditioning.prompt, conditioning)
        assert negative is not None, "`conditioning` encodes the negative prompt wherever it is needed"
        if conditioning.batched_cfg:
            both = self._stacked(negative, conditioning.prompt, len(latents))
            predicted = self._predict(torch.cat([latents] * 2), torch.cat([sigmas] * 2), both, conditioning)
            without, towards = predicted.chunk(2)
        else:
            towards = self._predict(latents, sigmas, conditioning.prompt, conditioning)
            without = self._predict(latents, sigmas, negative, conditioning)
        return self._combine(towards, without, self._scales(sigmas, conditioning))

    def _predict(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        with self._autocast():
            return at_least_fp32(self._velocity(latents.to(self.dtype), sigmas, prompt, conditioning))

    @abstractmethod
    def _velocity(
        self, latents: torch.Tensor, sigmas: torch.Tensor, prompt: PromptEmbeds, conditioning: Conditioning
    ) -> torch.Tensor:
        """One forward pass, unguided but for what is embedded: v of `latents` (N, ...) in the model's dtype, towards
        `prompt` (rows of 1 or N)."""

    def _scales(self, sigmas: torch.Tensor, conditioning: Conditioning) -> Scale:
        """The scale of true CFG: one for all rows, or one each."""
        return conditioning.guidance_scale

    def _combine(self, towards: torch.Tensor, without: torch.Tensor, guidance_scale: Scale) -> torch.Tensor:
        """Classifier-free guidance as the family's pipeline does it."""
        return guidance.combine(towards, without, guidance_scale)

    def _stacked(self, negative: PromptEmbeds, positive: PromptEmbeds, num: int) -> PromptEmbeds:
        """Embeddings for a batched pass, negative rows first."""
        return guidance.stacked(negative, positive, num)

    def _autocast(self) -> AbstractContextManager[object]:
        """LoRA weights stay fp32 (they are their own master copy); autocast runs them in the base's dtype."""
        if self.dtype is not torch.bfloat16:
            return nullcontext()
        return torch.autocast(self.device.type, dtype=self.dtype)

    # --- latents and pictures

    @abstractmethod
    def latent_shape(self, height: int, width: int, num_frames: int = 1) -> tuple[int, ...]:
        """Shape of one trajectory's latents, without the batch dimension. Raises `ModelLoadError` for a size that the
        model cannot draw."""

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
        self._require_vae()
        num_parts = num_decodings(len(latents), height=height, width=width, num_frames=num_frames)
        seen = (
            self.pixels(part, height=height, width=width, num_frames=num_frames).mul(255).round().to(torch.uint8)
            for part in latents.tensor_split(num_parts)
        )
        return torch.cat([part.movedim(-3, -1).contiguous().cpu() for part in seen]).numpy()

    def _require_vae(self) -> None:
        if pipeline_loading.is_skeleton(self._pipeline.vae):
            raise ModelLoadError("the autoencoder was not loaded on this lane: load the model with `Part.VAE`")

    # --- the way out

    def save_lora(self, folder: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """Write LoRA tensors by peft name as the file that the family's pipeline loads.

        A family with more experts than one overrides it: pipelines differ in how they tell them apart.
        """
        self.pipeline_class.save_lora_weights(
            folder,
            transformer_lora_layers=dict(tensors),
            # Without it alpha is lost and loaders assume alpha = rank, i.e. another policy.
            transformer_lora_adapter_metadata=lora_metadata(next(iter(experts_of(self.transformer).values()))),
        )

    @classmethod
    def load_lora(cls, pipeline: Any, file: Path) -> None:
        """Load what `save_lora` wrote into a plain pipeline of the family, as its user would."""
        pipeline.load_lora_weights(str(file.parent), weight_name=file.name)

    @classmethod
    @abstractmethod
    def pipeline_arguments(cls, pipeline: Any, sampling: SamplingSpec) -> dict[str, Any]:
        """What the family's pipeline must be called with, beyond prompt, size and number of denoising steps, to draw
        what `sampling` says: guidance in its own words, prompt length, frames."""
