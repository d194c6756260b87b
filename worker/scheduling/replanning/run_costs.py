"""The costs of a run's own lanes: what was planned with, corrected by what the run has measured.

    MeasuredCost of a lane ÷ its prior ──► ratios of one kind of work ──► clusters of lanes alike ──► ratio of each lane
    PoolCosts (prior) × ratios ──► PoolCosts (measured), in which lanes alike cost the same

Work that a lane has not done is taken from lanes of its kind that have: those with the same device and prior, else all
lanes, so that an error of the prior that all kinds share is learnt from any of them. A lane that is slower than its
kind at one thing is expected to be so at the other, even if it was not when it did that last. Lanes count as alike
unless they differ by more than their measurements can tell: with as many kinds as lanes, planning would chase noise.
Invariant: the costs follow from prior and measurements alone, and without a measurement they are the prior.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost, MeasuredCostTable
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts
from worker.scheduling.replanning.fixed_costs import LaneSpeeds, with_fixed_costs
from worker.scheduling.replanning.lane_ratios import (
    Ratio,
    Ratios,
    completed,
    mean_error,
    ratio_of,
    speeds_in_groups,
    speeds_of_all,
    typical_ratio,
)
from worker.scheduling.replanning.run_lanes import RunLanes

_LANE_KINDS = (CostKind.GENERATE, CostKind.ACCUMULATE)
"""The kinds of work that a plan divides among lanes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCosts:
    """What work costs on a run's lanes, and how sure that is."""

    pool: PoolCosts
    speeds: tuple[float, ...]
    """[lane]: its seconds ÷ those of the typical lane of its kind; 1 for a lane alike."""
    errors: Mapping[CostKind, float]
    """By kind of work: the relative standard error of its ratio of measured to expected seconds, over all lanes that
    did it, or of the gang in step; infinite where none did."""

    @property
    def relative_error(self) -> float:
        """That of what is predicted from the costs, if generation and training weigh alike."""
        return math.hypot(*self.errors.values()) / 2


def run_costs(prior: PoolCosts, measured: MeasuredCostTable, lanes: RunLanes, *, kinds: Sequence[object]) -> RunCosts:
    """The costs of the run's lanes by now.

    Args:
        prior: the costs that the run's plan was made with.
        measured: by lane id, what the run has measured.
        kinds: of each lane, a value that is equal for lanes of the same device.
    """
    groups = _groups(prior, kinds)
    kinds_of_work = (CostKind.GENERATE,) if prior.equal_counts else _LANE_KINDS
    common = _common_slowdown(measured, lanes)
    ratios = {kind: _ratios(prior, measured, lanes, kind, common) for kind in kinds_of_work}
    of_lanes = {kind: Ratios.of(found, groups) for kind, found in ratios.items()}
    factors = completed(of_lanes, groups)
    of_lane = speeds_of_all(
        [speeds_in_groups(Ratios(now, of_lanes[kind].at_first), groups) for kind, now in factors.items()]
    )
    speeds = LaneSpeeds(of_lane, typical_ratio([of_lanes[kind] for kind in reversed(kinds_of_work)]))
    errors = {kind: mean_error(found.values()) for kind, found in ratios.items()}
    if prior.equal_counts:
        # Ranks in step are slowed by each other, so only the gang's seconds are known.
        known = measured.get((GANG, CostKind.ACCUMULATE))
        expected = prior.cost_table(lanes.trainers)[GANG, CostKind.ACCUMULATE]
        factors[CostKind.ACCUMULATE] = speeds.gang_ratios(_mean_ratio([(known, expected)]), lanes.trainers)
        errors[CostKind.ACCUMULATE] = math.inf if known is None else known.relative_error
    scaled = [
        replace(
            lane,
            generate=lane.generate.scaled(factors[CostKind.GENERATE][index] or 1.0),
            accumulate=lane.accumulate.scaled(factors[CostKind.ACCUMULATE][index] or 1.0),
        )
        for index, lane in enumerate(prior.lanes)
    ]
    score = _mean_ratio((measured.get((name, CostKind.SCORE)), prior.score) for name in lanes.rewards)
    pool = tuple(with_fixed_costs(scaled, prior, measured, lanes, speeds))
    return RunCosts(
        pool=replace(prior, lanes=pool, score=prior.score.scaled(score)), speeds=tuple(of_lane), errors=errors
    )


def _groups(prior: PoolCosts, kinds: Sequence[object]) -> list[list[int]]:
    """Lanes of the same device and prior, by index."""
    found: dict[tuple[object, LaneCosts], list[int]] = {}
    for index, key in enumerate(zip(kinds, prior.lanes, strict=True)):
        found.setdefault(key, []).append(index)
    return list(found.values())


def _ratios(
    prior: PoolCosts, measured: MeasuredCostTable, lanes: RunLanes, kind: CostKind, common_slowdown: float
) -> dict[int, Ratio]:
    """By index of the lanes that have done this kind of work: measured ÷ prior seconds."""
    found = {}
    for index, name in enumerate(lanes.names):
        expected = prior.lanes[index].generate if kind is CostKind.GENERATE else prior.lanes[index].accumulate
        known = measured.get((name, kind))
        value = None if known is None else ratio_of(known, expected)
        if known is not None and value is not None:
            found[index] = Ratio(value, known.relative_error, max(1.0, known.slowdown / common_slowdown))
    return found


def _common_slowdown(measured: MeasuredCostTable, lanes: RunLanes) -> float:
    """How many times as long as at first most lanes take, which other jobs on their machines may slow down together."""
    tables = [[known for kind in _LANE_KINDS if (known := measured.get((name, kind)))] for name in lanes.names]
    found = sorted(max(known.slowdown for known in of_lane) for of_lane in tables if of_lane)
    return found[(len(found) - 1) // 2] if found else 1.0


def _mean_ratio(entries: Iterable[tuple[MeasuredCost | None, Cost]]) -> float:
    """The mean of measured ÷ expected seconds; 1 where nothing was measured, or nothing expected."""
    found = [ratio for known, cost in entries if known is not None and (ratio := ratio_of(known, cost)) is not None]
    return sum(found) / len(found) if found else 1.0
