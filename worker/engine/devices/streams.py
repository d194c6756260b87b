"""Streams on which an accelerator copies beside the work of its default one."""

from contextlib import AbstractContextManager, nullcontext

import torch
from deepspeed.accelerator import get_accelerator


def own_stream(device: torch.device) -> AbstractContextManager[object]:
    """A stream of its own on an accelerator: on the default one a copy would wait for the kernels that are queued
    there."""
    if device.type == "cpu":
        return nullcontext()
    accelerator = get_accelerator()
    stream: AbstractContextManager[object] = accelerator.stream(accelerator.Stream())
    return stream


def finish_stream(device: torch.device) -> None:
    """Wait until everything on the current stream of `device` is done."""
    if device.type != "cpu":
        get_accelerator().current_stream().synchronize()
