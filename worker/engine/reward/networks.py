"""Loads the weights, tokenizers and picture processors of scorers, from a folder or the hub.

Invariant: only safetensors are read, no code from the checkpoint runs, and no parameter keeps its random
initialisation, since a scorer with random weights would go unnoticed.
"""

from pathlib import Path
from typing import Any, TypeVar

import torch
from transformers import PreTrainedModel
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.utils import logging as transformers_logging

from worker.contracts.rewards import ScorerDtype
from worker.engine.devices.selection import resolve_device
from worker.engine.devices.smaller_calls import MemoryPlan
from worker.engine.errors import ModelLoadError, listing
from worker.engine.reward.scored_run import ScoredRun

Network = TypeVar("Network", bound=PreTrainedModel)
ADVICE = "have rewards computed elsewhere by `lanes.rewards_on`, or take devices with more memory"


def memory_plan(run: ScoredRun | None) -> MemoryPlan:
    """What the plan says of the card that a scorer's network is computed on; nothing without a run."""
    return MemoryPlan(None, None) if run is None else MemoryPlan(run.spec, None, num_gpus=run.num_gpus)


def load_network(
    kind: type[Network],
    weights: str,
    reward: str,
    dtype: ScorerDtype | None = None,
    *,
    head: str | None = None,
    run: ScoredRun | None = None,
) -> Network:
    """The network, frozen, on the lane's device.

    Args:
        kind: the network's transformers class.
        weights: an existing folder, or a hub id.
        reward: name of the reward, for the error.
        dtype: the precision of its towers; by default bf16 on an accelerator and fp32 on the CPU.
        head: the name of a part that stays in fp32, with all parameters that belong to no part.
        run: for the figures of its plan.

    Raises:
        ModelLoadError: when there are no safetensors, or they lack parameters of the class or hold other shapes.
        DeviceMemoryError: when the device has no memory for it.
    """
    transformers_logging.disable_progress_bar()
    try:
        loaded: tuple[Network, dict[str, Any]] = kind.from_pretrained(
            weights, use_safetensors=True, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
        )
    except (OSError, RuntimeError) as error:
        raise _refused(reward, weights, str(error)) from error
    network, info = loaded
    absent = [*info["missing_keys"], *(str(entry[0]) for entry in info["mismatched_keys"])]
    if absent:
        raise _refused(reward, weights, f"it is no complete {kind.__name__}: it lacks {listing(absent, limit=8)}")
    device = resolve_device(None)
    if (dtype or ("fp32" if device.type == "cpu" else "bf16")) == "bf16":
        for name, part in network.named_children():
            part.to(torch.float32 if name == head else torch.bfloat16)
    with memory_plan(run).explaining(f"hold the network of reward `{reward}`", ADVICE):
        return network.eval().requires_grad_(False).to(device)


def load_picture_processor(source: str, reward: str) -> CLIPImageProcessorPil:
    """The processor that resizes, crops and normalises pictures. Raises `ModelLoadError` when `source` has none."""
    # The class is fixed, because `AutoImageProcessor` chooses by whether torchvision is installed, and that resizes
    # differently.
    try:
        return CLIPImageProcessorPil.from_pretrained(source)
    except (OSError, ValueError) as error:
        raise _refused(reward, source, str(error)) from error


def load_tokenizer(source: str, reward: str) -> Any:
    """The tokenizer of a folder or hub id. Raises `ModelLoadError` when `source` has none."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise _refused(reward, source, str(error)) from error


def _refused(reward: str, source: str, why: str) -> ModelLoadError:
    shown = Path(source).name if Path(source).is_absolute() else source
    return ModelLoadError(
        f"`weights` of reward `{reward}` must be a hub id or a folder in transformers layout with safetensors, "
        f"got `{shown}`: {why}"
    )
