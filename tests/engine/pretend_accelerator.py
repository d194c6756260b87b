"""What torch and DeepSpeed ask of the pretended cards as of an accelerator: how many there are, which one is current,
their streams and their memory.

`NUM_CARDS` in a process's environment says how many cards the machine has, 1 without it; `CUDA_VISIBLE_DEVICES` hides
some, as of a real one.
"""

import os
import threading
from contextlib import AbstractContextManager
from typing import Any

import torch
from deepspeed.accelerator.cpu_accelerator import CPU_Accelerator

from tests.engine.pretend_memory import STREAMS, CardEvent, CardMemory, CardStream, PinnedMemory

NAME = "pretend"
NUM_CARDS = "PRETENDED_CARDS"
"""The environment variable."""
NUM_BYTES = 2**30
"""The memory of a card: many times what a tiny model takes."""
PINNED = PinnedMemory()
MEMORY = CardMemory()
_CURRENT = threading.local()
"""The current card of each thread, as CUDA has one."""


def num_cards() -> int:
    mask = os.environ.get("CUDA_VISIBLE_DEVICES")
    return int(os.environ.get(NUM_CARDS, "1")) if mask is None else len(mask.split(","))


def current_card() -> torch.device:
    return torch.device(NAME, getattr(_CURRENT, "index", 0))


def memory_info(device: object = None) -> tuple[int, int]:
    """Free and all bytes, as `torch.accelerator.get_memory_info`."""
    return NUM_BYTES - MEMORY.allocated(current_card()), NUM_BYTES


class Module:
    """What `torch.get_device_module` finds."""

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def is_initialized() -> bool:
        return True

    @staticmethod
    def device_count() -> int:
        return num_cards()

    @staticmethod
    def current_device() -> int:
        return current_card().index

    @staticmethod
    def set_device(device: Any) -> None:
        _CURRENT.index = device if isinstance(device, int) else torch.device(device).index

    @staticmethod
    def get_device_name(device: object = None) -> str:
        return "Pretend Card 0"

    @staticmethod
    def _is_in_bad_fork() -> bool:
        return False

    @staticmethod
    def get_amp_supported_dtype() -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        pass


class Accelerator(CPU_Accelerator):
    """DeepSpeed's of the CPU, but for what a card has: a name, a memory, streams and pinned memory of the host."""

    def device_name(self, device_index: int | None = None) -> str:
        return NAME if device_index is None else f"{NAME}:{device_index}"

    def device_count(self) -> int:
        return num_cards()

    def set_device(self, device_index: int) -> None:
        Module.set_device(device_index)

    def current_device(self) -> int:
        return current_card().index

    def current_device_name(self) -> str:
        return str(current_card())

    def on_accelerator(self, tensor: torch.Tensor) -> bool:
        return tensor.device.type == NAME

    def is_synchronized_device(self) -> bool:
        return False

    def Stream(self, *args: object, **kwargs: object) -> CardStream:  # noqa: N802 DeepSpeed calls it so
        return STREAMS.made()

    def Event(self, **kwargs: object) -> CardEvent:  # noqa: N802 DeepSpeed calls it so
        return CardEvent()

    def current_stream(self, device_index: int | None = None) -> CardStream:
        return STREAMS.current

    def default_stream(self, device_index: int | None = None) -> CardStream:
        return STREAMS.default

    def stream(self, stream: CardStream) -> AbstractContextManager[CardStream]:
        return STREAMS.entered(stream)

    def synchronize(self, device_index: int | None = None) -> None:
        STREAMS.synchronize()

    def pin_memory(self, tensor: torch.Tensor, make_copy: bool = True, match_shape: bool = True) -> torch.Tensor:
        return PINNED.pinned(tensor if match_shape else tensor.reshape(-1))

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        return PINNED.is_pinned(tensor)

    def memory_allocated(self, device_index: int | None = None) -> int:
        return MEMORY.allocated(self._card(device_index))

    def memory_reserved(self, device_index: int | None = None) -> int:
        return self.memory_allocated(device_index)

    def max_memory_allocated(self, device_index: int | None = None) -> int:
        return MEMORY.peak(self._card(device_index))

    def reset_peak_memory_stats(self, device_index: int | None = None) -> None:
        MEMORY.reset_peak(self._card(device_index))

    def total_memory(self, device_index: int | None = None) -> int:
        return NUM_BYTES

    def available_memory(self, device_index: int | None = None) -> int:
        return NUM_BYTES - self.memory_allocated(device_index)

    @staticmethod
    def _card(index: int | None) -> torch.device:
        return current_card() if index is None else torch.device(NAME, index)


class Generator(torch.Generator):
    """One of the device is one of the CPU, on which its operators run."""

    def __new__(cls, device: Any = "cpu") -> "Generator":
        return super().__new__(cls, "cpu" if torch.device(device).type == NAME else device)
