"""Memory and streams of the pretended card, and the host memory pinned for it, as far as code can tell from them.

A copy to pinned memory that is not waited for happens when its stream is waited for, by itself, by an event on it, or
by a copy on it that is waited for: what reads earlier reads what lay there before, as it may on a card. Memory of the
device is freed with its last tensor or by resizing its storage, and counted.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import local
from typing import Any

import torch


class CardMemory:
    """How much memory of each card its tensors hold, which several of them may share, and held at most."""

    def __init__(self) -> None:
        self._storage_of: dict[int, int] = {}
        """Of each tensor, by whatever key its owner has for it."""
        self._held: dict[int, _Held] = {}
        """By storage."""
        self._allocated: defaultdict[torch.device, int] = defaultdict(int)
        self._peak: defaultdict[torch.device, int] = defaultdict(int)

    def hold(self, key: int, storage: torch.UntypedStorage, device: torch.device) -> None:
        """A tensor has come to lie in `storage`."""
        self.release(key)
        name = storage._cdata
        self._storage_of[key] = name
        if name not in self._held:
            self._held[name] = _Held(device)
        self._held[name].num_tensors += 1
        self.resized(storage)

    def release(self, key: int) -> None:
        """A tensor does not lie in its storage any more."""
        name = self._storage_of.pop(key, None)
        if name is None:
            return
        held = self._held[name]
        held.num_tensors -= 1
        if not held.num_tensors:
            self._allocated[held.device] -= self._held.pop(name).num_bytes

    def resized(self, storage: torch.UntypedStorage) -> None:
        """The size of `storage` may have changed."""
        if (held := self._held.get(storage._cdata)) is None:
            return
        self._allocated[held.device] += storage.nbytes() - held.num_bytes
        held.num_bytes = storage.nbytes()
        self._peak[held.device] = max(self._peak[held.device], self._allocated[held.device])

    def allocated(self, device: torch.device) -> int:
        return self._allocated[device]

    def peak(self, device: torch.device) -> int:
        return self._peak[device]

    def reset_peak(self, device: torch.device) -> None:
        self._peak[device] = self._allocated[device]


@dataclass(slots=True)
class _Held:
    """A storage that tensors of a card lie in."""

    device: torch.device
    num_tensors: int = 0
    num_bytes: int = 0


class CardStorage:
    """The storage of a tensor of the device: its memory is one of the CPU's."""

    def __init__(self, memory: torch.UntypedStorage, device: torch.device, held: CardMemory) -> None:
        self.memory = memory
        self.device = device
        self._held = held

    def nbytes(self) -> int:
        return self.memory.nbytes()

    def data_ptr(self) -> int:
        return self.memory.data_ptr()

    def resizable(self) -> bool:
        return self.memory.resizable()

    def resize_(self, num_bytes: int) -> None:
        self.memory.resize_(num_bytes)
        self._held.resized(self.memory)


class CardStream:
    """Copies in the order in which they were begun, none of which has happened yet."""

    def __init__(self, *_: object, **__: object) -> None:
        self._under_way: list[tuple[torch.Tensor, torch.Tensor]] = []

    def begin_copy(self, host: torch.Tensor, values: torch.Tensor) -> None:
        """Copy `values` as they are now, when the stream is waited for."""
        self._under_way.append((host, values.clone()))

    def synchronize(self) -> None:
        while self._under_way:
            host, values = self._under_way.pop(0)
            host.copy_(values)

    def wait_stream(self, other: "CardStream") -> None:
        """What comes later on this stream comes after what is on the other: waiting for this one is enough then."""
        if other is not self:
            self._under_way = [*other._under_way, *self._under_way]

    def wait_event(self, event: "CardEvent") -> None:
        if event.stream is not None:
            self.wait_stream(event.stream)


class CardEvent:
    """A place in a stream: here its end, so that a wait for it is none too short."""

    stream: CardStream | None = None

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def record(self, stream: CardStream | None = None) -> None:
        self.stream = stream or STREAMS.current

    def synchronize(self) -> None:
        if self.stream is not None:
            self.stream.synchronize()

    def wait(self, stream: CardStream | None = None) -> None:
        (stream or STREAMS.current).wait_event(self)

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: "CardEvent") -> float:
        return 0.0


class Streams:
    """The current stream of each thread; all have one default."""

    def __init__(self) -> None:
        self.default = CardStream()
        self._of_thread = local()
        self._all: list[CardStream] = [self.default]

    @property
    def current(self) -> CardStream:
        stream: CardStream = getattr(self._of_thread, "stream", self.default)
        return stream

    def made(self, *_: object, **__: object) -> CardStream:
        self._all.append(CardStream())
        return self._all[-1]

    def synchronize(self) -> None:
        for stream in self._all:
            stream.synchronize()

    @contextmanager
    def entered(self, stream: CardStream) -> Iterator[CardStream]:
        before, self._of_thread.stream = self.current, stream
        try:
            yield stream
        finally:
            self._of_thread.stream = before


STREAMS = Streams()


class PinnedMemory:
    """What is pinned."""

    def __init__(self) -> None:
        self._pinned: list[torch.UntypedStorage] = []
        """Kept for ever, so that no other memory gets their addresses."""

    def pinned(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of `tensor` that is pinned."""
        made = tensor.clone()
        self._pinned.append(made.untyped_storage())
        return made

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        at = tensor.untyped_storage().data_ptr()
        return any(storage.data_ptr() == at for storage in self._pinned)


def is_not_waited_for(args: Any, kwargs: Any) -> bool:
    """Whether a call of `aten.copy_` is one whose end its caller does not wait for."""
    return bool(kwargs.get("non_blocking", args[2] if len(args) > 2 else False))
