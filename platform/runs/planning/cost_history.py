"""Costs of work that earlier runs measured, stored for the planner by workload and by kind of device.

Invariant: costs are used only for the workload that they were measured on; another picture size, model or micro-batch
is another workload.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from uuid import UUID

from fleet.selectors import devices_of
from runs.models import MeasuredCosts
from worker.contracts.events import CostsEvent, WorkCost
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import MeasuredCostTable, parse_measured_costs
from worker.scheduling.planning.algorithm_passes import AlgorithmPasses
from worker.scheduling.planning.measured_costs import observed_sizes
from worker.scheduling.planning.policy_copies import PolicyCopies

MIN_BATCHES = 3
"""Fewest batches that costs must be measured in: the first batches include warm-up."""
MAX_RUNS = 20
"""How many of the newest runs are searched for fragment sizes: enough for every size in use."""
_SECTIONS = ("base_model", "sampling", "tuning", "deepspeed", "performance")


@dataclass(frozen=True, slots=True)
class History:
    """Costs that runs of one workload on one kind of device have measured."""

    tables: tuple[MeasuredCostTable, ...] = ()
    """Costs by lane and kind, one mapping for each fragment size, the newest first."""
    num_batches: int = 0
    """Number of batches in which the newest costs were measured."""


def record_costs(run_id: UUID, attempt: int, event: CostsEvent) -> None:
    """Store the costs that the run reported last."""
    MeasuredCosts.objects.update_or_create(
        run_id=run_id,
        defaults={
            "devices": kinds_of(devices_of(run_id, attempt)),
            "num_batches": event.batch,
            "costs": [cost.model_dump(mode="json") for cost in event.costs],
        },
    )


def measured_costs(spec: RunSpec, devices: Iterable[str]) -> History:
    """Costs measured on this workload and these kinds of device, possibly none.

    A run uses one fragment size, which does not determine the costs of others, so the newest measurement of each size
    is returned.
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
    """A digest of all settings that the cost of one unit depends on. Prompts, placement and the numbers of lanes,
    fragments and batches are not among them."""
    document, algebra = spec.model_dump(mode="json"), spec.algebra
    parts = [document[section] for section in _SECTIONS]
    parts.append(document["lora"] if spec.tuning is Tuning.LORA else None)
    # Together they determine the units of a micro-batch, in which training is counted, and the cost of one.
    parts += [algebra.micro_batch_size, algebra.num_units_per_group, algebra.num_denoising_steps_per_micro_batch]
    passes = AlgorithmPasses.of(spec)
    if not spec.pipeline.max_staleness:
        passes = replace(passes, num_proximal=0.0)
    parts += [astuple(spec.algorithm.needs), astuple(passes), PolicyCopies.of(spec).publishes_two]
    parts += [sorted(json.dumps([reward["name"], reward["settings"]]) for reward in document["rewards"])]
    parts += [spec.lanes.rewards_on, spec.pipeline.deterministic]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def kinds_of(devices: Iterable[str]) -> str:
    return ",".join(sorted(set(devices)))
