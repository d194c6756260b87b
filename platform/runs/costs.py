"""What work cost earlier runs, kept for the planner: by workload and by kind of device.

Invariant: costs are only ever used for the very workload they were measured on; a different picture size, model or
micro-batch is a different workload.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from fleet.selectors import devices_of
from runs.models import LearnedCosts, Run
from worker.contracts.events import CostsEvent
from worker.contracts.run_spec import RunSpec
from worker.pipeline.costs import Cost, CostKind, CostTable

MIN_BATCHES = 3
"""The first batches warm up; costs learnt from fewer are not handed on."""
_SECTIONS = ("base_model", "sampling", "lora", "deepspeed")


@dataclass(frozen=True, slots=True)
class Measured:
    table: CostTable
    num_batches: int


def record_costs(run_id: UUID, attempt: int, event: CostsEvent) -> None:
    """Keep the run's newest word on its costs."""
    LearnedCosts.objects.update_or_create(
        run_id=run_id,
        defaults={
            "workload": workload_of(Run.objects.get(pk=run_id).run_spec),
            "devices": kinds_of(devices_of(run_id, attempt)),
            "num_batches": event.batch,
            "costs": [cost.model_dump(mode="json") for cost in event.costs],
        },
    )


def measured_costs(spec: RunSpec, devices: Iterable[str]) -> Measured | None:
    """The newest costs measured on this workload and these kinds of device, if there are any."""
    rows = LearnedCosts.objects.filter(
        workload=workload_of(spec), devices=kinds_of(devices), num_batches__gte=MIN_BATCHES
    )
    newest = rows.order_by("-updated_at").first()
    if newest is None:
        return None
    table = {
        (cost["lane"], CostKind(cost["kind"])): Cost(cost["per_call"], cost["per_unit"])
        for cost in newest.costs
        if cost["kind"] in set(CostKind)
    }
    return Measured(table, newest.num_batches)


def workload_of(spec: RunSpec) -> str:
    """A digest of what the cost of one unit depends on: neither prompts nor lanes nor switches, nor how many units a
    fragment or a batch has."""
    document = spec.model_dump(mode="json")
    parts = [document[section] for section in _SECTIONS]
    # Together they say how many pairs are in a micro-batch, the unit of training.
    parts += [spec.batch.group_size, spec.batch.micro_batch_size]
    parts += [sorted(reward["name"] for reward in document["rewards"]), spec.algorithm.kl_coefficient > 0]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def kinds_of(devices: Iterable[str]) -> str:
    return ",".join(sorted(set(devices)))
