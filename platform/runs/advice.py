"""What a legal spec should be thought over for, before anything is launched: lanes the pool lacks, memory they lack."""

from fleet.selectors import pool_devices
from runs.planning import profile_name
from runs.selectors import lacking
from worker.contracts.run_spec import RunSpec
from worker.pipeline.hardware import ACCELERATORS
from worker.pipeline.memory_advice import memory_warnings


def warnings_of(spec: RunSpec) -> list[str]:
    """A sentence for a pool that is too small, and one for each role that is predicted not to fit its lanes; devices
    that nobody has described are left out."""
    devices = pool_devices(spec.lanes.num_rollout + spec.lanes.num_trainer)
    named = [name for device in devices if (name := profile_name(device)) is not None]
    shortage = lacking(spec.granted_lanes)
    told = [f"The run {shortage}: it would wait until lanes join."] if shortage else []
    return told + memory_warnings(spec, [ACCELERATORS[name] for name in named])
