"""Which lanes of a pool a run can work on, by the number of their GPUs.

A lane of several GPUs generates and never trains. Where the run spreads predictions over them, their number must divide
what they share: lanes of which it does not would refuse to load, so a run does not get them.
"""

from collections.abc import Mapping

from catalog.base_models import ModelNotUsable, resolve_base_model
from catalog.model_configs import divided_shape
from worker.contracts.context_parallel import DividedShape
from worker.contracts.device_names import can_train, divided
from worker.contracts.names import Placement
from worker.contracts.performance import ContextParallel
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_models import has_profile


def usable(spec: RunSpec, devices: Mapping[str, int]) -> dict[str, int]:
    """Those of the lanes, counted by device, that would load the run's model as rollout lanes."""
    if all(can_train(device) for device in devices):
        return dict(devices)
    shape = _shape(spec)
    return {device: number for device, number in devices.items() if shape is None or shape.divides(divided(device)[0])}


def width_problems(spec: RunSpec, devices: Mapping[str, int]) -> dict[str, str]:
    """Why the lanes of a pool, counted by device, can never hold the run because of the number of their GPUs: sentences
    for the user by path. Whether there are enough lanes in all is not asked here."""
    wanted, single = spec.granted_lanes, sum(number for device, number in devices.items() if can_train(device))
    num_trainer = 1 if spec.pipeline.placement is Placement.AUTO else wanted.num_trainer
    if single == sum(devices.values()):
        return {}
    if num_trainer > single:
        there = f"{single} (lanes of one GPU of the pool {wanted.pool})"
        return {
            "lanes.num_trainer": f"`lanes.num_trainer` must be ≤ {there}, got {num_trainer}: lanes of several GPUs "
            "only generate; ask for fewer, choose another pool, or have a pool admin set `gpus_per_lane` of a node to 1"
        }
    shape, left = _shape(spec), usable(spec, devices)
    refused = sorted(divided(device)[0] for device in devices if device not in left)
    if shape is None or not refused or sum(left.values()) >= wanted.num_rollout + wanted.num_trainer:
        return {}
    problem = shape.problem(refused[0], spec.performance.context_parallel)
    return {} if problem is None else {"performance.context_parallel": problem}


def _shape(spec: RunSpec) -> DividedShape | None:
    """What the run would divide over the GPUs of a lane; `None` where it divides nothing, or that is not known of its
    model here: then the lanes find out."""
    if spec.kernels.context_parallel is not ContextParallel.ULYSSES:
        return None
    try:
        of_configs = divided_shape(spec, resolve_base_model(spec.base_model.path))
    except ModelNotUsable:
        return None
    if of_configs is not None or not has_profile(spec.base_model):
        return of_configs
    return Workload.of(spec).divided_shape
