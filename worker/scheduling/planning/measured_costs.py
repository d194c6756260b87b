"""Costs that earlier runs have measured, in place of the expected ones, once there was a run with the same workload.

    measured on the lane's own kind of device        ──► what was measured
    on other kinds only                              ──► the lane's estimate, off by as much as theirs
    on lanes whose device is not known, by the gang  ──► their mean, in the proportions that are expected
    at one size only                                 ──► the profile's fixed share, at the end of its range that costs
                                                         most

A run generates fragments of one size, and that shows nothing about other sizes: if all of it were charged per unit,
small fragments would seem to be free. Invariants: at a measured size, a cost is what was measured; at any other it is
not below the truth, if the true fixed share lies within the profile's range. So a plan that changes the size is never
predicted to be faster than it is, and one that keeps it is predicted as it was measured.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from worker.scheduling.core.costs import ConservativeCost, Cost, CostKind, MeasuredCostTable
from worker.scheduling.planning.cost_estimates import SHARED_FIELD, LaneCosts, PoolCosts, lane_costs, pool_costs
from worker.scheduling.planning.measured_work import MeasuredWork, PooledMeasurement
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator, RangeEnd
from worker.scheduling.profiles.known_devices import find_accelerator

_ANY_SHARE = (0.0, 1.0)
"""The range of the fixed share of work without a profile: a smaller call may cost as much as the measured one, and a
larger one may cost more in proportion to its size."""


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
    known: dict[CostKind, MeasuredWork] = {kind: MeasuredWork.of(history, kind, measured) for kind in CostKind}
    usual = {name: lane_costs(work, device) for name, device in measured.items()}
    generating = [[lane.generate for lane in pool.lanes] for pool in pools]
    usual_generating = {name: costs.generate for name, costs in usual.items()}
    levels = _levels(known[CostKind.GENERATE], names, generating[0], usual_generating)
    generate = _conservative(levels, *generating, has_profile=has_profile)
    training = [lane.accumulate for lane in expected.lanes]
    usual_training = {name: costs.accumulate for name, costs in usual.items()}
    levels = _levels(known[CostKind.ACCUMULATE], names, training, usual_training)
    # No plan chooses how many micro-batches are ready at once, so that a single measured size is divided as expected.
    accumulate = _conservative(levels, training, training, training, has_profile=True)
    scoring = _levels(MeasuredWork.of(history, CostKind.SCORE), [""], [expected.score], {})
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


def _with_fixed_costs(known: Mapping[CostKind, MeasuredWork], device: str, lane: LaneCosts) -> LaneCosts:
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


_Level = tuple[PooledMeasurement, float] | None
"""A measurement and the factor by which a lane's seconds differ from it; `None` where nothing was measured."""


def _levels(
    known: MeasuredWork, devices: Sequence[str], expected: Sequence[Cost], usual: Mapping[str, Cost]
) -> list[_Level]:
    """[lane]: what its seconds follow from.

    Args:
        devices: [lane], the name of its device.
        expected: [lane].
        usual: the expected cost of each device that was measured.
    """
    if known.of_device:
        return [
            (known.of_device[device], 1.0) if device in known.of_device else _inferred(known, cost, usual)
            for device, cost in zip(devices, expected, strict=True)
        ]
    measurement = known.of_others
    if measurement is None:
        return [None] * len(devices)
    seconds = [cost.seconds(measurement.size) for cost in expected]
    mean = sum(seconds) / len(seconds)
    return [(measurement, each / mean if mean > 0 else 1.0) for each in seconds]


def _inferred(known: MeasuredWork, expected: Cost, usual: Mapping[str, Cost]) -> _Level:
    """That of a lane whose device has not done such work: its estimate is off by as much as those of the devices that
    have, on average."""
    ratios, size = [], 1
    for name, measured in sorted(known.of_device.items()):
        size = measured.size
        seconds = usual[name].seconds(size)
        if seconds > 0:
            ratios.append(measured.seconds / seconds)
    if not ratios:
        return None
    return PooledMeasurement(size, expected.seconds(size) * statistics.mean(ratios), None), 1.0


def _conservative(
    levels: Sequence[_Level], expected: Sequence[Cost], low: Sequence[Cost], high: Sequence[Cost], *, has_profile: bool
) -> list[Cost]:
    """The cost of each lane, never too low at a size that was not measured.

    Args:
        expected: the expected cost of each lane.
        low: the same with the smallest fixed share that the profiles allow; where it is that of `high`, it is taken.
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
