"""Before a run starts: which of its lanes are predicted to run out of memory, and what would make them fit.

Pure, and only as good as the model's profile: a base model without one gets no warning, rather than another model's.
"""

from collections.abc import Iterator, Mapping, Sequence

from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.names import Placement, Tuning
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory import LaneMemory, MemoryRole, host_bytes, lane_memory
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import GB, Accelerator
from worker.scheduling.profiles.known_models import has_profile

_REMEDIES: Sequence[Mapping[str, Mapping[str, object]]] = (
    {"deepspeed": {"gradient_checkpointing": 1}},
    {"deepspeed": {"gradient_checkpointing": 1}, "batch": {"micro_batch_size": 1}},
    {"deepspeed": {"gradient_checkpointing": 1, "config": ZeroConfig.ZERO3}},
    {"deepspeed": {"gradient_checkpointing": 1, "config": ZeroConfig.ZERO3, "offload_idle_states": True}},
    {"deepspeed": {"gradient_checkpointing": 1, "config": ZeroConfig.ZERO3_CPUOFFLOAD, "offload_idle_states": True}},
)
"""Tried in turn, the cheapest in time first."""
_NUM_PARTS = 3
"""Largest parts told of what a lane holds."""


def memory_warnings(spec: RunSpec, devices: Sequence[Accelerator]) -> list[str]:
    """A sentence for each role whose lanes do not fit the smallest of `devices`; none for a model without a profile.

    Where the planner is to choose (`placement: auto`), it offers no split that does not fit.
    """
    if not devices or not has_profile(spec.base_model) or spec.pipeline.placement is Placement.AUTO:
        return []
    smallest = min(devices, key=lambda device: device.memory_bytes)
    return [
        f"{_said(duty, memory, smallest)} {_remedy(spec, duty, smallest)}"
        for duty, memory in _by_duty(spec, smallest)
        if not memory.fits(smallest)
    ]


def _by_duty(spec: RunSpec, device: Accelerator) -> Iterator[tuple[MemoryRole, LaneMemory]]:
    lanes, work = spec.granted_lanes, Workload.of(spec)
    trains = MemoryRole.BOTH if spec.pipeline.trainers_generate else MemoryRole.TRAINER
    if lanes.num_rollout:
        yield MemoryRole.ROLLOUT, lane_memory(work, device, MemoryRole.ROLLOUT)
    yield trains, lane_memory(work, device, trains, num_ranks=lanes.num_trainer)


def _said(duty: MemoryRole, memory: LaneMemory, device: Accelerator) -> str:
    name = "A rollout lane" if duty is MemoryRole.ROLLOUT else "A trainer lane"
    parts = sorted(memory.parts.items(), key=lambda part: -part[1])[:_NUM_PARTS]
    told = ", ".join(f"{what} {held / GB:.1f}" for what, held in parts)
    return (
        f"{name} is predicted to need {memory.total / GB:.1f} GB, and {device.name} has {device.memory_bytes / GB:.1f} "
        f"({told})."
    )


def _remedy(spec: RunSpec, duty: MemoryRole, device: Accelerator) -> str:
    if duty is MemoryRole.ROLLOUT:
        return "Lower `batch.fragment_size`, or take devices with more memory."
    for sections in _REMEDIES:
        tried = spec.model_copy(
            update={name: getattr(spec, name).model_copy(update=changes) for name, changes in sections.items()}
        )
        if dict(_by_duty(tried, device))[duty].fits(device):
            told = ", ".join(
                f"`{name}.{field}: {str(value).lower()}`"
                for name, changes in sections.items()
                for field, value in changes.items()
                if getattr(getattr(spec, name), field) != value
            )
            return f"It would fit with {told}{_of_hosts(tried)}."
    others = ", or train a LoRA (`tuning: lora`)" if spec.tuning is Tuning.FULL else ""
    return f"Give it more trainer lanes, smaller pictures or devices with more memory{others}."


def _of_hosts(spec: RunSpec) -> str:
    held = host_bytes(Workload.of(spec), num_ranks=spec.granted_lanes.num_trainer) / GB
    return f", and {held:.0f} GB of host memory for each trainer lane" if held >= 1 else ""
