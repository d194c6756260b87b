"""What training needs and generation does not, moved to host memory while a rank generates and back bit for bit.

Storages are moved, not tensors: every view of a moved storage stays as it is, only without memory behind it until the
storage is filled again. So nothing has to be known of how a ZeRO stage lays its buffers out, frozen parameters between
trained ones change nothing, and what DeepSpeed holds, it holds afterwards. Nobody may compute with it meanwhile.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator
from deepspeed.runtime.zero.partition_parameters import is_zero_param

_DEEPSPEED_STATE = "deepspeed.runtime.zero"


@dataclass(frozen=True, slots=True)
class OffloadedStorage:
    num_bytes: int
    seconds: float


class StateOffloader:
    """Of one DeepSpeed engine: optimizer state, master weights and gradients; weights too where asked."""

    def __init__(self, engine: Any, module: torch.nn.Module) -> None:
        """`module` is what the engine trains, with the base below it."""
        self._engine = engine
        self._parameters = tuple(module.parameters())
        self._away: list[tuple[torch.UntypedStorage, torch.Tensor]] = []
        self._spare: defaultdict[int, list[torch.Tensor]] = defaultdict(list)
        """Host buffers by size: to pin one takes longer than to fill it."""

    @property
    def are_away(self) -> bool:
        return bool(self._away)

    def offload(self, *, with_base: bool = False, with_trained: bool = False) -> OffloadedStorage:
        """To the host, what is not there yet; frozen weights `with_base`, trained ones `with_trained`."""
        start = time.perf_counter()
        going = [p for p in self._parameters if (with_trained if p.requires_grad else with_base)]
        found = [storage for storage in self._storages(going) if _is_movable(storage)]
        moved = [(storage, self._host_buffer(storage.nbytes())) for storage in found]
        for storage, host in moved:
            host.copy_(_bytes_of(storage), non_blocking=True)
        get_accelerator().synchronize()
        for storage, _ in moved:
            storage.resize_(0)
        get_accelerator().empty_cache()
        self._away += moved
        return OffloadedStorage(sum(host.numel() for _, host in moved), time.perf_counter() - start)

    def reload(self) -> OffloadedStorage:
        """Back to the device, in place."""
        start = time.perf_counter()
        num_bytes = 0
        for storage, host in self._away:
            storage.resize_(host.numel())
            _bytes_of(storage).copy_(host, non_blocking=True)
            num_bytes += host.numel()
        get_accelerator().synchronize()
        for _, host in self._away:
            self._spare[host.numel()].append(host)
        self._away = []
        return OffloadedStorage(num_bytes, time.perf_counter() - start)

    def _storages(self, going: Sequence[torch.nn.Parameter]) -> Iterator[torch.UntypedStorage]:
        """Each once, weights only where they are `going`."""
        gone = {id(parameter) for parameter in going}
        kept = {
            tensor.untyped_storage().data_ptr()
            for parameter in self._parameters
            if id(parameter) not in gone
            for tensor in _weights_of(parameter)
        }
        found = [*reachable_tensors(self._engine.optimizer), *(tensor for one in going for tensor in _weights_of(one))]
        found += [parameter.grad for parameter in self._parameters if parameter.grad is not None]
        for tensor in found:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in kept:
                kept.add(storage.data_ptr())
                yield storage

    def _host_buffer(self, num_bytes: int) -> torch.Tensor:
        if self._spare[num_bytes]:
            return self._spare[num_bytes].pop()
        buffer = torch.empty(num_bytes, dtype=torch.uint8)
        return buffer if _is_cpu() else get_accelerator().pin_memory(buffer)


def _weights_of(parameter: torch.nn.Parameter) -> list[torch.Tensor]:
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
            waiting.extend(_parts_of(value))


def _parts_of(value: Any) -> Iterable[Any]:
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
    """Of the device, with something in it. Mapped files, which only a CPU lane computes with, cannot be given back."""
    device = torch.device(get_accelerator().current_device_name())
    return storage.device.type == device.type and storage.nbytes() > 0 and bool(storage.resizable())


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _is_cpu() -> bool:
    return bool(get_accelerator().device_name() == "cpu")
