"""How lanes of one run compare with their peers: same kind of GPU, same kind of work, as the run measured it. Pure.

Invariant: a lane is never judged by an estimate, nor where too few peers were measured to say who is the odd one out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from statistics import median

from worker.scheduling.core.costs import CostKind, MeasuredCost, MeasuredCostTable

COMPARED = (CostKind.GENERATE, CostKind.ACCUMULATE, CostKind.SCORE)
"""Work that a lane does alone; the rest is done in step by all, or waits for the network."""
MIN_LANES = 3
"""Of two lanes that differ, nobody can say which one is as it should be."""
SLOW_FACTOR = 1.25
"""Seconds of a unit ÷ the median of its peers', above which a GPU is slower than they are: healthy cards of one model
differed by 8 % on average and by at most 22 % on five clusters (Sinha et al., "Not All GPUs Are Created Equal", SC22,
doi.org/10.1109/SC41404.2022.00070)."""
NUM_STANDARD_ERRORS = 3.0
"""By how many standard errors of its own measurement a lane must lie above the bound, so that noise flags none."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A lane against its peers at one kind of work."""

    factor: float
    """Its seconds ÷ the median of all that were compared, itself among them."""
    work: CostKind
    num_lanes: int
    """How many were compared."""
    is_slow: bool


def compare_lanes(measured: MeasuredCostTable, device_of: Mapping[str, str]) -> dict[str, Comparison]:
    """The comparison of each lane that has enough peers, at the kind of work at which it does worst. `device_of` names
    each lane's accelerator."""
    found: dict[str, Comparison] = {}
    for lane, comparison in comparisons(measured, device_of):
        known = found.get(lane)
        if known is None or (comparison.is_slow, comparison.factor) > (known.is_slow, known.factor):
            found[lane] = comparison
    return found


def comparisons(measured: MeasuredCostTable, device_of: Mapping[str, str]) -> Iterator[tuple[str, Comparison]]:
    """Each lane at each kind of work at which it has enough peers, with how it compares."""
    groups: dict[tuple[str, CostKind], dict[str, MeasuredCost]] = {}
    for (lane, kind), cost in measured.items():
        if kind in COMPARED and lane in device_of and isfinite(cost.relative_error):
            groups.setdefault((device_of[lane], kind), {})[lane] = cost
    for (_, kind), costs in groups.items():
        if len(costs) < MIN_LANES:
            continue
        # The same size for all, within what most of them were measured at.
        size = median(cost.most_units for cost in costs.values())
        seconds = {lane: cost.cost.seconds(size) for lane, cost in costs.items()}
        usual = median(seconds.values())
        for lane, cost in costs.items():
            if usual > 0:
                factor = seconds[lane] / usual
                surely = factor * (1 - NUM_STANDARD_ERRORS * cost.relative_error)
                yield lane, Comparison(factor, kind, len(costs), surely > SLOW_FACTOR)
