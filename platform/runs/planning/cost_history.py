"""Costs of work that earlier runs measured, stored for the planner by workload and by kind of device.

Invariant: costs are used only for the workload that they were measured on; another picture size, model or micro-batch
is another workload.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from uuid import UUID

from fleet.device_profiles import profiles_of
from fleet.selectors import devices_by_lane, devices_of
from runs.models import MeasuredCosts
from worker.contracts.events import CostsEvent, WorkCost
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import CostKind, MeasuredCostTable, parse_measured_costs
from worker.scheduling.planning.algorithm_passes import AlgorithmPasses
from worker.scheduling.planning.device_costs import by_device
from worker.scheduling.planning.measured_work import observed_sizes
from worker.scheduling.planning.policy_copies import PolicyCopies
from worker.scheduling.profiles.hardware import CPU_CORE
from worker.scheduling.profiles.known_devices import find_accelerator

MIN_BATCHES = 3
"""Fewest batches that costs must be measured in: the first batches include warm-up."""
MAX_RUNS = 20
"""How many of the newest runs are searched for fragment sizes: enough for every size in use."""
_DEVICE_WORK = (CostKind.GENERATE, CostKind.ACCUMULATE)
"""Work whose seconds depend on the device above all."""
_SECTIONS = ("base_model", "sampling", "tuning", "deepspeed", "performance")


@dataclass(frozen=True, slots=True)
class History:
    """Costs that runs of one workload have measured."""

    tables: tuple[MeasuredCostTable, ...] = ()
    """Costs by device's profile and kind of work, one mapping for each fragment size, the newest first."""
    num_batches: int = 0
    """Number of batches in which the newest costs were measured."""
    is_of_others: bool = False
    """Whether they were measured on other kinds of device, so that they only tell how far estimates are off."""


def record_costs(run_id: UUID, attempt: int, event: CostsEvent) -> None:
    """Store the costs that the run reported last."""
    kinds = set(devices_of(run_id, attempt))
    MeasuredCosts.objects.update_or_create(
        run_id=run_id,
        defaults={
            "devices": kinds_of(kinds),
            "lane_devices": {
                lane: device for lane, device in devices_by_lane(run_id, attempt).items() if device in kinds
            },
            "num_batches": event.batch,
            "costs": [cost.model_dump(mode="json") for cost in event.costs],
        },
    )


def measured_costs(spec: RunSpec, devices: Iterable[str]) -> History:
    """Costs measured on this workload and these kinds of device; where there are none, on other kinds of GPU; possibly
    none.

    A run uses one fragment size, which does not determine the costs of others, so the newest measurement of each size
    is returned.
    """
    kinds = set(devices)
    profiles = profiles_of(kinds)
    rows = MeasuredCosts.objects.filter(run__workload=workload_of(spec), num_batches__gte=MIN_BATCHES)
    rows = rows.order_by("-updated_at")
    found = _history((row, _table(row, profiles)) for row in rows.filter(devices=kinds_of(kinds))[:MAX_RUNS])
    if found.tables or not profiles or CPU_CORE.name in profiles.values():
        return found
    others = ((row, _of_devices(_table(row, profiles_of(row.lane_devices.values())))) for row in rows[:MAX_RUNS])
    found = _history((row, table) for row, table in others if table)
    return replace(found, is_of_others=bool(found.tables))


def _history(tables: Iterable[tuple[MeasuredCosts, MeasuredCostTable]]) -> History:
    """The newest table of each size, of those given with the newest first."""
    of_size, num_batches = dict[tuple[str, tuple[int, ...]], MeasuredCostTable](), list[int]()
    for row, table in tables:
        of_size.setdefault((row.devices, observed_sizes([table])), table)
        num_batches.append(row.num_batches)
    return History(tuple(of_size.values()), num_batches[0]) if num_batches else History()


def _table(row: MeasuredCosts, profiles: Mapping[str, str]) -> MeasuredCostTable:
    """The row's costs by profile of the device; `profiles`: by kind of device."""
    costs = parse_measured_costs(WorkCost.model_validate(cost) for cost in row.costs)
    devices: dict[str, str] = row.lane_devices
    return by_device(costs, {lane: profiles[device] for lane, device in devices.items() if device in profiles})


def _of_devices(table: MeasuredCostTable) -> MeasuredCostTable:
    """What tells something of GPUs that are not in the table: the work of those that are, and with it scoring."""
    found = {
        (name, kind): known
        for (name, kind), known in table.items()
        if kind in _DEVICE_WORK and name != CPU_CORE.name and find_accelerator(name) is not None
    }
    scoring = {key: known for key, known in table.items() if key[1] is CostKind.SCORE}
    return found | scoring if found else {}


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
