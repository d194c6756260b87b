"""What the memory plan says of a spec on the pool's own lanes, before anything is launched."""

from fleet.selectors import pool_devices
from runs.planning import profile_name
from worker.contracts.run_spec import RunSpec
from worker.pipeline.hardware import ACCELERATORS
from worker.pipeline.memory_advice import memory_warnings


def warnings_of(spec: RunSpec) -> list[str]:
    """One sentence for each role that is predicted not to fit; devices that nobody has described are left out."""
    devices = pool_devices(spec.lanes.num_rollout + spec.lanes.num_trainer)
    named = [name for device in devices if (name := profile_name(device)) is not None]
    return memory_warnings(spec, [ACCELERATORS[name] for name in named])
