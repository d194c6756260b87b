"""Spreads the transformer of a lane's ranks by diffusers' own plan (`_cp_plan`, `enable_parallelism`).

```text
tokens (N, S, D) ─► S ÷ n on each rank ─► q, k, v ─► all-to-all ─► H ÷ n heads of all S tokens ─► attention
                                                  all tokens on every rank ◄─ all-gather ◄─ … ◄─ all-to-all ◄─┘
```

That is Ulysses (Jacobs and others, 2023, arXiv:2309.14509). Weights are whole on every rank. Ring attention, which
diffusers has too, needs the logarithm of the attention's sum, which PyTorch's own attention does not return.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import prod
from typing import Any
from unittest.mock import patch

import torch
from diffusers import ContextParallelConfig
from torch.distributed.device_mesh import init_device_mesh

from worker.contracts.performance import SPREADABLE_FAMILIES
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.experts import experts_of

_CLIP_DIMS = 5
"""Dimensions of a clip's latents (N, C, F, H, W), of which the transformer makes tokens itself."""


def check_spreadable(model: ModelAdapter, size: int) -> None:
    """Check that the predictions of `model`, of which the configs are enough, can be spread over `size` GPUs.

    Raises:
        ModelLoadError: for a family without a plan, or a number of attention heads that `size` does not divide.
    """
    setting = "`performance.context_parallel` must be off for a rollout lane of"
    if model.family not in SPREADABLE_FAMILIES:
        raise ModelLoadError(f"{setting} {size} GPUs and {model.family}: diffusers has no plan for its transformer")
    for expert in experts_of(model.transformer).values():
        num_heads: int = expert.config.num_attention_heads
        if num_heads % size:
            fitting = ", ".join(str(number) for number in range(1, num_heads + 1) if num_heads % number == 0)
            raise ModelLoadError(
                f"{setting} {size} GPUs, since {size} does not divide the {num_heads} attention heads of the model: "
                f"turn it off, so that the lane computes on its first GPU, or have a pool admin set `gpus_per_lane` "
                f"of the node to one of {fitting}"
            )


def spread(transformer: torch.nn.Module, device: torch.device, size: int) -> None:
    """Let each forward pass of `transformer` compute this rank's part of the tokens and return all of them. Called on
    every rank of the lane's group of `size`, once LoRA layers are added and kernels are chosen.

    Raises:
        ModelLoadError: for an attention backend that diffusers cannot run on divided heads.
    """
    mesh = init_device_mesh(device.type, (1, size), mesh_dim_names=("ring", "ulysses"))
    for expert in experts_of(transformer).values():
        config = ContextParallelConfig(ulysses_degree=size, mesh=mesh)
        try:
            with _counted_devices():
                expert.enable_parallelism(config=config)
        except ValueError as error:
            raise ModelLoadError(
                f"`performance.attention` must be a backend that diffusers can spread over GPUs, or "
                f"`performance.context_parallel` off: {error}"
            ) from error
        expert.register_forward_pre_hook(partial(_choose_parts, config), with_kwargs=True)


def numbers_of_tokens(expert: torch.nn.Module, inputs: Mapping[str, Any]) -> tuple[int, ...]:
    """The lengths of the sequences that the plan divides in a call of `expert` with `inputs`."""
    latents: torch.Tensor = inputs["hidden_states"]
    if latents.dim() == _CLIP_DIMS:
        # The plan of Wan leaves the prompt whole: its tokens are attended to across, by divided tokens of the clip.
        return (prod(latents.shape[2:]) // prod(expert.config.patch_size),)
    return latents.shape[1], inputs["encoder_hidden_states"].shape[1]


def _choose_parts(
    config: ContextParallelConfig, expert: torch.nn.Module, _: tuple[Any, ...], inputs: dict[str, Any]
) -> None:
    """Choose parts of unlike lengths where the tokens cannot be divided equally, as those of Qwen-Image's prompts.
    Then the ranks also tell each other the lengths, four times in each attention, so it is not done always."""
    config.ulysses_anything = any(number % config.ulysses_degree for number in numbers_of_tokens(expert, inputs))


@contextmanager
def _counted_devices() -> Iterator[None]:
    """Where there is no accelerator, let torch count one: diffusers divides the rank by their number to find its
    device, which it then does not use."""
    if torch.accelerator.device_count():
        yield
        return
    with patch("torch.accelerator.device_count", return_value=1):
        yield
