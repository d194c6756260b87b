"""Remembers which GPUs are slower than their peers, as runs measure them: a warning, which the GPU's health shows.

    a run's measured costs ─► `peer_speeds` ─► columns of the GPU ─► its health (`gpu_health`)

Invariant: it is forgotten when a later measurement finds the GPU as fast as its peers, or when it passes a test.
"""

from uuid import UUID

from django.utils import timezone

from fleet.health.gpu_health import FIELDS, follow
from fleet.health.peer_speeds import Comparison, compare_lanes
from fleet.models import Gpu, Lane, LaneKind
from fleet.pools.pool_changes import publish_holders
from worker.contracts.node_reports import GpuFaults
from worker.scheduling.core.costs import MeasuredCostTable


def note_speeds(run_id: UUID, attempt: int, measured: MeasuredCostTable) -> list[str]:
    """Write how the GPUs of the attempt's lanes compare with their peers; returns the names of those that are slow."""
    lanes = Lane.objects.filter(run_id=run_id, attempt=attempt, kind=LaneKind.GPU).prefetch_related("gpus")
    by_name = {lane.name_in_run: lane for lane in lanes}
    compared = compare_lanes(measured, {name: lane.device_kind for name, lane in by_name.items()})
    slow = []
    for name, comparison in compared.items():
        # Which GPU of several holds the others up is not measured: the first stands for all.
        for gpu in list(by_name[name].gpus.all())[:1]:
            _note(gpu, comparison)
            slow += [gpu.name] if comparison.is_slow else []
    return slow


def _note(gpu: Gpu, comparison: Comparison) -> None:
    if not comparison.is_slow and gpu.slow_factor is None:
        return
    row = Gpu.objects.select_for_update().get(pk=gpu.pk)
    row.slow_factor = comparison.factor if comparison.is_slow else None
    row.slow_at_work = comparison.work.value if comparison.is_slow else ""
    before = row.health_since
    follow(row, GpuFaults.model_validate(row.faults), timezone.now())
    row.save(update_fields=["slow_factor", "slow_at_work", *FIELDS])
    if row.health_since != before:
        publish_holders([row.node_id])
