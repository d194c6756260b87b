"""Checks of room: memory of the lanes that the run would get, and disk for what it is going to write."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from fsspec.core import split_protocol

from fleet.device_profiles import profile_name
from fleet.selectors import free_devices, pool_devices, trainer_kind
from runs.planning.device_order import likely_cards, likely_devices
from runs.start_checks.check_rows import Check, CheckName, CheckState
from runs.start_checks.sizes import size_text
from worker.contracts.names import Placement
from worker.contracts.run_spec import RunSpec
from worker.contracts.stored_samples import NUM_HELD_OUT_SAMPLES
from worker.scheduling.planning.memory_advice import memory_warnings, tightest_lanes
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_models import has_profile, stand_in_profile

SAVED_BYTES = 12
"""Of a trained parameter in a checkpoint: fp32 weight and two fp32 moments. Gradients are not saved."""
SHADOW_BYTES = 4
"""Of a trained parameter for each fp32 copy beside it: an average, an older policy."""
NEARLY_FULL = 0.8
"""Of what is free: beyond it the estimate, which leaves out logs and adapters, no longer promises room."""


def memory_check(spec: RunSpec) -> Check:
    """What each lane is predicted to need against the tightest card that it would get: of those free now, where they
    suffice."""
    wanted = spec.lanes.num_rollout + spec.lanes.num_trainer
    available, which = free_devices(trainer_kind(spec.lanes.pool), spec.lanes.pool), "free now"
    devices = likely_devices(spec, available)
    if len(devices) < wanted:
        available, which = pool_devices(spec.lanes.pool), "of the pool"
        devices = likely_devices(spec, available)
    if not devices:
        return _memory(CheckState.UNKNOWN, f"The pool {spec.lanes.pool} has no lane in service to compare with.")
    names = {device: profile_name(device) for device in devices}
    if unknown := sorted(device or "unnamed" for device, name in names.items() if name is None):
        return _memory(CheckState.UNKNOWN, f"How much memory {unknown[0]} has is in no hardware profile.")
    if not has_profile(spec.base_model):
        stand_in = stand_in_profile(spec.base_model)
        text = f"What `{spec.base_model.path}` needs is in no model profile; the plan takes {stand_in} for it."
        return _memory(CheckState.UNKNOWN, text, "Watch the memory of its first batch.")
    trainers, rollouts = likely_cards(spec, available)
    if warnings := memory_warnings(spec, trainers, rollouts):
        return _memory(CheckState.WARNING, " ".join(warnings), "Change what the sentence names, or choose other cards.")
    needs = ", ".join(
        f"a {role.value.replace('both', 'colocated')} lane {size_text(memory.total)} of {size_text(card.memory_bytes)} "
        f"({card.name}{', on each GPU' if card.num_gpus > 1 else ''})"
        for role, (card, memory) in tightest_lanes(spec, trainers, rollouts).items()
    )
    said = f"Predicted: {needs}; cards {which}."
    if spec.pipeline.placement is Placement.AUTO:
        said += " The planner chooses among splits that fit."
    return _memory(CheckState.FINE, said)


def _memory(state: CheckState, text: str, remedy: str = "") -> Check:
    return Check(CheckName.MEMORY, state, text, remedy)


@dataclass(frozen=True, slots=True)
class _Written:
    """What a run writes below one URL, at most."""

    what: str
    url: str
    num_bytes: float


def disk_check(spec: RunSpec) -> Check:
    """Checkpoints and samples against what is free where they are written."""
    written = (
        _Written("checkpoints", settings.TANDEM_CHECKPOINTS, checkpoint_bytes(spec) * (spec.checkpoint.num_kept + 1)),
        _Written("samples", settings.TANDEM_ARTIFACTS, sample_bytes(spec)),
    )
    remote = [one for one in written if _folder(one.url) is None]
    needed: dict[int, float] = {}
    free: dict[int, int] = {}
    for one in written:
        if (folder := _folder(one.url)) is not None:
            device = folder.stat().st_dev
            needed[device] = needed.get(device, 0) + one.num_bytes
            free[device] = shutil.disk_usage(folder).free
    said = "At most " + " and ".join(f"{size_text(one.num_bytes)} of {one.what}" for one in written)
    remedy = "Keep fewer checkpoints (`checkpoint.num_kept`), evaluate less often, or make room."
    for device, number in needed.items():
        if number > NEARLY_FULL * free[device]:
            text = f"{said}; {size_text(free[device])} are free where they are written."
            return Check(CheckName.DISK, CheckState.WARNING, text, remedy, "checkpoint.num_kept")
    if remote:
        text = f"{said}; how much is free at {split_protocol(remote[0].url)[0]} cannot be seen from here."
        return Check(CheckName.DISK, CheckState.UNKNOWN, text, "Ask who runs that store.")
    guess = "" if has_profile(spec.base_model) else f", taking {stand_in_profile(spec.base_model)} for the model"
    return Check(CheckName.DISK, CheckState.FINE, f"{said}{guess}; {size_text(min(free.values()))} are free.")


def checkpoint_bytes(spec: RunSpec) -> float:
    """Predicted bytes of one checkpoint."""
    work = Workload.of(spec)
    return work.trained_parameters * (SAVED_BYTES + SHADOW_BYTES * work.copies.num_shadow_copies)


def sample_bytes(spec: RunSpec) -> float:
    """The most that the run's samples take: pictures that do not compress at all."""
    every = spec.evaluation.every_num_batches
    num_evaluations = 2 + (spec.num_batches // every if every else 0)
    num_per_batch = spec.stored_samples.num_per_batch
    most = max(NUM_HELD_OUT_SAMPLES, num_per_batch)
    held_out = min(most, spec.max_evaluated_samples)
    number = spec.num_batches * num_per_batch + num_evaluations * held_out
    return 3.0 * spec.sampling.height * spec.sampling.width * spec.sampling.num_frames * number


def _folder(url: str) -> Path | None:
    """The nearest folder that is there; None for a store of another machine."""
    protocol, path = split_protocol(url)
    if protocol not in (None, "file", "local"):
        return None
    return next(folder for folder in (Path(path), *Path(path).parents) if folder.exists())
