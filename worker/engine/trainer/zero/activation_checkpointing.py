"""Gradient checkpointing for every model family: blocks whose activations are computed again in the backward pass.

One utility, because diffusers' transformers all ask one function for each of their blocks. It never changes a
gradient, and never runs where no gradients are wanted: twins generate as fast with it as without.
"""

from typing import Any

import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from worker.engine.errors import ModelLoadError
from worker.engine.models.experts import experts_of


def recompute_blocks(transformer: torch.nn.Module, every: int, *, is_sharded: bool) -> None:
    """Recompute every `every`-th block of each transformer, counted through all of its lists of blocks; 0: none.

    Args:
        transformer: one, or `Experts`.
        every: 1 recomputes all.
        is_sharded: ZeRO 3, with or without offload, where a layer's weights are there only while it runs.

    Raises:
        ModelLoadError: for a transformer that diffusers cannot recompute.
    """
    if not every:
        return
    for expert in experts_of(transformer).values():
        if not getattr(expert, "_supports_gradient_checkpointing", False):
            raise ModelLoadError(
                f"`deepspeed.gradient_checkpointing` must be 0 for {type(expert).__name__}, got {every}: "
                "its blocks cannot be recomputed"
            )
        expert.enable_gradient_checkpointing(_Recomputation(expert, every, is_sharded=is_sharded))


class _Recomputation:
    """What diffusers calls for a block instead of the block."""

    def __init__(self, transformer: torch.nn.Module, every: int, *, is_sharded: bool) -> None:
        lists = [module for module in transformer.modules() if isinstance(module, torch.nn.ModuleList)]
        blocks = list(dict.fromkeys(block for blocks in lists for block in blocks))
        self._chosen = set(blocks[::every])
        self._run = _again_under_hooks if is_sharded else _again

    def __call__(self, block: torch.nn.Module, *args: Any) -> Any:
        return self._run(block, *args) if block in self._chosen else block(*args)


def _again(block: torch.nn.Module, *args: Any) -> Any:
    # Frozen models in evaluation mode draw no random numbers, so there is no state to keep.
    return checkpoint(block, *args, use_reentrant=False, preserve_rng_state=False)


def _again_under_hooks(block: torch.nn.Module, *args: Any) -> Any:
    """To the end: cut short where nothing more is wanted, a layer that DeepSpeed's hooks saw begin would never end.
    Unchecked: a saved weight that is gone after the layer is back when the backward pass reaches it.

    Not reentrant: that would reduce a block's gradients once for each of its passes, and where several share a backward
    (true CFG, both samples of a preference, denoising steps in a row) DeepSpeed keeps but the last, or fails.
    """

    def run(*inputs: Any) -> Any:
        outputs = block(*inputs)
        if isinstance(outputs, tuple):
            return tuple(_entered(output) for output in outputs)
        return _entered(outputs)

    with set_checkpoint_early_stop(False):
        return checkpoint(run, *args, use_reentrant=False, preserve_rng_state=False, determinism_check="none")


def _entered(output: Any) -> Any:
    return _Entrance.apply(output) if isinstance(output, torch.Tensor) else output


class _Entrance(torch.autograd.Function):
    """The identity, where the backward pass enters a block: what it saved is asked for first, so that the block runs
    again before any of its layers is gathered for its own backward. Later, that run would release the layer amid it."""

    @staticmethod
    def forward(ctx: Any, output: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(output.new_empty(0))
        return output.view_as(output)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        _ = ctx.saved_tensors
        return gradients[0]
