"""The check of the embedding store: a run's prompts, encoded once, against the room on the disk of each node."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from fleet.node_rooms import embedding_rooms
from runs.start_checks.check_rows import Check, CheckName, CheckState
from runs.start_checks.runs_at_work import runs_at_work
from runs.start_checks.sizes import size_text
from worker.contracts.embedding_room import FOLDER_VARIABLE, SIZE_VARIABLE
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.stored_embeddings import embedding_bytes, known_texts
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_models import has_profile, stand_in_profile

Stored = Mapping[tuple[object, ...], int]
"""Bytes by what makes an embedding another one: the text, and what encodes it."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A node of the pool, and what its store would hold."""

    node: str
    room: int
    held: int
    """Bytes of runs at work there which are not this run's as well."""
    needed: int

    @property
    def lacks(self) -> int:
        return max(0, self.needed + self.held - self.room)


def embeddings_check(spec: RunSpec, prompts: Sequence[Prompt]) -> Check:
    """What the run's embeddings take on the disk of each node of the pool, beside those of runs at work there. Every
    node with a rollout or trainer lane holds all of them."""
    pool, own = spec.lanes.pool, _stored(spec, prompts)
    rooms = embedding_rooms(pool)
    known = {node: room for node, room in rooms.items() if room is not None}
    needed = sum(own.values())
    guess = "" if has_profile(spec.base_model) else f", taking {stand_in_profile(spec.base_model)} for the model"
    said = f"At most {size_text(needed)} of embeddings of {len(own)} texts{guess}"
    if not known:
        text = f"{said}; no node of the pool {pool} has reported how much room it has for them."
        return Check(CheckName.EMBEDDINGS, CheckState.UNKNOWN, text)
    beside = _beside(own, known)
    judged = [_Judged(node, room, beside[node], needed) for node, room in known.items()]
    worst = max(judged, key=lambda one: (one.lacks, -one.room))
    room = f"{worst.node} has room for {size_text(worst.room)}"
    others = f", of which runs at work there hold {size_text(worst.held)}" if worst.held else ""
    if worst.lacks:
        text = f"{said} on each node's disk; {room}{others}, so the run would fail while it starts."
        return Check(CheckName.EMBEDDINGS, CheckState.WARNING, text, _remedy(spec, worst), "prompts")
    return Check(CheckName.EMBEDDINGS, CheckState.FINE, f"{said} on each node's disk; {room}{others}.")


def _remedy(spec: RunSpec, worst: _Judged) -> str:
    gib = -(-(worst.needed + worst.held) // 2**30)
    length = spec.sampling.max_sequence_length or "its default"
    return (
        f"Set `{SIZE_VARIABLE}` there to {gib} or more on a disk with that room (`{FOLDER_VARIABLE}` names it), lower "
        f"`sampling.max_sequence_length` from {length}, or train on fewer prompts."
    )


def _beside(own: Stored, nodes: Collection[str]) -> dict[str, int]:
    """Bytes that runs at work hold on each node, without what `own` has as well."""
    held = [(run, _stored(run.spec, run.prompts)) for run in runs_at_work(nodes)]
    found = {}
    for node in nodes:
        others: dict[tuple[object, ...], int] = {}
        for run, stored in held:
            others |= stored if run.num_lanes[node] else {}
        found[node] = sum(number for key, number in others.items() if key not in own)
    return found


def _stored(spec: RunSpec, prompts: Sequence[Prompt]) -> Stored:
    work, model = Workload.of(spec), spec.base_model
    encoder = (model.family, model.path, model.dtype, spec.sampling.max_sequence_length)
    return {(*encoder, text): embedding_bytes(work, text) for text in known_texts(spec, prompts)}
