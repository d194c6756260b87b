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

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from worker.scheduling.core.costs import ConservativeCost, Cost, CostKind, MeasuredCost, MeasuredCostTable
from worker.scheduling.planning.cost_estimates import SHARED_FIELD, LaneCosts, PoolCosts, lane_costs, pool_costs
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator, RangeEnd
from worker.scheduling.profiles.known_devices import find_accelerator

_ANY_SHARE = (0.0, 1.0)
"""The range of the fixed share of work without a profile: a smaller call may cost as much as the measured one, and a
larger one may cost more in proportion to its size."""


@dataclass(frozen=True, slots=True)
class _PooledMeasurement:
    """The measurements of one kind of work, of one kind of device or averaged over the lanes of a run."""

    size: int
    """A measured size, in the kind's units."""
    seconds: float
    """Seconds of one call of that size."""
    line: Cost | None
    """Seconds by size, where several sizes determine them."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What runs have measured of one kind of work."""

    of_device: Mapping[str, _PooledMeasurement]
    """By name of a device."""
    of_others: _PooledMeasurement | None
    """Of lanes whose device is not known, and of the gang."""

    @classmethod
    def of(cls, history: Sequence[MeasuredCostTable], kind: CostKind, devices: Collection[str] = ()) -> Self:
        """From the tables, the newest first. `devices`: the names in them that are those of devices, not of lanes."""
        found: dict[str, list[list[MeasuredCost]]] = {}
        for table in history:
            of_table: dict[str, list[MeasuredCost]] = {}
            for (lane, other), known in table.items():
                if other is kind:
                    of_table.setdefault(lane if lane in devices else "", []).append(known)
            for name, costs in of_table.items():
                found.setdefault(name, []).append(costs)
        others = found.pop("", None)
        return cls({name: _pooled(costs) for name, costs in found.items()}, _pooled(others) if others else None)

    def on(self, device: str) -> _PooledMeasurement | None:
        """What counts for a lane with this device where no estimate tells devices apart: its own measurement, else that
        of others."""
        return self.of_device.get(device) or self.of_others or next(iter(self.of_device.values()), None)


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

    What was measured under a device's name (`by_device`) holds for that device. Where a kind of work was done on some
    devices only, the others are expected to be off by as much. Of lanes without a device the mean counts, and the
    pool's lanes keep the proportions that are expected of them.

    Args:
        history: the measured costs of each run, newest first, by device or by lane.
        has_profile: whether model and devices have profiles of their own, whose fixed shares can be used.
    """
    ends: tuple[RangeEnd | None, ...] = (None, "low", "high")
    pools = [pool_costs(work, devices, num_reward=num_reward, fixed_share=end) for end in ends]
    expected, names, measured = pools[0], [device.name for device in devices], _devices_of(history)
    known: dict[CostKind, _Known] = {kind: _Known.of(history, kind, measured) for kind in CostKind}
    of_device = {name: lane_costs(work, device) for name, device in measured.items()}
    generating = [[lane.generate for lane in pool.lanes] for pool in pools]
    usual = {name: costs.generate for name, costs in of_device.items()}
    generate = _conservative(
        _levels(known[CostKind.GENERATE], names, generating[0], usual), *generating, has_profile=has_profile
    )
    training = [lane.accumulate for lane in expected.lanes]
    usual = {name: costs.accumulate for name, costs in of_device.items()}
    accumulate = _accumulate(_levels(known[CostKind.ACCUMULATE], names, training, usual), training)
    scoring = _levels(_Known.of(history, CostKind.SCORE), [""], [expected.score], {})
    (score,) = _conservative(scoring, *([pool.score] for pool in pools), has_profile=has_profile)
    lanes = tuple(
        replace(_with_fixed_costs(known, names[index], lane), generate=generate[index], accumulate=accumulate[index])
        for index, lane in enumerate(expected.lanes)
    )
    return replace(expected, lanes=lanes, score=score)


def _devices_of(history: Sequence[MeasuredCostTable]) -> dict[str, Accelerator]:
    """The devices that tables name in place of lanes, by name."""
    found = {name: find_accelerator(name) for name in {name for table in history for name, _ in table}}
    return {name: device for name, device in found.items() if device is not None}


def _with_fixed_costs(known: Mapping[CostKind, _Known], device: str, lane: LaneCosts) -> LaneCosts:
    """The lane with the measured seconds of work that has no units. They hold for the number of ranks that the run had,
    so no part of them is divided again."""
    changes: dict[str, float] = {}
    pulled = known[CostKind.PULL].on(device)
    if pulled is not None:
        changes["pull"] = pulled.seconds
    for kind, shared_field in SHARED_FIELD.items():
        measurement = known[kind].on(device)
        if measurement is not None:
            changes |= {kind.value: measurement.seconds, shared_field: 0.0}
    return replace(lane, **changes)  # type: ignore[arg-type]


def observed_sizes(history: Sequence[MeasuredCostTable]) -> tuple[int, ...]:
    """The fragment sizes that runs have generated with, ascending."""
    tables = [[known for (_, kind), known in table.items() if kind is CostKind.GENERATE] for table in history]
    return tuple(sorted({size for known in tables for one in known for size in (one.fewest_units, one.most_units)}))


def _pooled(tables: Sequence[Sequence[MeasuredCost]]) -> _PooledMeasurement:
    """The newest table's seconds, with the line that it or the older ones determine. `tables`: each with the costs of
    its lanes, newest first."""
    newest, *older = map(_mean, tables)
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


def _mean(found: Sequence[MeasuredCost]) -> _PooledMeasurement:
    """The mean over lanes."""
    size = round(sum(measured.most_units for measured in found) / len(found))
    costs = [measured.cost for measured in found]
    line = Cost(sum(cost.per_call for cost in costs) / len(costs), sum(cost.per_unit for cost in costs) / len(costs))
    has_line = any(measured.determines_line for measured in found)
    return _PooledMeasurement(size, line.seconds(size), line if has_line else None)


_Level = tuple[_PooledMeasurement, float] | None
"""A measurement and the factor by which a lane's seconds differ from it; `None` where nothing was measured."""


def _levels(
    known: _Known, devices: Sequence[str], expected: Sequence[Cost], of_device: Mapping[str, Cost]
) -> list[_Level]:
    """[lane]: what its seconds follow from.

    Args:
        devices: [lane], the name of its device.
        expected: [lane].
        of_device: the expected cost of each device that was measured.
    """
    if known.of_device:
        return [
            (known.of_device[device], 1.0) if device in known.of_device else _inferred(known, cost, of_device)
            for device, cost in zip(devices, expected, strict=True)
        ]
    measurement = known.of_others
    if measurement is None:
        return [None] * len(devices)
    seconds = [cost.seconds(measurement.size) for cost in expected]
    mean = sum(seconds) / len(seconds)
    return [(measurement, each / mean if mean > 0 else 1.0) for each in seconds]


def _inferred(known: _Known, expected: Cost, of_device: Mapping[str, Cost]) -> _Level:
    """That of a lane whose device has not done such work: its estimate is off by as much as those of the devices that
    have, on average."""
    ratios, size = [], 1
    for name, measured in sorted(known.of_device.items()):
        size = measured.size
        usual = of_device[name].seconds(size)
        if usual > 0:
            ratios.append(measured.seconds / usual)
    if not ratios:
        return None
    return _PooledMeasurement(size, expected.seconds(size) * statistics.mean(ratios), None), 1.0


def _conservative(
    levels: Sequence[_Level], expected: Sequence[Cost], low: Sequence[Cost], high: Sequence[Cost], *, has_profile: bool
) -> list[Cost]:
    """The cost of each lane, never too low at a size that was not measured.

    Args:
        expected: the expected cost of each lane.
        low: the same with the smallest fixed share that the profiles allow.
        high: the same with the largest fixed share that the profiles allow.
    """
    costs = []
    for level, usual, lowest, highest in zip(levels, expected, low, high, strict=True):
        if level is None:
            costs.append(usual)
            continue
        measurement, factor = level
        size = measurement.size
        shares = (lowest.fixed_share(size), highest.fixed_share(size)) if has_profile else _ANY_SHARE
        line = measurement.line or ConservativeCost.from_share_range(measurement.seconds, size, shares)
        costs.append(line.scaled(factor))
    return costs


def _accumulate(levels: Sequence[_Level], expected: Sequence[Cost]) -> list[Cost]:
    """The cost of each lane. No plan chooses how many micro-batches are ready at once, so no upper estimate is needed:
    a single measured size is divided as expected."""
    costs = []
    for level, usual in zip(levels, expected, strict=True):
        if level is None:
            costs.append(usual)
            continue
        measurement, factor = level
        share = usual.fixed_share(measurement.size)
        line = measurement.line or Cost.from_measurement(measurement.seconds, measurement.size, share)
        costs.append(line.scaled(factor))
    return costs
