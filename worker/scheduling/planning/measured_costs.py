"""Costs that earlier runs have measured, in place of the expected ones, once there was a run with the same workload.

    newest run's seconds at the sizes it worked with ──► the level
    several sizes in it, or in earlier runs          ──► the line through them
    one size only                                    ──► the profile's fixed share, at the end of its range that costs
                                                         most

A run generates fragments of one size, and that shows nothing about other sizes: if all of it were charged per unit,
small fragments would seem to be free. Invariants: at a measured size, a cost is what was measured; at any other it is
not below the truth, if the true fixed share lies within the profile's range. So a plan that changes the size is never
predicted to be faster than it is, and one that keeps it is predicted as it was measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worker.scheduling.core.costs import ConservativeCost, Cost, CostKind, MeasuredCostTable
from worker.scheduling.planning.cost_estimates import SHARED_FIELD, LaneCosts, PoolCosts, pool_costs
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator, RangeEnd

_ANY_SHARE = (0.0, 1.0)
"""The range of the fixed share of work without a profile: a smaller call may cost as much as the measured one, and a
larger one may cost more in proportion to its size."""


@dataclass(frozen=True, slots=True)
class _PooledMeasurement:
    """The measurements of one kind of work, averaged over the lanes of a run."""

    size: int
    """A measured size, in the kind's units."""
    seconds: float
    """Seconds of one call of that size."""
    line: Cost | None
    """Seconds by size, where several sizes determine them."""


def costs_from_history(
    history: Sequence[MeasuredCostTable],
    work: Workload,
    devices: Sequence[Accelerator],
    *,
    num_reward: int,
    has_profile: bool = True,
) -> PoolCosts:
    """Costs of a pool from what runs of this workload have measured; kinds that never occurred (a lend, say) stay as
    expected.

    The measured lanes may have been divided differently between the roles, so their mean counts for each kind, and the
    pool's lanes keep the proportions that are expected of them.

    Args:
        history: the measured costs of each run, newest first.
        has_profile: whether model and devices have profiles of their own, whose fixed shares can be used.
    """
    ends: tuple[RangeEnd | None, ...] = (None, "low", "high")
    pools = [pool_costs(work, devices, num_reward=num_reward, fixed_share=end) for end in ends]
    expected = pools[0]
    known = {kind: _pooled([table for table in history if _has(table, kind)], kind) for kind in CostKind}
    generating = [[lane.generate for lane in pool.lanes] for pool in pools]
    generate = _conservative(known[CostKind.GENERATE], *generating, has_profile=has_profile)
    accumulate = _accumulate(known[CostKind.ACCUMULATE], [lane.accumulate for lane in expected.lanes])
    (score,) = _conservative(known[CostKind.SCORE], *([pool.score] for pool in pools), has_profile=has_profile)
    lanes = tuple(
        replace(_with_fixed_costs(known, lane), generate=generate[index], accumulate=accumulate[index])
        for index, lane in enumerate(expected.lanes)
    )
    return replace(expected, lanes=lanes, score=score)


def _with_fixed_costs(known: Mapping[CostKind, _PooledMeasurement | None], lane: LaneCosts) -> LaneCosts:
    """The lane with the measured seconds of work that has no units. They hold for the number of ranks that the run had,
    so no part of them is divided again."""
    changes: dict[str, float] = {}
    pulled = known[CostKind.PULL]
    if pulled is not None:
        changes["pull"] = pulled.seconds
    for kind, shared_field in SHARED_FIELD.items():
        measurement = known[kind]
        if measurement is not None:
            changes |= {kind.value: measurement.seconds, shared_field: 0.0}
    return replace(lane, **changes)  # type: ignore[arg-type]


def observed_sizes(history: Sequence[MeasuredCostTable]) -> tuple[int, ...]:
    """The fragment sizes that runs have generated with, ascending."""
    tables = [[known for (_, kind), known in table.items() if kind is CostKind.GENERATE] for table in history]
    return tuple(sorted({size for known in tables for one in known for size in (one.fewest_units, one.most_units)}))


def _has(table: MeasuredCostTable, kind: CostKind) -> bool:
    return any(other is kind for _, other in table)


def _pooled(tables: Sequence[MeasuredCostTable], kind: CostKind) -> _PooledMeasurement | None:
    """The newest table's seconds, with the line that it or the older ones determine."""
    if not tables:
        return None
    newest, *older = (_mean(table, kind) for table in tables)
    size, seconds = newest.size, newest.seconds
    if newest.line is not None:
        return newest
    line = next((other.line for other in older if other.line is not None), None)
    if line is not None:
        return _PooledMeasurement(size, seconds, Cost.from_measurement(seconds, size, line.fixed_share(size)))
    # Of each other size the newest measurement counts; the line goes through the newest measurement of all.
    points = {other.size: other.seconds for other in reversed(older) if other.size != size}
    if not points:
        return newest
    slope = sum((other - size) * (taken - seconds) for other, taken in points.items())
    slope /= sum((other - size) ** 2 for other in points)
    # A line with a negative part means that the machine has changed between the runs by more than the sizes differ.
    is_possible = 0 <= slope * size <= seconds
    return _PooledMeasurement(size, seconds, Cost(seconds - slope * size, slope) if is_possible else None)


def _mean(table: MeasuredCostTable, kind: CostKind) -> _PooledMeasurement:
    """The mean over the table's lanes."""
    found = [measured for (_, other), measured in table.items() if other is kind]
    size = round(sum(measured.most_units for measured in found) / len(found))
    costs = [measured.cost for measured in found]
    line = Cost(sum(cost.per_call for cost in costs) / len(costs), sum(cost.per_unit for cost in costs) / len(costs))
    has_line = any(measured.determines_line for measured in found)
    return _PooledMeasurement(size, line.seconds(size), line if has_line else None)


def _conservative(
    measurement: _PooledMeasurement | None,
    expected: Sequence[Cost],
    low: Sequence[Cost],
    high: Sequence[Cost],
    *,
    has_profile: bool,
) -> list[Cost]:
    """The cost of each lane, never too low at a size that was not measured.

    Args:
        expected: the expected cost of each lane.
        low: the same with the smallest fixed share that the profiles allow.
        high: the same with the largest fixed share that the profiles allow.
    """
    if measurement is None:
        return list(expected)
    size = measurement.size
    costs = []
    for proportion, lowest, highest in zip(_proportions(measurement, expected), low, high, strict=True):
        shares = (lowest.fixed_share(size), highest.fixed_share(size)) if has_profile else _ANY_SHARE
        line = measurement.line or ConservativeCost.from_share_range(measurement.seconds, size, shares)
        costs.append(line.scaled(proportion))
    return costs


def _accumulate(measurement: _PooledMeasurement | None, expected: Sequence[Cost]) -> list[Cost]:
    """The cost of each lane. No plan chooses how many micro-batches are ready at once, so no upper estimate is needed:
    a single measured size is divided as expected."""
    if measurement is None:
        return list(expected)
    seconds, size = measurement.seconds, measurement.size
    costs = []
    for proportion, cost in zip(_proportions(measurement, expected), expected, strict=True):
        line = measurement.line or Cost.from_measurement(seconds, size, cost.fixed_share(size))
        costs.append(line.scaled(proportion))
    return costs


def _proportions(measurement: _PooledMeasurement, expected: Sequence[Cost]) -> list[float]:
    """The expected seconds of each lane at the measured size, divided by their mean."""
    mean = sum(cost.seconds(measurement.size) for cost in expected) / len(expected)
    return [cost.seconds(measurement.size) / mean if mean > 0 else 1.0 for cost in expected]
