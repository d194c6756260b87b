"""What runs have measured, in place of what was expected: the planner's costs once there was a run alike.

    newest run's seconds at the sizes it worked with ──► the level
    several sizes in it, or in earlier runs          ──► the line through them
    one size only                                    ──► split by the profile's fixed share, as dear as its range allows

A run generates fragments of one size, and that tells nothing of other sizes: charging all of it to the units would make
small fragments look free. Invariants: at a size that was observed, a cost is what was measured; at any other it is no
less than the truth, as long as the true fixed share lies within the profile's range. So a plan that goes to another
size is never predicted faster than it is, and one that stays is predicted as it was seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worker.scheduling.core.costs import ConservativeCost, Cost, CostKind, MeasuredCostTable
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts, pool_costs
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator, RangeEnd

_ANY_SHARE = (0.0, 1.0)
"""Of work that nobody has described: smaller calls may cost as much as the one seen, larger ones all that much more."""


_SHARED = {
    CostKind.COMMIT: "shared_commit",
    CostKind.SNAPSHOT: "shared_snapshot",
    CostKind.PUBLISH: "shared_publish",
    CostKind.LEND: "shared_switch",
    CostKind.RECLAIM: "shared_switch",
}
"""What `LaneCosts` calls the shared part of work that it calls by the kind's own name."""


@dataclass(frozen=True, slots=True)
class _PooledMeasurement:
    """One kind of work, over the lanes of a run."""

    size: int
    seconds: float
    """Of one call of that size."""
    line: Cost | None
    """Where the sizes seen tell it."""


def costs_from_history(
    history: Sequence[MeasuredCostTable],
    work: Workload,
    devices: Sequence[Accelerator],
    *,
    num_reward: int,
    has_profile: bool = True,
) -> PoolCosts:
    """Costs for a pool from what runs of this workload have measured, newest first; kinds that never occurred (a lend,
    say) stay as expected.

    The measured lanes may have stood in another split, so each kind's mean over them counts, and lanes keep the
    proportions expected of them.

    Args:
        has_profile: whether model and devices have a profile of their own, whose fixed shares can be gone by.
    """
    edges: tuple[RangeEnd | None, ...] = (None, "low", "high")
    pools = [pool_costs(work, devices, num_reward=num_reward, fixed_share=edge) for edge in edges]
    expected = pools[0]
    known = {kind: _known([table for table in history if _has(table, kind)], kind) for kind in CostKind}
    generating = [[lane.generate for lane in pool.lanes] for pool in pools]
    generate = _sized(known[CostKind.GENERATE], *generating, has_profile=has_profile)
    accumulate = _training(known[CostKind.ACCUMULATE], [lane.accumulate for lane in expected.lanes])
    (score,) = _sized(known[CostKind.SCORE], *([pool.score] for pool in pools), has_profile=has_profile)
    lanes = tuple(
        replace(_with_fixed(known, lane), generate=generate[place], accumulate=accumulate[place])
        for place, lane in enumerate(expected.lanes)
    )
    return replace(expected, lanes=lanes, score=score)


def _with_fixed(known: Mapping[CostKind, _PooledMeasurement | None], lane: LaneCosts) -> LaneCosts:
    """Work that has no units, as it was seen: by the number of ranks that the run had, so nothing of it is shared."""
    changes: dict[str, float] = {}
    pulled = known[CostKind.PULL]
    if pulled is not None:
        changes["pull"] = pulled.seconds
    for kind, shared in _SHARED.items():
        seen = known[kind]
        if seen is not None:
            changes |= {kind.value: seen.seconds, shared: 0.0}
    return replace(lane, **changes)  # type: ignore[arg-type]


def observed_sizes(history: Sequence[MeasuredCostTable]) -> tuple[int, ...]:
    """Fragment sizes that runs have generated with, ascending."""
    tables = [[known for (_, kind), known in table.items() if kind is CostKind.GENERATE] for table in history]
    return tuple(sorted({size for known in tables for one in known for size in (one.fewest_units, one.most_units)}))


def _has(table: MeasuredCostTable, kind: CostKind) -> bool:
    return any(other is kind for _, other in table)


def _known(tables: Sequence[MeasuredCostTable], kind: CostKind) -> _PooledMeasurement | None:
    """The newest table's level, and the shape that it and the older ones tell."""
    if not tables:
        return None
    newest, *older = (_mean_line(table, kind) for table in tables)
    size, seconds = newest.size, newest.seconds
    if newest.line is not None:
        return newest
    told = next((other.line for other in older if other.line is not None), None)
    if told is not None:
        return _PooledMeasurement(size, seconds, Cost.split(seconds, size, told.fixed_share(size)))
    # The newest word on each other size; the line goes through the newest point of all.
    points = {other.size: other.seconds for other in reversed(older) if other.size != size}
    if not points:
        return newest
    slope = sum((other - size) * (taken - seconds) for other, taken in points.items())
    slope /= sum((other - size) ** 2 for other in points)
    is_possible = 0 <= slope * size <= seconds
    # Otherwise the machine has changed between the runs, more than the sizes differ: they tell no shape.
    return _PooledMeasurement(size, seconds, Cost(seconds - slope * size, slope) if is_possible else None)


def _mean_line(table: MeasuredCostTable, kind: CostKind) -> _PooledMeasurement:
    """Over the table's lanes."""
    found = [measured for (_, other), measured in table.items() if other is kind]
    size = round(sum(measured.most_units for measured in found) / len(found))
    costs = [measured.cost for measured in found]
    line = Cost(sum(cost.per_call for cost in costs) / len(costs), sum(cost.per_unit for cost in costs) / len(costs))
    return _PooledMeasurement(
        size, line.seconds(size), line if any(measured.determines_line for measured in found) else None
    )


def _sized(
    seen: _PooledMeasurement | None,
    expected: Sequence[Cost],
    low: Sequence[Cost],
    high: Sequence[Cost],
    *,
    has_profile: bool,
) -> list[Cost]:
    """Of each lane, from what is expected of it with the fixed share as it is thought to be, and at both ends."""
    if seen is None:
        return list(expected)
    costs = []
    for proportion, least, most in zip(_proportions(seen, expected), low, high, strict=True):
        shares = (least.fixed_share(seen.size), most.fixed_share(seen.size)) if has_profile else _ANY_SHARE
        line = seen.line or ConservativeCost.within(seen.seconds, seen.size, shares)
        costs.append(line.scaled(proportion))
    return costs


def _training(seen: _PooledMeasurement | None, expected: Sequence[Cost]) -> list[Cost]:
    """No plan chooses how many micro-batches are ready at once, so there is nothing to be cautious about: where one
    number was seen, it is split as expected."""
    if seen is None:
        return list(expected)
    costs = []
    for proportion, cost in zip(_proportions(seen, expected), expected, strict=True):
        line = seen.line or Cost.split(seen.seconds, seen.size, cost.fixed_share(seen.size))
        costs.append(line.scaled(proportion))
    return costs


def _proportions(seen: _PooledMeasurement, expected: Sequence[Cost]) -> list[float]:
    """Of each lane to the mean of all, as expected at the size seen."""
    mean = sum(cost.seconds(seen.size) for cost in expected) / len(expected)
    return [cost.seconds(seen.size) / mean if mean > 0 else 1.0 for cost in expected]
