"""The check of nodes' own memory: text encoders that encode prompts there, and what trainer lanes offload."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fleet.device_profiles import profile_name
from fleet.node_rooms import host_rooms
from runs.start_checks.check_rows import Check, CheckName, CheckState
from runs.start_checks.sizes import size_text
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.host_memory import HostMemory, encodes_on_device, host_memory
from worker.scheduling.planning.stored_embeddings import known_texts
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_devices import accelerator
from worker.scheduling.profiles.known_models import has_profile, stand_in_profile


@dataclass(frozen=True, slots=True)
class _Judged:
    """A node of the pool, and what the run would take of its memory."""

    node: str
    needed: HostMemory
    room: int
    """Bytes that it may take."""
    is_free: bool
    """Whether they are free now; otherwise it is all that the node has, since others would be gone."""
    encodes_on_device: bool

    @property
    def left(self) -> float:
        return self.room - self.needed.total


def host_memory_check(spec: RunSpec, prompts: Sequence[Prompt]) -> Check:
    """What the run would take at most of the memory of each node of the pool: with the lanes there that no run holds,
    of what is free now; with all lanes, of all memory."""
    if not (judged := list(_looked_at(spec, prompts))):
        text = f"{size_text(Workload.of(spec).text_encoder_bytes)} of text encoders where a node's CPU encodes prompts"
        which = f"no node of the pool {spec.lanes.pool} with devices that the planner knows"
        return _check(CheckState.UNKNOWN, f"{text}; {which} has reported its memory.")
    worst = min(judged, key=lambda one: one.left)
    which = "new prompts of sample requests" if worst.encodes_on_device else "the run's prompts"
    parts = f"{size_text(worst.needed.text_encoders)} of text encoders, where its CPU encodes {which}"
    if worst.needed.offloaded:
        parts += f"; {size_text(worst.needed.offloaded)} of what trainer lanes offload and publish"
    room = f"{size_text(worst.room)} are free" if worst.is_free else f"it has {size_text(worst.room)}"
    said = f"At most {size_text(worst.needed.total)} of the memory of {worst.node} ({parts}); {room}"
    if worst.left < 0:
        return _check(CheckState.WARNING, f"{said}, so the system may end the run's processes.", _remedy(spec, worst))
    guess = "" if has_profile(spec.base_model) else f", taking {stand_in_profile(spec.base_model)} for the model"
    return _check(CheckState.FINE, f"{said}{guess}.")


def _looked_at(spec: RunSpec, prompts: Sequence[Prompt]) -> Iterator[_Judged]:
    """Nothing for a device without a profile, of which nobody knows what fits it."""
    rooms, work, num_texts = host_rooms(spec.lanes.pool), Workload.of(spec), len(known_texts(spec, prompts))
    names = {device: profile_name(device) for device in {room.device for room in rooms}}
    for room in rooms:
        if (name := names[room.device]) is None:
            continue
        device, num_free = accelerator(name), room.num_lanes - room.num_held
        on_device = encodes_on_device(work, device)
        if num_free:
            needed = host_memory(work, device, num_lanes=num_free, num_texts=num_texts)
            yield _Judged(room.node, needed, room.memory_bytes - room.used_bytes, True, on_device)
        if room.num_held:
            needed = host_memory(work, device, num_lanes=room.num_lanes, num_texts=num_texts)
            yield _Judged(room.node, needed, room.memory_bytes, False, on_device)


def _remedy(spec: RunSpec, worst: _Judged) -> str:
    remedies = []
    if spec.deepspeed.config.offloads_optimizer or spec.deepspeed.offload_idle_states:
        remedies.append("offload less (`deepspeed.config`, `deepspeed.offload_idle_states`)")
    if worst.encodes_on_device:
        remedies.append("ask for samples of the run's own prompts alone, which are encoded before it begins")
    else:
        remedies.append("take devices with room for the text encoders")
    sentence = ", ".join([*remedies, f"or free memory of {worst.node}"])
    return f"{sentence[0].upper()}{sentence[1:]}."


def _check(state: CheckState, text: str, remedy: str = "") -> Check:
    return Check(CheckName.HOST_MEMORY, state, text, remedy)
