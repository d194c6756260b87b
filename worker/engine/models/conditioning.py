"""What predictions are conditioned on: the prompt, the sample's size and guidance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.guidance import rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """What a batch of latents is denoised towards: one prompt, or in a call of several fragments one for each row."""

    prompt: PromptEmbeds
    height: int
    """Pixels."""
    width: int
    """Pixels."""
    guidance_scale: float
    """The scale of guidance as `worker.engine.models.guidance` defines it; 1 is none."""
    guidance_scale_2: float | None = None
    """The scale of the low-noise expert, where it differs from `guidance_scale`."""
    num_frames: int = 1
    negative: PromptEmbeds | None = None
    """The negative prompt, where true CFG needs it."""
    batched_cfg: bool = False
    """Whether true CFG runs one forward pass of twice the batch instead of two passes."""


def joined(conditionings: Sequence[Conditioning], numbers: Sequence[int]) -> Conditioning | None:
    """The conditioning of `numbers[i]` rows of each of `conditionings`, in order, which differ in their prompts alone.

    `None` where the prompts' embeddings differ in shape: how those are padded and masked is for each family to know.
    """
    first = conditionings[0]
    prompt = _joined_prompts([each.prompt for each in conditionings], numbers)
    negatives = [each.negative for each in conditionings if each.negative is not None]
    negative = _joined_prompts(negatives, numbers) if negatives else None
    if prompt is None or (negatives and negative is None):
        return None
    return replace(first, prompt=prompt, negative=negative)


def _joined_prompts(prompts: Sequence[PromptEmbeds], numbers: Sequence[int]) -> PromptEmbeds | None:
    """One row for each sample, or what all prompts have in common; `None` for other shapes."""
    first, found = prompts[0], dict[str, torch.Tensor]()
    if any(prompt.keys() != first.keys() for prompt in prompts):
        return None
    for name in first:
        tensors = [prompt[name] for prompt in prompts]
        if any(tensor.shape != first[name].shape for tensor in tensors):
            return None
        # Such as position ids, which have no rows in some families.
        if all(torch.equal(tensor, first[name]) for tensor in tensors):
            found[name] = first[name]
        elif len(first[name]) == 1:
            found[name] = torch.cat([rows(tensor, number) for tensor, number in zip(tensors, numbers, strict=True)])
        else:
            return None
    return found
