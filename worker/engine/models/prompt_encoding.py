"""Encoding a run's prompts before its policy is loaded, so that text encoders take no memory beside it.

The text encoders of current models are as large as the transformer or larger, and a run needs them for seconds.
"""

from collections.abc import Iterable

import torch

from worker.contracts.prompts import MAX_PROMPTS_UP_FRONT, Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.registry import check_drawable, encode_prompts


def run_embeddings(
    spec: RunSpec, base_model_path: str, prompts: Iterable[Prompt], *, device: str | torch.device | None = None
) -> dict[str, PromptEmbeds] | None:
    """The embeddings of all prompts that a run is known to draw, negative prompts included.

    It is the first thing that a lane loads, so it also checks that the model can draw what the spec asks for.

    Args:
        spec: the run's.
        base_model_path: an existing folder in diffusers layout, or a hub id.
        prompts: the run's prompts; those of the evaluation and the negative prompts are added.
        device: where to encode; by default the accelerator's current device.

    Returns:
        The embeddings for `load_model`, or `None` for too many prompts: the lane then loads its text encoders.

    Raises:
        ModelLoadError: as `load_model` and `check_drawable`.
    """
    check_drawable(spec.base_model, spec.sampling, base_model_path)
    every_prompt = [*prompts, *spec.evaluation.prompts]
    default = spec.sampling.negative_prompt
    texts = dict.fromkeys(
        [prompt.text for prompt in every_prompt] + [default] + [prompt.negative_or(default) for prompt in every_prompt]
    )
    if len(texts) > MAX_PROMPTS_UP_FRONT:
        return None
    return encode_prompts(spec.base_model, base_model_path, texts, device=device)
