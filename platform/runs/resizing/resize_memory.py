"""Whether the lanes of a resized run fit their devices, by the planner's memory model.

Invariant: a model or a device without a profile of its own gets no verdict, as for warnings about a spec.
"""

from collections.abc import Iterator, Mapping

from fleet.device_profiles import profile_name
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory import MemoryRole, lane_memory
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import GB
from worker.scheduling.profiles.known_devices import accelerator
from worker.scheduling.profiles.known_models import has_profile


def memory_problems(
    spec: RunSpec, before: Mapping[str, LaneRole], after: Mapping[str, LaneRole], device_of: Mapping[str, str]
) -> Iterator[str]:
    """Lanes that would not fit after a resize, each as a sentence for the user.

    Args:
        spec: the run's concrete spec.
        before, after: roles by lane. Lanes that keep their role are left out, trainers only where the gang stays.
        device_of: the device of every lane.
    """
    if not has_profile(spec.base_model):
        return
    work, trains = Workload.of(spec), MemoryRole.BOTH if spec.pipeline.trainers_generate else MemoryRole.TRAINER
    ranks, ranks_before = _trainers(after), _trainers(before)
    for lane, role in after.items():
        is_as_before = before.get(lane) is role and (role is not LaneRole.TRAINER or ranks == ranks_before)
        profile = profile_name(device_of[lane])
        if is_as_before or role is LaneRole.REWARD or profile is None:
            continue
        device = accelerator(profile)
        duty = trains if role is LaneRole.TRAINER else MemoryRole.ROLLOUT
        memory = lane_memory(work, device, duty, num_ranks=len(ranks))
        if not memory.fits(device):
            yield (
                f"`{lane}` must fit {device.name} ({device.memory_bytes / GB:.1f} GB) as a {role} lane, got "
                f"{memory.total / GB:.1f} GB with {len(ranks)} trainer lanes in {spec.deepspeed.config}: "
                "keep more trainer lanes, or take lanes with more memory"
            )


def _trainers(roles: Mapping[str, LaneRole]) -> set[str]:
    return {lane for lane, role in roles.items() if role is LaneRole.TRAINER}
