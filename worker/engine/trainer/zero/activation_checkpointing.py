"""Gradient checkpointing for every model family: blocks whose activations are recomputed in the backward pass.

One implementation serves all families, because diffusers' transformers call one function for each of their blocks.
Invariant: recomputation changes no gradient, and never runs where no gradients are wanted, so generation is not slower.
"""

from fractions import Fraction
from math import ceil
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from worker.engine.errors import ModelLoadError
from worker.engine.models.experts import experts_of


def recompute_blocks(transformer: torch.nn.Module, share: Fraction, *, is_sharded: bool) -> None:
    """Recompute this share of each transformer's blocks, evenly spread over all of its lists of blocks.

    Args:
        transformer: a transformer, or `Experts`.
        share: 1 recomputes all blocks, 1/2 the first and every second after it, 0 none.
        is_sharded: ZeRO 3, where a layer's weights are gathered only while it runs.

    Raises:
        ModelLoadError: for a transformer that diffusers cannot recompute.
    """
    if not share:
        return
    for expert in experts_of(transformer).values():
        if not getattr(expert, "_supports_gradient_checkpointing", False):
            raise ModelLoadError(
                f"`deepspeed.gradient_checkpointing` must be 0 for {type(expert).__name__}, got a share of {share}: "
                "its blocks cannot be recomputed"
            )
        expert.enable_gradient_checkpointing(_Recomputation(expert, share, is_sharded=is_sharded))


class _Recomputation:
    """The function that diffusers calls with each block and its arguments, in place of the block."""

    def __init__(self, transformer: torch.nn.Module, share: Fraction, *, is_sharded: bool) -> None:
        lists = [module for module in transformer.modules() if isinstance(module, torch.nn.ModuleList)]
        blocks = list(dict.fromkeys(block for blocks in lists for block in blocks))
        self._chosen = {blocks[int(number / share)] for number in range(ceil(len(blocks) * share))}
        self._run = _recompute_sharded if is_sharded else _recompute

    def __call__(self, block: torch.nn.Module, *args: Any) -> Any:
        return self._run(block, *args) if block in self._chosen else block(*args)


def _recompute(block: torch.nn.Module, *args: Any) -> Any:
    # Frozen models in evaluation mode draw no random numbers, so no generator state has to be kept.
    return checkpoint(block, *args, use_reentrant=False, preserve_rng_state=False)


def _recompute_sharded(block: torch.nn.Module, *args: Any) -> Any:
    """Recompute a block whose layers DeepSpeed's hooks gather and release.

    Without early stop: it would end the recomputation inside a layer whose pre-forward hook has run and whose
    post-forward hook then never would. Without the determinism check: it compares saved tensors' metadata, and a weight
    that was saved while gathered is released when the backward pass reaches it.

    Non-reentrant: the reentrant variant reduces a block's gradients once per forward pass, and where one backward holds
    several passes (true CFG, both samples of a preference, consecutive denoising steps) DeepSpeed keeps the last
    gradient only, or fails.
    """

    def run(*inputs: Any) -> Any:
        outputs = block(*inputs)
        if isinstance(outputs, tuple):
            return tuple(_recomputed_first(output) for output in outputs)
        return _recomputed_first(outputs)

    with set_checkpoint_early_stop(False):
        return checkpoint(run, *args, use_reentrant=False, preserve_rng_state=False, determinism_check="none")


def _recomputed_first(output: Any) -> Any:
    return _RecomputeFirst.apply(output) if isinstance(output, torch.Tensor) else output


class _RecomputeFirst(torch.autograd.Function):
    """The identity on a block's output, which is the first of the block that the backward pass reaches.

    Its backward reads a saved tensor, which makes torch recompute the block at once, before any of its layers is
    gathered for its own backward. If a layer triggered the recomputation later, the recomputed forward pass would
    release that layer's weights while its backward needs them.
    """

    @staticmethod
    def forward(ctx: Any, output: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(output.new_empty(0))
        return output.view_as(output)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        _ = ctx.saved_tensors
        return gradients[0]
