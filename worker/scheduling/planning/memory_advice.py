"""Warns, before a run starts, of lanes that are predicted to run out of memory, and proposes changes that make them
fit.

Invariant: a base model without a profile of its own gets no warning, rather than one computed for another model.
"""

from collections.abc import Iterator, Mapping, Sequence

from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.names import Placement, Publishing, RewardDevice, Tuning, VaeTiling
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory import LaneMemory, MemoryRole, host_bytes, lane_memory, staged_bytes
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import GB, Accelerator
from worker.scheduling.profiles.known_models import has_profile

IN_TILES: Mapping[str, object] = {"vae_tiling": VaeTiling.ENABLED}
_REMEDIES: Sequence[Mapping[str, Mapping[str, object]]] = (
    {"deepspeed": {"gradient_checkpointing": None}},
    {"deepspeed": {"gradient_checkpointing": None}, "batch": {"micro_batch_size": 1}},
    {"sampling": IN_TILES},
    {"deepspeed": {"gradient_checkpointing": None}, "batch": {"micro_batch_size": 1}, "sampling": IN_TILES},
    {"deepspeed": {"gradient_checkpointing": None, "config": ZeroConfig.ZERO3}},
    {"deepspeed": {"gradient_checkpointing": None, "config": ZeroConfig.ZERO3, "offload_idle_states": True}},
    {"deepspeed": {"gradient_checkpointing": None, "config": ZeroConfig.ZERO3_CPUOFFLOAD, "offload_idle_states": True}},
    {"lanes": {"rewards_on": RewardDevice.CPU}},
)
"""Changes to a spec, by section, of which the first that fits is proposed; in the order of what they cost in time.
Where `gradient_checkpointing` is empty, as much is recomputed as is needed."""
_ROLLOUT_REMEDIES: Sequence[Mapping[str, Mapping[str, object]]] = (
    {"pipeline": {"publishing": Publishing.STORE}},
    {"lanes": {"rewards_on": RewardDevice.CPU}},
    {"sampling": IN_TILES},
    {"sampling": IN_TILES, "pipeline": {"publishing": Publishing.STORE}},
)
"""The same for rollout lanes."""
_NUM_PARTS_NAMED = 3
"""The largest parts of a lane's memory that a warning names: with them it stays one sentence."""


def memory_warnings(
    spec: RunSpec, devices: Sequence[Accelerator], rollout_devices: Sequence[Accelerator] | None = None
) -> list[str]:
    """A sentence for each role whose lanes do not fit each of their devices; none for a model without a profile.

    Where the planner is to choose (`placement: auto`), it offers no split that does not fit.

    Args:
        spec: the run's.
        devices: of its trainer lanes, and of its rollout lanes too where `rollout_devices` is not given.
        rollout_devices: of its rollout lanes.
    """
    if not has_profile(spec.base_model) or spec.pipeline.placement is Placement.AUTO:
        return []
    return [
        f"{_warning(role, memory, device)} {_remedy(spec, role, device)}"
        for role, (device, memory) in tightest_lanes(spec, devices, rollout_devices).items()
        if not memory.fits(device)
    ]


def tightest_lanes(
    spec: RunSpec, devices: Sequence[Accelerator], rollout_devices: Sequence[Accelerator] | None = None
) -> dict[MemoryRole, tuple[Accelerator, LaneMemory]]:
    """By role: of its devices, given as to `memory_warnings`, the one of which its lanes need the largest share, and
    what they are predicted to hold there. It need not be the smallest: lanes of several GPUs need less on each."""
    found: dict[MemoryRole, tuple[Accelerator, LaneMemory]] = {}
    generating = devices if rollout_devices is None else rollout_devices
    for device in dict.fromkeys((*devices, *generating)):
        for role, memory in lane_memories(spec, device):
            if device in (generating if role is MemoryRole.ROLLOUT else devices) and (
                role not in found or _share(device, memory) > _share(*found[role])
            ):
                found[role] = device, memory
    return found


def _share(device: Accelerator, memory: LaneMemory) -> float:
    return memory.total / device.memory_bytes


def lane_memories(spec: RunSpec, device: Accelerator) -> Iterator[tuple[MemoryRole, LaneMemory]]:
    """What a lane of each role is predicted to hold on such a device."""
    lanes, work = spec.granted_lanes, Workload.of(spec)
    trains = MemoryRole.BOTH if spec.pipeline.trainers_generate else MemoryRole.TRAINER
    if lanes.num_rollout:
        yield MemoryRole.ROLLOUT, lane_memory(work, device, MemoryRole.ROLLOUT)
    yield trains, lane_memory(work, device, trains, num_ranks=lanes.num_trainer)


def _warning(role: MemoryRole, memory: LaneMemory, device: Accelerator) -> str:
    name = "A rollout lane" if role is MemoryRole.ROLLOUT else "A trainer lane"
    largest = sorted(memory.parts.items(), key=lambda part: -part[1])[:_NUM_PARTS_NAMED]
    parts = ", ".join(f"{what} {held / GB:.1f}" for what, held in largest)
    on_each, each_of = (" on each GPU", "each of ") if device.num_gpus > 1 else ("", "")
    return (
        f"{name} is predicted to need {memory.total / GB:.1f} GB{on_each}, and {each_of}{device.name} has "
        f"{device.memory_bytes / GB:.1f} ({parts})."
    )


def _remedy(spec: RunSpec, role: MemoryRole, device: Accelerator) -> str:
    for sections in _ROLLOUT_REMEDIES if role is MemoryRole.ROLLOUT else _REMEDIES:
        tried = spec.model_copy(
            update={name: getattr(spec, name).model_copy(update=changes) for name, changes in sections.items()}
        )
        if dict(lane_memories(tried, device))[role].fits(device):
            changes_named = ", ".join(
                f"`{name}.{field}: {'empty' if value is None else str(value).lower()}`"
                for name, changes in sections.items()
                for field, value in changes.items()
                if getattr(getattr(spec, name), field) != value
            )
            hosts = "" if role is MemoryRole.ROLLOUT else _host_memory(tried, device)
            pixels = ", which changes samples slightly" if tried.sampling != spec.sampling else ""
            return f"It would fit with {changes_named}{hosts}{pixels}."
    if role is MemoryRole.ROLLOUT:
        return "Lower `batch.fragment_size`, or take devices with more memory."
    others = ", or train a LoRA (`tuning: lora`)" if spec.tuning is Tuning.FULL else ""
    return f"Give it more trainer lanes, smaller images or devices with more memory{others}."


def _host_memory(spec: RunSpec, device: Accelerator) -> str:
    """What the spec needs of hosts of such devices, as the end of a sentence; empty where that is next to nothing."""
    work, num_ranks = Workload.of(spec), spec.granted_lanes.num_trainer
    state = host_bytes(work, device, num_ranks=num_ranks)
    held = (state + staged_bytes(work, num_ranks=num_ranks)) / GB
    return f", and {held:.0f} GB of host memory for each trainer lane" if state >= GB else ""
