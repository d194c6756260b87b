"""The kinds of device that lanes have, best first for a run, by the planner's hardware profiles."""

from collections.abc import Iterable, Mapping

from fleet.allocation.device_mixes import gang_alike, taken_in_order
from fleet.device_profiles import profile_name
from runs.planning.usable_devices import trains_on, usable
from worker.contracts.device_names import divided
from worker.contracts.performance import ContextParallel
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory_advice import memory_warnings
from worker.scheduling.profiles.known_devices import accelerator


def best_first(spec: RunSpec, devices: Iterable[str]) -> list[str]:
    """The fastest in training first; then those without a profile, by name; last those that the run is predicted not to
    fit. Of lanes of one device those of the most GPUs come first where the run spreads predictions over them, those of
    the fewest elsewhere."""
    return sorted(set(devices), key=lambda device: _rank(spec, device))


def likely_devices(spec: RunSpec, available: Mapping[str, int]) -> list[str]:
    """Devices of the lanes that generate or train that a run would get of `available` (lanes by device) if nothing is
    planned, sorted as plans count them; fewer where there are fewer."""
    available = usable(spec, available)
    order, wanted = best_first(spec, available), spec.lanes
    found = gang_alike(available, wanted.num_trainer, wanted.num_rollout, order, trains=trains_on(spec))
    all_there_are = taken_in_order(available, wanted.num_trainer + wanted.num_rollout, order)
    return sorted((all_there_are if found is None else found[0] + found[1]).elements())


def _rank(spec: RunSpec, device: str) -> tuple[int, float, str, int]:
    name, (number, card) = profile_name(device), divided(device)
    width = -number if spec.kernels.context_parallel is ContextParallel.ULYSSES else number
    if name is None:
        return 1, 0.0, card, width
    profile = accelerator(name)
    is_too_small = bool(memory_warnings(spec, [profile]))
    return 2 if is_too_small else 0, -profile.peak_flops * profile.training_efficiency.value, card, width
