"""What a run has measured, by kind of device in place of by lane: what later plans learn of each.

    MeasuredCost of each lane ─► as it was before the lane turned slow ─► lanes of a device that are alike ─► their mean

Invariant: a lane that is slower than most of its device, or has become so, does not stand for the device.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from worker.scheduling.core.costs import Cost, CostKind, MeasuredCost, MeasuredCostTable

_ALIKE_WITHIN = 0.15
"""Logarithm of the ratio of seconds to the median lane's within which a lane counts: healthy cards of one model differ
by 8 % on average (Sinha et al., SC22, doi.org/10.1109/SC41404.2022.00070)."""


def by_device(measured: MeasuredCostTable, device_of: Mapping[str, str]) -> MeasuredCostTable:
    """The measured costs with the name of a device in place of its lanes. Lanes that `device_of` does not name, and the
    gang, keep their own."""
    groups: dict[tuple[str, CostKind], list[MeasuredCost]] = {}
    for (lane, kind), known in sorted(measured.items()):
        groups.setdefault((device_of.get(lane, lane), kind), []).append(_at_first(known))
    return {key: _typical(found) for key, found in groups.items()}


def _at_first(known: MeasuredCost) -> MeasuredCost:
    """The cost of a lane before it turned slow."""
    return replace(known, cost=known.cost.scaled(1 / known.slowdown), slowdown=1.0)


def _typical(found: Sequence[MeasuredCost]) -> MeasuredCost:
    """The mean of the lanes like the median one, the faster of two; of those with several sizes where there are any,
    since one size does not tell the fixed part from the part per unit."""
    sizes = sorted(known.most_units for known in found)
    size = sizes[(len(sizes) - 1) // 2]
    by_speed = sorted(found, key=lambda known: known.cost.seconds(size))
    median = by_speed[(len(by_speed) - 1) // 2]
    alike = [known for known in by_speed if _are_alike(known.cost.seconds(size), median.cost.seconds(size))]
    counted = [known for known in alike if known.determines_line]
    if not counted:
        counted = [known for known in alike if known.most_units == median.most_units]
    return replace(
        median,
        cost=Cost.mean([known.cost for known in counted]),
        fewest_units=min(known.fewest_units for known in counted),
        most_units=max(known.most_units for known in counted),
    )


def _are_alike(one: float, other: float) -> bool:
    return one == other or (min(one, other) > 0 and abs(math.log(one / other)) <= _ALIKE_WITHIN)
