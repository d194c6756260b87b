"""Offload of training state: moved to host memory while a rank generates, and back bit for bit.

Storages are moved, not tensors: every view of a moved storage stays as it is, without memory behind it until the
storage is refilled. So this module needs not know how a ZeRO stage lays its buffers out, nor where frozen parameters
lie between trained ones, and every reference that DeepSpeed holds stays valid. Nothing may compute with offloaded state
before it is reloaded.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator
from deepspeed.runtime.zero.partition_parameters import is_zero_param

from worker.engine.devices.pinned_memory import host_buffer

_DEEPSPEED_STATE = "deepspeed.runtime.zero"
"""The package whose objects hold a ZeRO optimizer's state."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """What one call of `offload` or `reload` copied."""

    num_bytes: int
    seconds: float
    """Wall-clock seconds, synchronisation with the device included."""


class StateOffloader:
    """Offloads optimizer state, master weights and gradients of one DeepSpeed engine, and weights where asked."""

    def __init__(self, deepspeed_engine: Any, module: torch.nn.Module) -> None:
        """`module` is what the engine trains, with the base below it."""
        self._deepspeed_engine = deepspeed_engine
        self._parameters = tuple(module.parameters())
        self._offloaded: list[tuple[torch.UntypedStorage, torch.Tensor]] = []
        """The storages without memory, each with the host buffer that holds its bytes."""
        self._free_buffers: defaultdict[int, list[torch.Tensor]] = defaultdict(list)
        """Host buffers for reuse, by their size in bytes: pinning one takes longer than filling it."""

    def offload(self, *, with_base: bool = False, with_trainable: bool = False) -> Transfer:
        """Move what is still on the device to the host.

        Args:
            with_base: frozen weights too.
            with_trainable: trainable weights too.
        """
        start = time.perf_counter()
        weights = [p for p in self._parameters if (with_trainable if p.requires_grad else with_base)]
        found = [storage for storage in self._storages(weights) if _is_movable(storage)]
        moved = [(storage, self._host_buffer(storage.nbytes())) for storage in found]
        for storage, host in moved:
            host.copy_(_bytes_of(storage), non_blocking=True)
        get_accelerator().synchronize()
        for storage, _ in moved:
            storage.resize_(0)
        get_accelerator().empty_cache()
        self._offloaded += moved
        return Transfer(sum(host.numel() for _, host in moved), time.perf_counter() - start)

    def reload(self) -> Transfer:
        """Move everything offloaded back into the same storages."""
        start = time.perf_counter()
        num_bytes = 0
        for storage, host in self._offloaded:
            storage.resize_(host.numel())
            _bytes_of(storage).copy_(host, non_blocking=True)
            num_bytes += host.numel()
        get_accelerator().synchronize()
        for _, host in self._offloaded:
            self._free_buffers[host.numel()].append(host)
        self._offloaded = []
        return Transfer(num_bytes, time.perf_counter() - start)

    def _storages(self, weights: Sequence[torch.nn.Parameter]) -> Iterator[torch.UntypedStorage]:
        """Each storage of the engine's state and of `weights` once; none that other weights share."""
        moving = {id(parameter) for parameter in weights}
        skipped = {
            tensor.untyped_storage().data_ptr()
            for parameter in self._parameters
            if id(parameter) not in moving
            for tensor in _tensors_of(parameter)
        }
        found = [
            *reachable_tensors(self._deepspeed_engine.optimizer),
            *(tensor for parameter in weights for tensor in _tensors_of(parameter)),
        ]
        found += [parameter.grad for parameter in self._parameters if parameter.grad is not None]
        for tensor in found:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in skipped:
                skipped.add(storage.data_ptr())
                yield storage

    def _host_buffer(self, num_bytes: int) -> torch.Tensor:
        """(num_bytes,) uint8."""
        return self._free_buffers[num_bytes].pop() if self._free_buffers[num_bytes] else host_buffer(num_bytes)


def _tensors_of(parameter: torch.nn.Parameter) -> list[torch.Tensor]:
    """The tensors that hold a parameter: its data, and in ZeRO 3 this rank's shard."""
    return [parameter.data, parameter.ds_tensor] if is_zero_param(parameter) else [parameter.data]


def reachable_tensors(root: Any) -> Iterator[torch.Tensor]:
    """Every tensor that DeepSpeed's optimizer, or torch's inside it, holds; modules are not looked into."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, torch.Tensor):
            yield value.data
            if value.is_leaf and value.grad is not None:
                waiting.append(value.grad)
        else:
            waiting.extend(_members_of(value))


def _members_of(value: Any) -> Iterable[Any]:
    """What a container, an optimizer or an object of DeepSpeed's refers to; nothing for other values."""
    match value:
        case dict():
            return [*value.keys(), *value.values()]
        case list() | tuple() | set():
            return value
        case torch.nn.Module():
            return ()
        case torch.optim.Optimizer():
            return vars(value).values()
    is_deepspeeds = type(value).__module__.startswith(_DEEPSPEED_STATE) and hasattr(value, "__dict__")
    return vars(value).values() if is_deepspeeds else ()


def _is_movable(storage: torch.UntypedStorage) -> bool:
    """Whether a storage lies on the device, is not empty, and can be resized. Memory-mapped files, which only a lane on
    a CPU computes with, cannot."""
    device = torch.device(get_accelerator().current_device_name())
    return storage.device.type == device.type and storage.nbytes() > 0 and bool(storage.resizable())


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    """A storage's bytes as a uint8 tensor that shares its memory."""
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
