"""The check of Ray's object store: what the run keeps in it against the room of the nodes that it may get."""

from dataclasses import dataclass

from fleet.node_rooms import NodeRoom, rooms_of_nodes
from runs.start_checks.check_rows import Check, CheckName, CheckState
from runs.start_checks.sizes import size_text
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.store_contents import StoreContents, store_contents
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_models import has_profile, stand_in_profile


@dataclass(frozen=True, slots=True)
class _Judged:
    """A node of the pool, and what it would hold at most."""

    room: NodeRoom
    held: StoreContents

    @property
    def spilled(self) -> float:
        """What its store has no room for, which Ray writes to disk."""
        return max(0.0, self.held.total - self.room.object_store_bytes)

    @property
    def lacks_disk(self) -> float:
        """Bytes that neither the store nor the disk has room for."""
        free = self.room.spill_free_bytes
        return 0.0 if free is None else max(0.0, self.spilled - free)

    @property
    def lacks_shared_memory(self) -> float:
        """Bytes that the store may hold and `/dev/shm` has no room for."""
        free = self.room.shm_free_bytes
        return 0.0 if free is None else max(0.0, min(self.held.total, self.room.object_store_bytes) - free)


def store_check(spec: RunSpec) -> Check:
    """What the object store of each node of the pool would hold at most, if all of the node's lanes were the run's."""
    pool, work = spec.lanes.pool, Workload.of(spec)
    judged = [_Judged(room, store_contents(spec, work, num_lanes=room.num_lanes)) for room in rooms_of_nodes(pool)]
    if not judged:
        whole = _said(store_contents(spec, work))
        text = f"{whole} in Ray's object store; no node of the pool {pool} has reported how much its store holds."
        return _store(CheckState.UNKNOWN, text)
    worst = max(judged, key=lambda one: (one.lacks_disk, one.lacks_shared_memory, one.spilled))
    node, room = worst.room.name, worst.room
    said = f"{_said(worst.held)} in Ray's object store of {node}, which holds {size_text(room.object_store_bytes)}"
    if worst.lacks_disk:
        text = (
            f"{said}; {size_text(worst.spilled)} would have to spill to a disk with "
            f"{size_text(room.spill_free_bytes or 0)} free, so the run would fail."
        )
        return _store(CheckState.WARNING, text, f"{_GROW}, make room on that disk, or {_SHRINK}.")
    if worst.lacks_shared_memory:
        text = f"{said}; {size_text(room.shm_free_bytes or 0)} are free in its shared memory."
        return _store(CheckState.WARNING, text, f"Give {node} a larger /dev/shm (in containers: --shm-size).")
    if worst.spilled:
        text = f"{said}; {size_text(worst.spilled)} would spill to its disk, which slows every batch."
        return _store(CheckState.WARNING, text, f"{_GROW}, or {_SHRINK}.")
    guess = "" if has_profile(spec.base_model) else f", taking {stand_in_profile(spec.base_model)} for the model"
    return _store(CheckState.FINE, f"{said}{guess}.")


_GROW = "Give the node's Ray a larger object store (`TANDEM_OBJECT_STORE_GIB`, or `--object-store-memory`)"
_SHRINK = "lower `batch.num_prompts_per_batch`"


def _store(state: CheckState, text: str, remedy: str = "") -> Check:
    return Check(CheckName.STORE, state, text, remedy, "batch.num_prompts_per_batch" if remedy else "")


def _said(held: StoreContents) -> str:
    parts = [("weights", held.versions), ("trajectories", held.trajectories), ("samples", held.samples)]
    listed = ", ".join(f"{size_text(number)} of {what}" for what, number in parts if number)
    return f"At most {size_text(held.total)} ({listed})"
