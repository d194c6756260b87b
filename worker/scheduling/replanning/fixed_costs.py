"""What a run has measured of work whose calls have no units: pulls, switches, and what all ranks do together.

    measured ÷ prior seconds of a kind ─► ratio of lanes alike, ratio of each lane that is slow ─► fields of `LaneCosts`

Ranks wait for the slowest of them, so the seconds of a gang with a slow rank are not those that it takes without. How
much of them is that rank's is not measured: a lane k times as fast is expected to need 1/k of them, but no less than
was expected of it in proportion to other work, since what a network takes has nothing to do with a slow lane.
Invariant: where no lane is slow, all have the same ratio, which is that measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCostTable
from worker.scheduling.planning.cost_estimates import SHARED_FIELD, LaneCosts, PoolCosts, lane_name
from worker.scheduling.replanning.lane_ratios import SAME_WITHIN
from worker.scheduling.replanning.run_lanes import RunLanes

_OF_LANES = (CostKind.PULL, CostKind.LEND, CostKind.RECLAIM)
"""Kinds whose seconds are also a field of `LaneCosts`, measured lane by lane."""
_OF_GANG = (CostKind.COMMIT, CostKind.SNAPSHOT, CostKind.PUBLISH)
"""Kinds whose seconds are also a field of `LaneCosts`, measured for all ranks together."""


@dataclass(frozen=True, slots=True)
class LaneSpeeds:
    """How the lanes of a run compare."""

    of_lane: Sequence[float]
    """[lane]: its seconds ÷ those of its kind."""
    typical: float
    """Measured ÷ prior seconds of the work that has units, on a lane that is not slow."""

    def is_slow(self, lane: int) -> bool:
        return self.of_lane[lane] > 1 + SAME_WITHIN

    def gang_ratios(self, ratio: float, trainers: frozenset[int]) -> list[float]:
        """[lane]: the ratio of the gang's work if it were the slowest rank of the gang, where the present ranks are
        measured to have `ratio`."""
        alike = self._of_lanes_alike(ratio, max((self.of_lane[lane] for lane in trainers), default=1.0))
        return [min(ratio, alike * speed) if self.is_slow(lane) else alike for lane, speed in enumerate(self.of_lane)]

    def lane_ratios(self, measured: Mapping[int, float]) -> list[float]:
        """[lane]: the ratio of its own work: as `measured` on a slow lane that did it, else that of lanes alike. A lane
        whose card is slow is not expected to be slow at transfers, too."""
        alike = [ratio for lane, ratio in measured.items() if not self.is_slow(lane)]
        if not alike:
            alike = [self._of_lanes_alike(ratio, self.of_lane[lane]) for lane, ratio in measured.items()]
        mean = sum(alike) / len(alike)
        own = {lane: ratio for lane, ratio in measured.items() if self.is_slow(lane)}
        return [own.get(lane, mean) for lane in range(len(self.of_lane))]

    def _of_lanes_alike(self, ratio: float, slower: float) -> float:
        """What lanes alike would take, where one that is so many times as slow takes `ratio`."""
        return max(ratio / slower, min(ratio, self.typical)) if slower > 1 + SAME_WITHIN else ratio


def with_fixed_costs(
    pool: Sequence[LaneCosts], prior: PoolCosts, measured: MeasuredCostTable, lanes: RunLanes, speeds: LaneSpeeds
) -> list[LaneCosts]:
    """The lanes with the measured seconds of work that has no units: in proportion to the prior, or as measured where
    that expected none."""
    factors: list[dict[str, list[float]]] = [{} for _ in pool]
    as_measured: list[dict[str, float]] = [{} for _ in pool]
    for kind in (*_OF_LANES, *_OF_GANG):
        expected = _expected_seconds(prior, lanes, kind)
        known = {
            lane: found.cost.seconds()
            for lane, name in enumerate(lanes.names if kind in _OF_LANES else (GANG,))
            if (found := measured.get((name, kind))) is not None
        }
        if not known:
            continue
        is_expected = all(expected[lane] > 0 for lane in known)
        ratios = {lane: seconds / expected[lane] if is_expected else seconds for lane, seconds in known.items()}
        by_lane = speeds.lane_ratios(ratios) if kind in _OF_LANES else speeds.gang_ratios(ratios[0], lanes.trainers)
        for lane, ratio in enumerate(by_lane):
            if is_expected:
                factors[lane].setdefault(kind.value, []).append(ratio)
                if kind in SHARED_FIELD:
                    factors[lane].setdefault(SHARED_FIELD[kind], []).append(ratio)
            else:
                as_measured[lane][kind.value] = ratio
    return [_scaled(lane, factors[place], as_measured[place]) for place, lane in enumerate(pool)]


def _scaled(lane: LaneCosts, factors: Mapping[str, Sequence[float]], as_measured: Mapping[str, float]) -> LaneCosts:
    """The lane with each field times the mean of its factors."""
    scaled = {name: getattr(lane, name) * sum(each) / len(each) for name, each in factors.items()}
    return replace(lane, **{**scaled, **as_measured})


def _expected_seconds(prior: PoolCosts, lanes: RunLanes, kind: CostKind) -> list[float]:
    """[lane]: what the prior expects of each lane in its present role; of the gang's work, one entry."""
    table = prior.cost_table(lanes.trainers)
    if kind in _OF_GANG:
        return [table[GANG, kind].seconds()]
    return [
        table.get((lane_name(place), kind), Cost(getattr(lane, kind.value))).seconds()
        for place, lane in enumerate(prior.lanes)
    ]
