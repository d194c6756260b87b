"""What work cost earlier runs, kept for the planner: by workload and by kind of device.

Invariant: costs are only ever used for the very workload they were measured on; a different picture size, model or
micro-batch is a different workload.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from uuid import UUID

from fleet.selectors import devices_of
from runs.models import MeasuredCosts
from worker.contracts.events import CostsEvent, WorkCost
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import MeasuredCostTable, parse_measured_costs
from worker.scheduling.planning.measured_costs import observed_sizes
from worker.scheduling.planning.workload import AlgorithmPasses, PolicyCopies

MIN_BATCHES = 3
"""The first batches warm up; costs learnt from fewer are not handed on."""
MAX_RUNS = 20
"""No more of the newest runs are looked through for the sizes they worked with."""
_SECTIONS = ("base_model", "sampling", "tuning", "deepspeed", "performance")


@dataclass(frozen=True, slots=True)
class History:
    """What runs of one workload on one kind of device have measured."""

    tables: tuple[MeasuredCostTable, ...] = ()
    """Newest first; each of another fragment size."""
    num_batches: int = 0
    """That the newest was learnt from."""


def record_costs(run_id: UUID, attempt: int, event: CostsEvent) -> None:
    """Keep the run's newest word on its costs."""
    MeasuredCosts.objects.update_or_create(
        run_id=run_id,
        defaults={
            "devices": kinds_of(devices_of(run_id, attempt)),
            "num_batches": event.batch,
            "costs": [cost.model_dump(mode="json") for cost in event.costs],
        },
    )


def measured_costs(spec: RunSpec, devices: Iterable[str]) -> History:
    """What was measured on this workload and these kinds of device, which may be nothing.

    A run works with one fragment size, which says nothing of others: the newest word on each size is told.
    """
    rows = MeasuredCosts.objects.filter(
        run__workload=workload_of(spec), devices=kinds_of(devices), num_batches__gte=MIN_BATCHES
    )
    newest = list(rows.order_by("-updated_at")[:MAX_RUNS])
    of_size: dict[tuple[int, ...], MeasuredCostTable] = {}
    for row in newest:
        table = _table(row)
        of_size.setdefault(observed_sizes([table]), table)
    return History(tuple(of_size.values()), newest[0].num_batches) if newest else History()


def _table(row: MeasuredCosts) -> MeasuredCostTable:
    costs = [WorkCost.model_validate(cost) for cost in row.costs]
    return parse_measured_costs(costs)


def workload_of(spec: RunSpec) -> str:
    """A digest of what the cost of one unit depends on: neither prompts nor placement nor how many lanes, fragments or
    batches there are."""
    document, algebra = spec.model_dump(mode="json"), spec.algebra
    parts = [document[section] for section in _SECTIONS]
    parts.append(document["lora"] if spec.tuning is Tuning.LORA else None)
    # Together they say how many units are in a micro-batch, which training is counted in, and what one of them takes.
    parts += [algebra.micro_batch_size, algebra.num_units_per_group, algebra.num_denoising_steps_per_micro_batch]
    parts += [astuple(spec.algorithm.needs), astuple(AlgorithmPasses.of(spec)), PolicyCopies.of(spec).publishes_two]
    parts += [sorted(json.dumps([reward["name"], reward["settings"]]) for reward in document["rewards"])]
    parts += [spec.lanes.rewards_on_gpus, spec.pipeline.deterministic]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def kinds_of(devices: Iterable[str]) -> str:
    return ",".join(sorted(set(devices)))
