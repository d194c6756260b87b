"""The shortages of memory that this process has got over, until its next report takes them to the driver. Imports no
torch, so that an actor can read it before its devices are chosen."""

from worker.contracts.memory_shortages import MemoryShortage

_noted: list[MemoryShortage] = []


def note_shortage(shortage: MemoryShortage) -> None:
    _noted.append(shortage)


def take_shortages() -> tuple[MemoryShortage, ...]:
    """Those since the last call."""
    taken = tuple(_noted)
    _noted.clear()
    return taken
