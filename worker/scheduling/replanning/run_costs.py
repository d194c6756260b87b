"""The costs of a run's own lanes: what was planned with, corrected by what the run has measured.

    MeasuredCost of a lane ÷ its prior ──► ratios of one kind of work ──► clusters of lanes alike ──► ratio of each lane
    PoolCosts (prior) × ratios ──► PoolCosts (measured), in which lanes alike cost the same

Work that a lane has not done is taken from lanes of its kind that have: those with the same device and prior, else all
lanes. A lane that is slower than its kind at one thing is expected to be so at the other, even if it was not when it
did that last. Lanes count as alike unless they differ by more than their measurements can tell: with as many kinds as
lanes, planning would chase noise. Invariant: the costs follow from prior and measurements alone, and without a
measurement they are the prior.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost, MeasuredCostTable
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts, lane_name

SAME_WITHIN = 0.15
"""Relative difference within which lanes of a kind count as alike. Shared machines differ by some per cent, which work
in proportion to speed evens out; a lane that is 15 % slower than its kind is worth a place of its own in a plan."""
_NUM_ERRORS = 3.0
"""Standard errors by which estimates must differ to count as different: one lane of 400 does by chance."""
_LANE_KINDS = (CostKind.GENERATE, CostKind.ACCUMULATE)
"""The kinds of work that a plan divides among lanes."""
_SWITCHES = (CostKind.PULL, CostKind.LEND, CostKind.RECLAIM)
"""Kinds whose seconds are also a field of `LaneCosts`, measured lane by lane."""
_OF_GANG = (CostKind.COMMIT, CostKind.SNAPSHOT, CostKind.PUBLISH)
"""Kinds whose seconds are also a field of `LaneCosts`, measured for all ranks together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLanes:
    """The lanes of a run that generate or train, and those that score."""

    names: tuple[str, ...]
    """Ids of the lanes, in the order of the pool's costs."""
    trainers: frozenset[int]
    """Indices of the lanes that train."""
    rewards: tuple[str, ...]
    """Ids of the reward lanes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCosts:
    """What work costs on a run's lanes, and how sure that is."""

    pool: PoolCosts
    speeds: tuple[float, ...]
    """[lane]: its seconds ÷ those of the typical lane of its kind; 1 for a lane alike."""
    errors: Mapping[CostKind, float]
    """By kind of work: the relative standard error of its ratio of measured to expected seconds, over all lanes that
    did it; infinite where no lane did."""

    @property
    def relative_error(self) -> float:
        """That of what is predicted from the costs, if generation and training weigh alike."""
        return math.hypot(*self.errors.values()) / 2


@dataclass(frozen=True, slots=True)
class _Ratio:
    """Measured ÷ expected seconds of one lane."""

    value: float
    error: float
    """The relative standard error."""


def run_costs(prior: PoolCosts, measured: MeasuredCostTable, lanes: RunLanes, *, kinds: Sequence[object]) -> RunCosts:
    """The costs of the run's lanes by now.

    Args:
        prior: the costs that the run's plan was made with.
        measured: by lane id, what the run has measured.
        kinds: of each lane, a value that is equal for lanes of the same device.
    """
    groups = _groups(prior, kinds)
    kinds_of_work = (CostKind.GENERATE,) if prior.equal_counts else _LANE_KINDS
    ratios = {kind: _ratios(prior, measured, lanes, kind) for kind in kinds_of_work}
    factors = _completed({kind: _by_cluster(found, groups) for kind, found in ratios.items()}, groups)
    speeds = _speeds_of_all([_speeds(found, groups) for found in factors.values()])
    if prior.equal_counts:
        # Ranks in step are slowed by each other, so only the gang's seconds are known.
        factors[CostKind.ACCUMULATE] = [_gang_ratio(prior, measured, lanes)] * len(lanes.names)
    pool = [
        replace(
            lane,
            generate=lane.generate.scaled(factors[CostKind.GENERATE][index] or 1.0),
            accumulate=lane.accumulate.scaled(factors[CostKind.ACCUMULATE][index] or 1.0),
        )
        for index, lane in enumerate(prior.lanes)
    ]
    score = _mean_ratio((measured.get((name, CostKind.SCORE)), prior.score) for name in lanes.rewards)
    return RunCosts(
        pool=replace(prior, lanes=tuple(_with_seconds(pool, prior, measured, lanes)), score=prior.score.scaled(score)),
        speeds=tuple(speeds),
        errors={kind: _mean_error(found.values()) for kind, found in ratios.items()},
    )


def _groups(prior: PoolCosts, kinds: Sequence[object]) -> list[list[int]]:
    """Lanes of the same device and prior, by index."""
    found: dict[tuple[object, LaneCosts], list[int]] = {}
    for index, key in enumerate(zip(kinds, prior.lanes, strict=True)):
        found.setdefault(key, []).append(index)
    return list(found.values())


def _ratios(prior: PoolCosts, measured: MeasuredCostTable, lanes: RunLanes, kind: CostKind) -> dict[int, _Ratio]:
    """By index of the lanes that have done this kind of work: measured ÷ prior seconds."""
    found = {}
    for index, name in enumerate(lanes.names):
        expected = prior.lanes[index].generate if kind is CostKind.GENERATE else prior.lanes[index].accumulate
        known = measured.get((name, kind))
        value = None if known is None else _ratio(known, expected)
        if known is not None and value is not None:
            found[index] = _Ratio(value, known.relative_error)
    return found


def _ratio(known: MeasuredCost, expected: Cost) -> float | None:
    """Measured ÷ expected seconds of a call amid the sizes measured; `None` where nothing was expected."""
    size = (known.fewest_units + known.most_units) / 2
    seconds = expected.seconds(size)
    return known.cost.seconds(size) / seconds if seconds > 0 else None


def _by_cluster(ratios: Mapping[int, _Ratio], groups: Sequence[Sequence[int]]) -> list[float | None]:
    """[lane]: the mean ratio of the measured lanes of its group that count as alike with it; `None` for a lane that has
    not done such work."""
    found: dict[int, float] = {}
    for group in groups:
        for cluster in _clusters([(ratios[lane], lane) for lane in group if lane in ratios]):
            mean = sum(ratio.value for ratio, _ in cluster) / len(cluster)
            found |= dict.fromkeys((lane for _, lane in cluster), mean)
    return [found.get(lane) for lane in range(sum(len(group) for group in groups))]


def _clusters(entries: Sequence[tuple[_Ratio, int]]) -> list[list[tuple[_Ratio, int]]]:
    """The lanes of a group as sets of lanes alike: first those near the median, then the others in order of speed."""
    if not entries:
        return []
    by_speed = sorted(entries, key=lambda entry: (entry[0].value, entry[1]))
    median = by_speed[(len(by_speed) - 1) // 2][0]
    typical = [entry for entry in by_speed if _is_alike(entry[0], median)]
    clusters = [typical]
    for entry in by_speed:
        if entry in typical:
            continue
        last = clusters[-1]
        if last is not typical and _is_alike(entry[0], last[0][0]):
            last.append(entry)
        else:
            clusters.append([entry])
    return clusters


def are_alike(one: MeasuredCost, other: MeasuredCost) -> bool:
    """Whether two measurements of a lane differ by no more than lanes of a kind may, or than they can tell."""
    fewest, most = max(one.fewest_units, other.fewest_units), min(one.most_units, other.most_units)
    if fewest > most:
        # Of other sizes, what the one would cost at the other's is inferred.
        return True
    size = (fewest + most) / 2
    first, second = (_Ratio(known.cost.seconds(size), known.relative_error) for known in (one, other))
    return _is_alike(first, second)


def _is_alike(one: _Ratio, other: _Ratio) -> bool:
    """Whether two lanes differ by no more than is worth a place in a plan, or than their measurements can tell."""
    tolerance = max(SAME_WITHIN, _NUM_ERRORS * math.hypot(one.error, other.error))
    return abs(math.log(one.value / other.value)) <= tolerance if min(one.value, other.value) > 0 else True


def _speeds(factors: Sequence[float | None], groups: Sequence[Sequence[int]]) -> list[float | None]:
    """[lane]: its ratio ÷ the median one of its group; `None` where the lane has none."""
    speeds: list[float | None] = [None] * len(factors)
    for group in groups:
        median = _median(factors, group)
        for lane in group:
            factor = factors[lane]
            speeds[lane] = None if factor is None or not median else factor / median
    return speeds


def _median(factors: Sequence[float | None], group: Iterable[int]) -> float | None:
    known = sorted(factor for lane in group if (factor := factors[lane]) is not None)
    return known[(len(known) - 1) // 2] if known else None


def _speeds_of_all(by_kind: Sequence[Sequence[float | None]]) -> list[float]:
    """[lane]: the geometric mean over the kinds of work that it has done; 1 for a lane that has done none."""
    speeds = []
    for of_lane in zip(*by_kind, strict=True):
        known = [math.log(speed) for speed in of_lane if speed]
        speeds.append(math.exp(sum(known) / len(known)) if known else 1.0)
    return speeds


def _completed(
    factors: Mapping[CostKind, Sequence[float | None]], groups: Sequence[Sequence[int]]
) -> dict[CostKind, Sequence[float | None]]:
    """The ratios with those of lanes that have not done such work, and of lanes slower than their kind at other work:
    the median of their group, else of all lanes, times how much slower they are."""
    speeds = {kind: _speeds(found, groups) for kind, found in factors.items()}
    completed: dict[CostKind, Sequence[float | None]] = {}
    for kind, found in factors.items():
        others = [other for other in factors if other is not kind]
        of_all = _median(found, range(len(found)))
        filled = list(found)
        for group in groups:
            typical = _median(found, group) or of_all
            for lane in group:
                slower = next((speed for other in others if (speed := speeds[other][lane]) is not None), 1.0)
                filled[lane] = _expected_ratio(filled[lane], typical, slower)
        completed[kind] = filled
    return completed


def _expected_ratio(measured: float | None, typical: float | None, slower: float) -> float | None:
    """A lane's ratio at work at which its kind has the ratio `typical`, where it is `slower` times as slow at other
    work. What it has `measured` may be from before it became slow."""
    if typical is None:
        return measured
    if measured is None:
        return typical * slower
    return max(measured, typical * slower) if slower > 1 + SAME_WITHIN else measured


def _gang_ratio(prior: PoolCosts, measured: MeasuredCostTable, lanes: RunLanes) -> float:
    """Measured ÷ prior seconds of a gang that accumulates in step."""
    expected = prior.cost_table(lanes.trainers)[GANG, CostKind.ACCUMULATE]
    return _mean_ratio([(measured.get((GANG, CostKind.ACCUMULATE)), expected)])


def _mean_ratio(entries: Iterable[tuple[MeasuredCost | None, Cost]]) -> float:
    """The mean of measured ÷ expected seconds; 1 where nothing was measured, or nothing expected."""
    found = [ratio for known, cost in entries if known is not None and (ratio := _ratio(known, cost)) is not None]
    return sum(found) / len(found) if found else 1.0


def _with_seconds(
    pool: Sequence[LaneCosts], prior: PoolCosts, measured: MeasuredCostTable, lanes: RunLanes
) -> list[LaneCosts]:
    """The lanes with the measured seconds of work that has no units: in proportion to the prior, or as measured where
    that expected none."""
    table = prior.cost_table(lanes.trainers)
    changed = list(pool)
    for kind in (*_SWITCHES, *_OF_GANG):
        names = lanes.names if kind in _SWITCHES else (GANG,)
        known = [found.cost.seconds() for name in names if (found := measured.get((name, kind))) is not None]
        if not known:
            continue
        seconds = sum(known) / len(known)
        planned = [lane for lane, name in enumerate(lanes.names) if (name, kind) in measured]
        expected = _expected_seconds(prior, table, kind, planned)
        changed = [_scaled(lane, kind, seconds / expected if expected > 0 else None, seconds) for lane in changed]
    return changed


def _expected_seconds(
    prior: PoolCosts, table: Mapping[tuple[str, CostKind], Cost], kind: CostKind, lanes: Sequence[int]
) -> float:
    """What the prior expected of the measured work, in mean over the lanes that did it."""
    if kind in _OF_GANG:
        return table[GANG, kind].seconds()
    each = [
        table.get((lane_name(lane), kind), Cost(getattr(prior.lanes[lane], kind.value))).seconds() for lane in lanes
    ]
    return sum(each) / len(each) if each else 0.0


_SHARED_FIELDS: Mapping[CostKind, str] = {
    CostKind.COMMIT: "shared_commit",
    CostKind.SNAPSHOT: "shared_snapshot",
    CostKind.PUBLISH: "shared_publish",
}


def _scaled(lane: LaneCosts, kind: CostKind, ratio: float | None, seconds: float) -> LaneCosts:
    """The lane with its seconds of this kind times `ratio`, or with `seconds` where there is none."""
    shared = _SHARED_FIELDS.get(kind)
    if ratio is None:
        return replace(lane, **{kind.value: seconds})  # type: ignore[arg-type]
    changes = {name: getattr(lane, name) * ratio for name in (kind.value, *([shared] if shared else []))}
    return replace(lane, **changes)


def _mean_error(ratios: Iterable[_Ratio]) -> float:
    """The standard error of the mean over lanes that were measured independently, each weighted by its precision. Where
    no lane has repeated its work, what they differ by stands in."""
    found = list(ratios)
    precision = sum(max(ratio.error, _SMALLEST_ERROR) ** -2 for ratio in found)
    if precision > 0:
        return precision**-0.5
    if len(found) < 2:
        return math.inf
    return statistics.stdev(ratio.value for ratio in found) / math.sqrt(len(found)) / found[0].value


_SMALLEST_ERROR = 1e-4
"""Stands in for the error of work that always takes the same time."""
