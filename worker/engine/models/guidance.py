"""Guidance: none, embedded in the model, or classifier-free from two predictions (true CFG).

A scale means the same for all families: 1 is none, and true CFG is v = v_neg + scale (v_pos - v_neg) (arXiv 2207.12598,
in the form of Imagen's w). Adapters of pipelines with another definition convert it.
"""

from typing import TypeAlias

import torch

from worker.contracts.names import GuidanceKind
from worker.engine.errors import ModelLoadError
from worker.engine.models.embeddings import PromptEmbeds

Scale: TypeAlias = float | torch.Tensor
"""A scale for all rows, or one for each, shaped to broadcast over (N, ...)."""


def needs_negative(kind: GuidanceKind, guidance_scale: float) -> bool:
    """Whether guidance takes a second prediction, for the negative prompt."""
    return kind is GuidanceKind.TRUE_CFG and guidance_scale != 1.0


def check_scale(kind: GuidanceKind, guidance_scale: float) -> None:
    """Raise `ModelLoadError` for a scale that a checkpoint with this kind of guidance does not support."""
    if kind is GuidanceKind.NONE and guidance_scale not in (0.0, 1.0):
        raise ModelLoadError(
            f"`sampling.guidance_scale` must be 1 for this model, got {guidance_scale}: "
            "it has no guidance embedding, so the value would change nothing"
        )
    if kind is GuidanceKind.TRUE_CFG and guidance_scale < 1:
        raise ModelLoadError(
            f"`sampling.guidance_scale` must be ≥ 1 for this model, got {guidance_scale}: 1 is no guidance, "
            "and less would steer away from the prompt"
        )


def check_second_scale(num_experts: int, guidance_scale_2: float | None) -> None:
    """Raise `ModelLoadError` for a scale of the low-noise expert where there is no such expert."""
    if guidance_scale_2 is not None and num_experts < 2:
        raise ModelLoadError(
            f"`sampling.guidance_scale_2` must be empty for this model, got {guidance_scale_2}: "
            "it has one transformer, which uses `guidance_scale`"
        )


def combine(positive: torch.Tensor, negative: torch.Tensor, guidance_scale: Scale) -> torch.Tensor:
    """Classifier-free guidance of two predictions (N, ...)."""
    return negative + guidance_scale * (positive - negative)


def combine_keeping_norm(positive: torch.Tensor, negative: torch.Tensor, guidance_scale: Scale) -> torch.Tensor:
    """As `combine`, with each token (last dimension) rescaled to its norm without guidance, as Qwen-Image's pipeline
    does."""
    guided = combine(positive, negative, guidance_scale)
    return guided * (torch.norm(positive, dim=-1, keepdim=True) / torch.norm(guided, dim=-1, keepdim=True))


def rows(tensor: torch.Tensor, num: int) -> torch.Tensor:
    """A prompt's embedding (1, ...) expanded to `num` rows; one that has `num` rows already is returned unchanged."""
    return tensor if tensor.shape[0] == num else tensor.expand(num, *tensor.shape[1:])


def stacked(negative: PromptEmbeds, positive: PromptEmbeds, num: int) -> PromptEmbeds:
    """Embeddings of 2 × `num` rows, negative first, for prompts of equal length."""
    return {name: torch.cat([rows(negative[name], num), rows(positive[name], num)]) for name in positive}
