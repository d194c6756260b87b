"""Guidance: none, embedded in the model, or classifier-free from two predictions (true CFG).

One scale means the same for all families: 1 is none, and true CFG is v = v_neg + scale (v_pos - v_neg)
(arXiv 2207.12598, in the form of Imagen's w). A pipeline that counts otherwise is told otherwise, never the user.
"""

from typing import TypeAlias

import torch

from worker.contracts.names import GuidanceKind
from worker.engine.errors import ModelLoadError
from worker.engine.models.embeddings import PromptEmbeds

Scale: TypeAlias = float | torch.Tensor
"""One for all rows, or one each, shaped to broadcast over them."""


def needs_negative(kind: GuidanceKind, guidance_scale: float) -> bool:
    """Whether a second prediction is made."""
    return kind is GuidanceKind.TRUE_CFG and guidance_scale != 1.0


def check_scale(kind: GuidanceKind, guidance_scale: float) -> None:
    """Raises `ModelLoadError` for a scale that the checkpoint cannot follow."""
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
    """Raises `ModelLoadError` for a low-noise expert's scale where there is no such expert."""
    if guidance_scale_2 is not None and num_experts < 2:
        raise ModelLoadError(
            f"`sampling.guidance_scale_2` must be empty for this model, got {guidance_scale_2}: "
            "it has one transformer, which follows `guidance_scale`"
        )


def combine(positive: torch.Tensor, negative: torch.Tensor, guidance_scale: Scale) -> torch.Tensor:
    """Classifier-free guidance of two predictions."""
    return negative + guidance_scale * (positive - negative)


def combine_keeping_norm(positive: torch.Tensor, negative: torch.Tensor, guidance_scale: Scale) -> torch.Tensor:
    """As `combine`, each token scaled back to the length it has without guidance (Qwen-Image's pipeline)."""
    guided = combine(positive, negative, guidance_scale)
    return guided * (torch.norm(positive, dim=-1, keepdim=True) / torch.norm(guided, dim=-1, keepdim=True))


def rows(tensor: torch.Tensor, num: int) -> torch.Tensor:
    """One prompt's embedding for a batch of `num`; embeddings that have a row for each already stay as they are."""
    return tensor if tensor.shape[0] == num else tensor.expand(num, *tensor.shape[1:])


def stacked(negative: PromptEmbeds, positive: PromptEmbeds, num: int) -> PromptEmbeds:
    """Embeddings of 2 × `num` rows, negative first, for prompts of equal length."""
    return {name: torch.cat([rows(negative[name], num), rows(positive[name], num)]) for name in positive}
