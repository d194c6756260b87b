"""Which lanes of a pool a run can work on, by the number of their GPUs.

Where a run spreads passes over the GPUs of a lane, their number must divide what they share, and to train more than to
generate: lanes of which it does not would refuse to load, so a run does not get them. Trainer lanes have equally many
GPUs.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache

from catalog.base_models import ModelNotUsable, resolve_base_model
from catalog.model_configs import divided_shape
from worker.contracts.context_parallel import DividedShape, training_problem
from worker.contracts.device_names import divided
from worker.contracts.names import Placement
from worker.contracts.performance import ContextParallel
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_models import has_profile


def usable(spec: RunSpec, devices: Mapping[str, int]) -> dict[str, int]:
    """Those of the lanes, counted by device, that would load the run's model as rollout lanes."""
    if not _has_wide(devices):
        return dict(devices)
    shape = _shape(spec)
    return {device: number for device, number in devices.items() if shape is None or shape.divides(divided(device)[0])}


def trains_on(spec: RunSpec) -> Callable[[str], bool]:
    """Whether a lane of a device can train the run, memory aside. The model's configs are read once, for the first lane
    of several GPUs."""
    shape = cache(lambda: _shape(spec))

    def trains(device: str) -> bool:
        width = divided(device)[0]
        if width == 1 or training_problem(spec, width) is not None:
            return width == 1
        return (found := shape()) is None or found.divides(width)

    return trains


def _has_wide(devices: Mapping[str, int]) -> bool:
    return any(divided(device)[0] > 1 for device in devices)


def width_problems(spec: RunSpec, devices: Mapping[str, int]) -> dict[str, str]:
    """Why the lanes of a pool, counted by device, can never hold the run because of the number of their GPUs: sentences
    for the user by path. Whether there are enough lanes in all is not asked here."""
    if not _has_wide(devices):
        return {}
    wanted, trains = spec.granted_lanes, trains_on(spec)
    num_trainer = 1 if spec.pipeline.placement is Placement.AUTO else wanted.num_trainer
    of_width = Counter[int]()
    for device, number in devices.items():
        of_width[divided(device)[0]] += number if trains(device) else 0
    if num_trainer > (most := max(of_width.values())):
        return {
            "lanes.num_trainer": f"`lanes.num_trainer` must be ≤ {most} (lanes of the pool {wanted.pool} that can "
            f"train this run together), got {num_trainer}: they have equally many GPUs, over which its passes can be "
            "spread (`performance.context_parallel`); ask for fewer, choose another pool, or have a pool admin set "
            "`gpus_per_lane` of a node to 1"
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
