"""Apply a spec's `performance` section to a transformer, in place: names, weights and LoRA layers do not change.

Blocks are compiled one by one (diffusers' regional compilation). A compiled block takes weights as inputs, so a pull
that copies another version into them needs no recompilation.
"""

import logging

import torch

from worker.contracts.performance import NOT_ON_A_CPU, AttentionBackend, Compilation, PerformanceSpec
from worker.engine.devices.fastest_attention import fastest_attention
from worker.engine.errors import ModelLoadError
from worker.engine.models.experts import experts_of

logger = logging.getLogger(__name__)

MAX_GRAPHS = 64
"""The most compiled graphs of one kind of block, beyond which torch runs blocks uncompiled and only logs it. Torch's
default of 8 is too low: Z-Image's blocks need 16 in a run, with and without gradients, modulation and mask, with one
row and with several, and HunyuanVideo's single blocks 14. Four times as many, for published checkpoints;
`tests/engine/models/test_compiled_blocks.py` keeps half of it free."""


def use_kernels(transformer: torch.nn.Module, performance: PerformanceSpec, device: torch.device) -> None:
    """Choose the kernels of `transformer`, and again for each copy of it, since compiled blocks are not copied.

    Raises:
        ModelLoadError: for a backend that cannot run here, or a transformer without blocks.
    """
    for expert in experts_of(transformer).values():
        attention = performance.attention
        if attention is AttentionBackend.AUTO:
            attention = fastest_attention(device)
        if attention is not AttentionBackend.DEFAULT:
            _set_attention(expert, attention, device)
        # What `auto` means is the spec's to say: `RunSpec.kernels`.
        if performance.compilation not in (Compilation.OFF, Compilation.AUTO):
            _compile_blocks(expert, performance.compilation, device)


def _set_attention(expert: torch.nn.Module, backend: AttentionBackend, device: torch.device) -> None:
    if backend in NOT_ON_A_CPU and device.type == "cpu":
        logger.info("`performance.attention` %s is left off on this lane: it has no accelerator", backend)
        return
    try:
        expert.set_attention_backend(backend.value)
    except (RuntimeError, ImportError) as error:
        raise ModelLoadError(
            f"`performance.attention` must be a backend that is installed on every lane, got {backend}: {error}"
        ) from error


def _compile_blocks(expert: torch.nn.Module, compilation: Compilation, device: torch.device) -> None:
    if compilation is Compilation.INDUCTOR and device.type == "cpu":
        logger.info("`performance.compilation` is left off on this lane: it has no accelerator")
        return
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, MAX_GRAPHS)
    if getattr(expert, "_repeated_blocks", None):
        expert.compile_repeated_blocks(backend=compilation.value)
        return
    # diffusers does not declare SD3's, which are its lists of blocks like any other's.
    blocks = [block for layers in expert.children() if isinstance(layers, torch.nn.ModuleList) for block in layers]
    if not blocks:
        raise ModelLoadError(
            f"`performance.compilation` must be off for {type(expert).__name__}, got {compilation}: it has no blocks"
        )
    for block in blocks:
        block.compile(backend=compilation.value)
