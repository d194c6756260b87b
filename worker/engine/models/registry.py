"""The adapters of all model families, and the only way to load a base model."""

from collections.abc import Mapping
from pathlib import Path

import diffusers.utils.logging
import torch
from transformers.utils import logging as transformers_logging

from worker.contracts.names import ModelFamily
from worker.contracts.performance import DIFFUSERS_CHOICE, PerformanceSpec
from worker.contracts.sections import BaseModelSpec, SamplingSpec
from worker.engine.devices.selection import resolve_device
from worker.engine.errors import ModelLoadError, listing
from worker.engine.models import guidance
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embeddings import Embeddings
from worker.engine.models.experts import experts_of
from worker.engine.models.flux import FluxAdapter
from worker.engine.models.flux2 import Flux2Adapter, Flux2KleinAdapter
from worker.engine.models.hub_advice import advice
from worker.engine.models.hunyuan_video import HunyuanVideoAdapter
from worker.engine.models.pipeline_loading import ALL_PARTS, Part
from worker.engine.models.precision import DTYPES
from worker.engine.models.qwen_image import QwenImageAdapter
from worker.engine.models.sd3 import StableDiffusion3Adapter
from worker.engine.models.wan import WanAdapter
from worker.engine.models.wan22 import Wan22Adapter
from worker.engine.models.z_image import ZImageAdapter

MODEL_ADAPTERS: dict[ModelFamily, type[ModelAdapter]] = {
    adapter.family: adapter
    for adapter in (
        FluxAdapter,
        StableDiffusion3Adapter,
        Flux2Adapter,
        Flux2KleinAdapter,
        QwenImageAdapter,
        ZImageAdapter,
        WanAdapter,
        Wan22Adapter,
        HunyuanVideoAdapter,
    )
}

PICKLED_SUFFIXES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})
"""Endings of files that torch or Python unpickle, which can run code."""


def load_model(
    spec: BaseModelSpec,
    base_model_path: str,
    *,
    device: str | torch.device | None = None,
    parts: frozenset[Part] = ALL_PARTS,
    embeddings: Embeddings | None = None,
    sampling: SamplingSpec | None = None,
    transformers: Mapping[str, torch.nn.Module] | None = None,
    performance: PerformanceSpec | None = None,
) -> ModelAdapter:
    """The base model, frozen.

    Args:
        spec: family and dtype.
        base_model_path: an existing folder in diffusers layout, or a hub id.
        device: where to load; by default the accelerator's current device.
        parts: the parts of the pipeline to load.
        embeddings: of the run's prompts, from `run_embeddings`; without text encoders, others are encoded on the CPU.
        sampling: the run's; by default what the spec has by default.
        transformers: transformers that exist already (e.g. sharded ones), by the pipeline's component name.
        performance: the kernels of the transformer; by default those that diffusers chooses.

    Raises:
        ModelLoadError: when the folder holds pickled weights or lacks what the family's pipeline needs, or for a kernel
            that cannot run here.
    """
    _refuse_pickles(Path(base_model_path))
    # A lane's output is a log, to which a progress bar would add hundreds of lines.
    diffusers.utils.logging.disable_progress_bar()
    transformers_logging.disable_progress_bar()
    adapter = MODEL_ADAPTERS[spec.family]
    try:
        model = adapter.load(
            base_model_path, resolve_device(device), DTYPES[spec.dtype], wanted=parts, given=transformers
        )
    except OSError as error:
        raise ModelLoadError(
            f"`base_model.path` must be a {spec.family.value} checkpoint in diffusers layout with safetensors "
            f"weights, got {base_model_path}: {advice(error, base_model_path)} ({error})"
        ) from error
    model.embeddings = embeddings or model.embeddings
    model.use_sampling(sampling or SamplingSpec())
    model.use_kernels(performance or DIFFUSERS_CHOICE)
    return model


def _refuse_pickles(folder: Path) -> None:
    """Raise `ModelLoadError` for a folder with pickled weights. Of a hub id only safetensors are downloaded."""
    if not folder.is_dir():
        return
    pickled = [str(file.relative_to(folder)) for file in folder.rglob("*") if file.suffix in PICKLED_SUFFIXES]
    if pickled:
        raise ModelLoadError(
            f"`base_model.path` must hold safetensors weights only, got {listing(pickled)}: "
            "pickled files can run code; convert them with `save_pretrained(safe_serialization=True)`"
        )


def check_drawable(spec: BaseModelSpec, sampling: SamplingSpec, base_model_path: str) -> None:
    """Check that a checkpoint can draw what `sampling` asks for, from its configs alone, before its weights are read.

    Raises:
        ModelLoadError: as `load_model`, or for a size, number of frames or guidance that the checkpoint does not
            support.
    """
    model = load_model(spec, base_model_path, parts=frozenset())
    model.latent_shape(sampling.height, sampling.width, sampling.num_frames)
    num_experts = len(experts_of(model.transformer))
    for scale, scale_2 in (
        (sampling.guidance_scale, sampling.guidance_scale_2),
        (sampling.training_guidance, sampling.training_guidance_2),
    ):
        guidance.check_scale(model.guidance, scale)
        guidance.check_second_scale(num_experts, scale_2)
