"""Spreads the transformer of a lane's ranks by diffusers' own plan (`_cp_plan`, `enable_parallelism`).

```text
tokens (N, S, D) ─► S ÷ n on each rank ─► q, k, v ─► all-to-all ─► H ÷ n heads of all S tokens ─► attention
                                                  all tokens on every rank ◄─ all-gather ◄─ … ◄─ all-to-all ◄─┘
```

That is Ulysses (Jacobs and others, 2023, arXiv:2309.14509). Weights are whole on every rank. Ring attention, which
diffusers has too, needs the logarithm of the attention's sum, which PyTorch's own attention does not return.
"""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import prod
from typing import Any

import torch
from diffusers import ContextParallelConfig
from diffusers.hooks.context_parallel import ContextParallelSplitHook
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.nn.functional import pad

from worker.contracts.context_parallel import DividedShape, training_problem
from worker.contracts.performance import SPREADABLE_FAMILIES
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.errors import LaneSpreadError, ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.experts import experts_of

_PROMPT = "encoder_hidden_states"
"""The argument of diffusers' transformers that is a prompt's embeddings, (N, tokens, width)."""
_PROMPT_MASK = "encoder_hidden_states_mask"
"""The argument that tells which of its tokens are no padding, (N, tokens), or `None` where all are; only some
transformers have it."""
_CLIP_DIMS = 5
"""Dimensions of a clip's latents (N, C, F, H, W), of which the transformer makes tokens itself."""


def check_spreadable(model: ModelAdapter, sampling: SamplingSpec, size: int) -> None:
    """Check that the predictions of `model`, of which the configs are enough, can be spread over `size` GPUs.

    Raises:
        ModelLoadError: for a family without a plan, or a number of attention heads or of a sample's tokens that `size`
            does not divide.
    """
    setting = "`performance.context_parallel` must be off for a lane of"
    if model.family not in SPREADABLE_FAMILIES:
        raise ModelLoadError(f"{setting} {size} GPUs and {model.family}: diffusers has no plan for its transformer")
    shape = model.latent_shape(sampling.height, sampling.width, sampling.num_frames)
    for expert in experts_of(model.transformer).values():
        num_tokens = _num_tokens(expert, torch.empty(1, *shape, device="meta"))
        divided = DividedShape(
            num_heads=expert.config.num_attention_heads,
            num_tokens=num_tokens,
            height=sampling.height,
            width=sampling.width,
            num_frames=sampling.num_frames,
        )
        if problem := divided.problem(size):
            raise ModelLoadError(problem)


def check_trainable(model: ModelAdapter, spec: RunSpec, size: int) -> None:
    """Check that `model` can be trained by passes that are spread over `size` GPUs.

    Raises:
        ModelLoadError: as `check_spreadable`, and where prompts cannot be divided equally.
    """
    if problem := training_problem(spec, size):
        raise ModelLoadError(problem)
    check_spreadable(model, spec.sampling, size)


def lane_mesh(device: torch.device, size: int) -> DeviceMesh:
    """The mesh of the ranks of this lane, which are `size` consecutive ones of torch's default group. A collective of
    that group, which holds as many ranks of each lane."""
    num_lanes = torch.distributed.get_world_size() // size
    return init_device_mesh(device.type, (num_lanes, 1, size), mesh_dim_names=("lane", "ring", "ulysses"))


def spread(transformer: torch.nn.Module, mesh: DeviceMesh) -> None:
    """Let each forward pass of `transformer` compute this rank's part of the tokens and return all of them. Called on
    every rank of the lane's `mesh`, once LoRA layers are added and kernels are chosen.

    A backward pass gives each rank the part of the gradients that its tokens have; their sum over the lane is the
    gradient.

    Raises:
        ModelLoadError: for an attention backend that diffusers cannot run on divided heads.
    """
    for expert in experts_of(transformer).values():
        config = ContextParallelConfig(ulysses_degree=mesh["ulysses"].size(), mesh=mesh)
        try:
            with _counted_devices():
                expert.enable_parallelism(config=config)
        except ValueError as error:
            raise ModelLoadError(
                f"`performance.attention` must be a backend that diffusers can spread over GPUs, or "
                f"`performance.context_parallel` off: {error}"
            ) from error
        _look_up_parameters(expert)
        expert.register_forward_pre_hook(partial(_choose_parts, config), with_kwargs=True)
        expert.register_forward_hook(partial(_choose_equal_parts, config), always_call=True)


def num_divided_prompt_tokens(inputs: Mapping[str, Any]) -> int | None:
    """The tokens of the prompt in a call with `inputs`, where the plan divides them as it does those of the sample.
    `None` for Wan, whose plan leaves the prompt whole: divided tokens of the clip attend to all of it."""
    is_clip = inputs["hidden_states"].dim() == _CLIP_DIMS
    return None if is_clip else int(inputs[_PROMPT].shape[1])


def _num_tokens(expert: torch.nn.Module, latents: torch.Tensor) -> int:
    """The tokens of one sample of `latents`."""
    if latents.dim() == _CLIP_DIMS:
        return prod(latents.shape[2:]) // prod(expert.config.patch_size)
    return int(latents.shape[1])


def _look_up_parameters(expert: torch.nn.Module) -> None:
    """Tell diffusers' hooks now in which order the modules that they belong to take their parameters. They would look
    it up in the first call, which torch.compile cannot capture: Wan's first block would not be one graph."""
    for module in expert.modules():
        registry = getattr(module, "_diffusers_hook", None)
        for hook in () if registry is None else registry.hooks.values():
            if isinstance(hook, ContextParallelSplitHook):
                _, *names = inspect.signature(type(module).forward).parameters
                hook.module_forward_metadata.cached_parameter_indices = {name: at for at, name in enumerate(names)}


def _choose_parts(
    config: ContextParallelConfig, expert: torch.nn.Module, arguments: tuple[Any, ...], inputs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """What is done where a prompt's tokens cannot be divided equally, as Qwen-Image's, which are as many as they are.

    To train, the prompt is padded until they can, and the padding masked; so is one with fewer tokens than GPUs. Else,
    to predict alone, parts are of unlike lengths, so that attention which takes no mask can be used: the ranks then
    also tell each other the lengths, four times in each attention. torch.compile cannot capture that, and would fail:
    such a pass runs uncompiled.
    """
    size = config.ulysses_degree
    num_prompt_tokens = num_divided_prompt_tokens(inputs) or 0
    if not num_prompt_tokens % size:
        return None
    if not torch.is_grad_enabled() and num_prompt_tokens > size:
        config.ulysses_anything = True
        torch.compiler.set_stance("force_eager")
        return None
    if _PROMPT_MASK not in inputs:
        raise LaneSpreadError(
            f"the {size} GPUs of a trainer lane must divide the tokens of every prompt, got {num_prompt_tokens}: "
            "diffusers has no backward pass over parts of unlike lengths; change `sampling.max_sequence_length`, or "
            "train on lanes of 1 GPU"
        )
    return arguments, inputs | _padded_prompt(inputs[_PROMPT], inputs[_PROMPT_MASK], size)


def _padded_prompt(prompt: torch.Tensor, mask: torch.Tensor | None, size: int) -> dict[str, torch.Tensor]:
    """The arguments for a prompt with as many tokens of zeros behind it as make their number a multiple of `size`."""
    num_missing = -prompt.shape[1] % size
    known = torch.ones(prompt.shape[:2], dtype=torch.bool, device=prompt.device) if mask is None else mask
    return {_PROMPT: pad(prompt, (0, 0, 0, num_missing)), _PROMPT_MASK: pad(known, (0, num_missing))}


def _choose_equal_parts(
    config: ContextParallelConfig, _expert: torch.nn.Module, _inputs: object, _output: object
) -> None:
    """What `_choose_parts` has changed for one pass is as before after it, whether or not the pass has failed: blocks
    that a backward pass recomputes are computed outside of every pass."""
    config.ulysses_anything = False
    torch.compiler.set_stance("default")


@contextmanager
def _counted_devices() -> Iterator[None]:
    """Where there is no accelerator, let torch count one: diffusers divides the rank by their number to find its
    device, which it then does not use."""
    if torch.accelerator.device_count():
        yield
        return
    counted = torch.accelerator.device_count
    torch.accelerator.device_count = lambda: 1
    try:
        yield
    finally:
        torch.accelerator.device_count = counted
