"""The check of Ray's object store: what the run keeps in it, beside runs at work, against the room of the nodes that it
may get."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from fleet.node_rooms import NodeRoom, rooms_of_nodes
from runs.start_checks.check_rows import Check, CheckName, CheckState
from runs.start_checks.runs_at_work import runs_at_work
from runs.start_checks.sizes import size_text
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.store_contents import StoreContents, store_contents
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_models import has_profile, stand_in_profile

Contents = Callable[[int], StoreContents]
"""What a run holds at most on a node, by the number of its lanes there."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A node of the pool, and what it would hold at most."""

    room: NodeRoom
    needed: StoreContents
    held: float
    """Bytes of runs at work there."""

    @property
    def left(self) -> float:
        """What the store has left, below 0 where something spills."""
        return self.room.object_store_bytes - self.needed.total - self.held

    @property
    def spilled(self) -> float:
        """What the run makes Ray write to disk. What spills without it is not free on that disk already."""
        return max(0.0, self.needed.total + self.held - max(self.room.object_store_bytes, self.held))

    @property
    def lacks_disk(self) -> float:
        """Bytes that neither the store nor the disk has room for."""
        free = self.room.spill_free_bytes
        return 0.0 if free is None else max(0.0, self.spilled - free)

    @property
    def lacks_shared_memory(self) -> float:
        """Bytes that the run adds to the store and `/dev/shm` has no room for. Those of others are not free already."""
        free = self.room.shm_free_bytes
        return 0.0 if free is None else max(0.0, self.needed.total - self.spilled - free)


def store_check(spec: RunSpec) -> Check:
    """What the object store of each node of the pool would hold at most, beside what runs at work there hold. The run
    may have the lanes that they do not hold; for each further lane, one of theirs has been given back."""
    pool = spec.lanes.pool
    if not (judged := list(_looked_at(spec))):
        whole = _said(store_contents(spec, Workload.of(spec)))
        text = f"{whole} in Ray's object store; no node of the pool {pool} has reported how much its store holds."
        return _store(CheckState.UNKNOWN, text)
    worst = max(judged, key=lambda one: (one.lacks_disk, one.lacks_shared_memory, one.spilled, -one.left))
    node, room = worst.room.name, worst.room
    said = f"{_said(worst.needed)} in Ray's object store of {node}, which holds {size_text(room.object_store_bytes)}"
    said += f", of which runs at work there hold {size_text(worst.held)}" if worst.held else ""
    or_later = ", or wait for the end of runs at work there" if worst.held else ""
    if worst.lacks_disk:
        text = (
            f"{said}; {size_text(worst.spilled)} would have to spill to a disk with "
            f"{size_text(room.spill_free_bytes or 0)} free, so the run would fail."
        )
        return _store(CheckState.WARNING, text, f"{_GROW}, make room on that disk, or {_SHRINK}{or_later}.")
    if worst.lacks_shared_memory:
        text = f"{said}; {size_text(room.shm_free_bytes or 0)} are free in its shared memory."
        return _store(CheckState.WARNING, text, f"Give {node} a larger /dev/shm (in containers: --shm-size).")
    if worst.spilled:
        text = f"{said}; {size_text(worst.spilled)} would spill to its disk, which slows every batch."
        return _store(CheckState.WARNING, text, f"{_GROW}, or {_SHRINK}{or_later}.")
    guess = "" if has_profile(spec.base_model) else f", taking {stand_in_profile(spec.base_model)} for the model"
    return _store(CheckState.FINE, f"{said}{guess}.")


@dataclass(frozen=True, slots=True)
class _Other:
    """A run at work on a node."""

    num_lanes: int
    contents: Contents


def _looked_at(spec: RunSpec) -> Iterator[_Judged]:
    """Each node with every number of lanes that the run may have there, from those that others do not hold."""
    rooms, contents = rooms_of_nodes(spec.lanes.pool), _contents(spec)
    at_work = [(run.num_lanes, _contents(run.spec)) for run in runs_at_work({room.name for room in rooms})]
    for room in rooms:
        others = [_Other(numbers[room.name], held) for numbers, held in at_work if numbers[room.name]]
        num_free = room.num_lanes - room.num_held
        for num_lanes in range(max(1, num_free), room.num_lanes + 1):
            yield _Judged(room, contents(num_lanes), _held(others, num_given_back=num_lanes - num_free))


def _contents(spec: RunSpec) -> Contents:
    work = Workload.of(spec)
    return cache(lambda num_lanes: store_contents(spec, work, num_lanes=num_lanes))


def _held(others: Sequence[_Other], *, num_given_back: int) -> float:
    """Bytes that others hold at most once they have given back so many of their lanes, whoever did."""
    num_left = sum(other.num_lanes for other in others) - num_given_back
    return sum(other.contents(min(other.num_lanes, num_left)).total for other in others) if num_left > 0 else 0.0


_GROW = "Give the node's Ray a larger object store (`TANDEM_OBJECT_STORE_GIB`, or `--object-store-memory`)"
_SHRINK = "lower `batch.num_prompts_per_batch`"


def _store(state: CheckState, text: str, remedy: str = "") -> Check:
    return Check(CheckName.STORE, state, text, remedy, "batch.num_prompts_per_batch" if remedy else "")


def _said(held: StoreContents) -> str:
    parts = [("weights", held.versions), ("trajectories", held.trajectories), ("samples", held.samples)]
    listed = ", ".join(f"{size_text(number)} of {what}" for what, number in parts if number)
    return f"At most {size_text(held.total)} ({listed})"
