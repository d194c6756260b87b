"""The text of a run, encoded before its policy is loaded, so that text encoders never stand beside it.

Encoders of today's models are as large as the transformer or larger; a run needs them for some seconds.
"""

from collections.abc import Iterable

import torch

from worker.contracts.run_spec import RunSpec
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.registry import check_drawable, encode_prompts

MAX_UP_FRONT = 512
"""Beyond it a lane keeps its text encoders and encodes each prompt when it comes: an embedding takes 4 MiB (FLUX.1) to
16 MiB (FLUX.2) of the host's memory, and a lane sees but a few prompts of a large set."""


def run_embeddings(
    spec: RunSpec, base_model_path: str, prompts: Iterable[str], *, device: str | torch.device | None = None
) -> dict[str, PromptEmbeds] | None:
    """Embeddings of all that a run is known to draw, its negative prompt included.

    A lane asks for them first of all, so a run that its model cannot draw ends here.

    Args:
        spec: the run's.
        base_model_path: an existing folder in diffusers layout, or a hub id.
        prompts: of training and evaluation.
        device: where to encode.

    Returns:
        What `load_model` takes, or `None` where there is too much of it: the lane then loads its text encoders.

    Raises:
        ModelLoadError: as `load_model` and `check_drawable`.
    """
    check_drawable(spec.base_model, spec.sampling, base_model_path)
    texts = dict.fromkeys([*prompts, *spec.evaluation.prompts, spec.sampling.negative_prompt])
    if len(texts) > MAX_UP_FRONT:
        return None
    return encode_prompts(spec.base_model, base_model_path, texts, device=device)
