"""Model families by contract name, and the one way to load a base model."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import diffusers.utils.logging
import torch
from transformers.utils import logging as transformers_logging

from worker.contracts.names import ModelFamily
from worker.contracts.performance import PerformanceSpec
from worker.contracts.sections import BaseModelSpec, SamplingSpec
from worker.engine.devices.selection import resolve_device
from worker.engine.errors import ModelLoadError, listing
from worker.engine.models import guidance
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.experts import experts_of
from worker.engine.models.flux import FluxAdapter
from worker.engine.models.flux2 import Flux2Adapter, Flux2KleinAdapter
from worker.engine.models.hub_advice import advice
from worker.engine.models.hunyuan_video import HunyuanVideoAdapter
from worker.engine.models.pipeline_loading import ALL_PARTS, TEXT_ONLY, Part
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

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
PICKLED_SUFFIXES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})


def load_model(
    spec: BaseModelSpec,
    base_model_path: str,
    *,
    device: str | torch.device | None = None,
    parts: frozenset[Part] = ALL_PARTS,
    embeddings: Mapping[str, PromptEmbeds] | None = None,
    transformers: Mapping[str, torch.nn.Module] | None = None,
    performance: PerformanceSpec | None = None,
) -> ModelAdapter:
    """The base model, frozen, on `device` (default: the accelerator's current one).

    Args:
        spec: family and dtype.
        base_model_path: an existing folder in diffusers layout, or a hub id.
        device: where to put it.
        parts: what of it is needed here.
        embeddings: of the run's prompts, from `encode_prompts`; other prompts fetch the text encoders for a moment.
        transformers: by the pipeline's component name, where they exist already (sharded, say).
        performance: the kernels of its transformer; by default those that diffusers chooses.

    Raises:
        ModelLoadError: when the folder holds pickled weights or lacks what the family's pipeline needs, or for a kernel
            that cannot run here.
    """
    _refuse_pickles(Path(base_model_path))
    # A lane's output is a log, where a progress bar is a hundred lines.
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
    model.take_embeddings(embeddings or {})
    model.use_kernels(performance or PerformanceSpec())
    return model


def encode_prompts(
    spec: BaseModelSpec, base_model_path: str, prompts: Iterable[str], *, device: str | torch.device | None = None
) -> dict[str, PromptEmbeds]:
    """Embeddings of prompts, on the CPU. The text encoders are loaded for this alone, and are gone afterwards, so that
    they never stand beside the policy. Raises `ModelLoadError` as `load_model` does."""
    model = load_model(spec, base_model_path, device=device, parts=TEXT_ONLY)
    model.encode_prompts(prompts)
    model.drop_text_encoders()
    return model.embeddings()


def _refuse_pickles(folder: Path) -> None:
    if not folder.is_dir():
        return
    pickled = [str(file.relative_to(folder)) for file in folder.rglob("*") if file.suffix in PICKLED_SUFFIXES]
    if pickled:
        raise ModelLoadError(
            f"`base_model.path` must hold safetensors weights only, got {listing(pickled)}: "
            "pickled files can run code; convert them with `save_pretrained(safe_serialization=True)`"
        )


def check_drawable(spec: BaseModelSpec, sampling: SamplingSpec, base_model_path: str) -> None:
    """Ask the configs of a checkpoint alone, before its weights are read. Raises `ModelLoadError` for a size, length or
    guidance that the checkpoint cannot follow."""
    model = load_model(spec, base_model_path, parts=frozenset())
    model.latent_shape(sampling.height, sampling.width, sampling.num_frames)
    num_experts = len(experts_of(model.transformer))
    for scale, scale_2 in (
        (sampling.guidance_scale, sampling.guidance_scale_2),
        (sampling.training_guidance, sampling.training_guidance_2),
    ):
        guidance.check_scale(model.guidance, scale)
        guidance.check_second_scale(num_experts, scale_2)
