"""Gradient checkpointing for every model family: blocks whose activations are computed again in the backward pass.

One utility, because diffusers' transformers all ask one function for each of their blocks. It never changes a
gradient, and never runs where no gradients are wanted: twins generate as fast with it as without.
"""

from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from worker.engine.errors import ModelLoadError
from worker.engine.models.experts import experts_of


def recompute_blocks(transformer: torch.nn.Module, every: int, *, is_cut: bool) -> None:
    """Recompute every `every`-th block of each transformer, counted through all of its lists of blocks; 0: none.

    Args:
        transformer: one, or `Experts`.
        every: 1 recomputes all.
        is_cut: ZeRO 3, with or without offload, where a layer's weights are there only while it runs.

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
        expert.enable_gradient_checkpointing(_Recomputation(expert, every, is_cut=is_cut))


class _Recomputation:
    """What diffusers calls for a block instead of the block."""

    def __init__(self, transformer: torch.nn.Module, every: int, *, is_cut: bool) -> None:
        lists = [module for module in transformer.modules() if isinstance(module, torch.nn.ModuleList)]
        blocks = list(dict.fromkeys(block for blocks in lists for block in blocks))
        self._chosen = set(blocks[::every])
        self._run = _again_under_hooks if is_cut else _again

    def __call__(self, block: torch.nn.Module, *args: Any) -> Any:
        return self._run(block, *args) if block in self._chosen else block(*args)


def _again(block: torch.nn.Module, *args: Any) -> Any:
    # Frozen models in evaluation mode draw no random numbers, so there is no state to keep.
    return checkpoint(block, *args, use_reentrant=False, preserve_rng_state=False)


def _again_under_hooks(block: torch.nn.Module, *args: Any) -> Any:
    """Reentrant: the other kind compares what it saved with what it sees again, and in ZeRO 3 a saved weight is gone.

    A reentrant pass is differentiated only where an argument is, which the first block's are not while the base is
    frozen: the anchor is one that always is.
    """
    is_trained = any(parameter.requires_grad for parameter in block.parameters())
    if not is_trained and not any(isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args):
        return block(*args)
    anchor = torch.zeros((), requires_grad=True)
    return checkpoint(lambda _, *inputs: block(*inputs), anchor, *args, use_reentrant=True, preserve_rng_state=False)
