"""The shortages of memory that this process has got over, until its next report takes them to the driver. Imports no
torch, so that an actor can read it before its devices are chosen."""

from collections import deque

from worker.contracts.memory_shortages import MemoryShortage

_noted: deque[MemoryShortage] = deque()


def note_shortage(shortage: MemoryShortage) -> None:
    _noted.append(shortage)


def take_shortages() -> tuple[MemoryShortage, ...]:
    """Those since the last call."""
    # One by one: rewards note theirs from threads of their own.
    return tuple(_noted.popleft() for _ in range(len(_noted)))
