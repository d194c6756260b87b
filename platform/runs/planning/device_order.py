"""The kinds of device that lanes have, best first for a run, by the planner's hardware profiles, and which of them its
lanes would get in that order if nothing is planned."""

from collections import Counter
from collections.abc import Iterable, Mapping

from fleet.allocation.device_mixes import gang_alike, taken_in_order
from fleet.device_profiles import profile_name
from runs.planning.usable_devices import trains_on, usable
from worker.contracts.device_names import divided
from worker.contracts.performance import ContextParallel
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory_advice import memory_warnings
from worker.scheduling.profiles.hardware import Accelerator
from worker.scheduling.profiles.known_devices import accelerator


def best_first(spec: RunSpec, devices: Iterable[str]) -> list[str]:
    """The fastest in training first; then those without a profile, by name; last those that the run is predicted not to
    fit. Of lanes of one device those of the most GPUs come first where the run spreads predictions over them, those of
    the fewest elsewhere."""
    return sorted(set(devices), key=lambda device: _rank(spec, device))


def likely_devices(spec: RunSpec, available: Mapping[str, int]) -> list[str]:
    """Devices of the lanes that generate or train that a run would get of `available` (lanes by device) if nothing is
    planned, sorted as plans count them; fewer where there are fewer."""
    found = _likely_roles(spec, available)
    return sorted((_all_there_are(spec, available) if found is None else found[0] + found[1]).elements())


def likely_cards(spec: RunSpec, available: Mapping[str, int]) -> tuple[list[Accelerator], list[Accelerator]]:
    """The profiles of the trainer lanes and of the rollout lanes that a run would get of `available`, as
    `likely_devices`; where there are too few, both may be any of them. Devices without a profile are left out."""
    trainers, rollouts = _likely_roles(spec, available) or (_all_there_are(spec, available),) * 2
    return _profiles(trainers), _profiles(rollouts)


def _likely_roles(spec: RunSpec, available: Mapping[str, int]) -> tuple[Counter[str], Counter[str]] | None:
    """Devices of the trainer and of the rollout lanes; `None` where there are too few."""
    available, wanted = usable(spec, available), spec.granted_lanes
    order = best_first(spec, available)
    return gang_alike(available, wanted.num_trainer, wanted.num_rollout, order, trains=trains_on(spec))


def _all_there_are(spec: RunSpec, available: Mapping[str, int]) -> Counter[str]:
    available, wanted = usable(spec, available), spec.granted_lanes
    return taken_in_order(available, wanted.num_trainer + wanted.num_rollout, best_first(spec, available))


def _profiles(devices: Iterable[str]) -> list[Accelerator]:
    return [accelerator(name) for device in devices if (name := profile_name(device)) is not None]


def _rank(spec: RunSpec, device: str) -> tuple[int, float, str, int]:
    name, (number, card) = profile_name(device), divided(device)
    width = -number if spec.kernels.context_parallel is ContextParallel.ULYSSES else number
    if name is None:
        return 1, 0.0, card, width
    profile = accelerator(name)
    is_too_small = bool(memory_warnings(spec, [profile]))
    return 2 if is_too_small else 0, -profile.peak_flops * profile.training_efficiency.value, card, width
