"""How measured work compares with what was expected of it, by lane: which lanes are alike, and what others may take.

    Ratio of each lane that did the work ──► clusters of lanes alike ──► a ratio for every lane, by what its kind took

What a kind takes is what its lanes took before any of them turned slow by itself: one that is alone of its kind, or
alone in doing such work, does not stand for others then. Invariant: nothing depends on the order in which lanes are
listed, and lanes count as alike unless they differ by more than their measurements can tell.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from worker.scheduling.core.costs import Cost, CostKind, MeasuredCost

SAME_WITHIN = 0.15
"""Relative difference within which lanes of a kind count as alike. Shared machines differ by some per cent, which work
in proportion to speed evens out; a lane that is 15 % slower than its kind is worth a place of its own in a plan."""
_NUM_ERRORS = 3.0
"""Standard errors by which estimates must differ to count as different: one lane of 400 does by chance."""
_EVEN_ERROR = 0.1
"""The error up to which measurements weigh the same: two or three calls say little of their own error. That of a lane
which has just made a call at ten times its seconds is 0.5 or more."""
_SMALLEST_ERROR = 1e-4
"""Stands in for the error of work that always takes the same time."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Measured ÷ expected seconds of one lane."""

    value: float
    error: float
    """The relative standard error."""
    slowdown: float = 1.0
    """How many times as long as at first the lane takes, where it turned slow and the others did not as well."""

    @property
    def at_first(self) -> "Ratio":
        """That of the lane before it turned slow by itself."""
        return Ratio(self.value / self.slowdown, self.error)


@dataclass(frozen=True, slots=True)
class Ratios:
    """Those of one kind of work, by lane; lanes alike have the same. `None` for a lane that has not done it."""

    now: Sequence[float | None]
    at_first: Sequence[float | None]
    """Before a lane turned slow by itself: what others of its kind may take."""

    @classmethod
    def of(cls, ratios: Mapping[int, Ratio], groups: Sequence[Sequence[int]]) -> Self:
        """The ratios of all lanes, from those of lanes that did the work. `groups`: lanes of a kind."""
        at_first = {lane: ratio.at_first for lane, ratio in ratios.items()}
        return cls(by_cluster(ratios, groups), by_cluster(at_first, groups))


def ratio_of(known: MeasuredCost, expected: Cost) -> float | None:
    """Measured ÷ expected seconds of a call amid the sizes measured; `None` where nothing was expected."""
    size = (known.fewest_units + known.most_units) / 2
    seconds = expected.seconds(size)
    return known.cost.seconds(size) / seconds if seconds > 0 else None


def by_cluster(ratios: Mapping[int, Ratio], groups: Sequence[Sequence[int]]) -> list[float | None]:
    """[lane]: the mean ratio of the measured lanes of its group that count as alike with it; `None` for a lane that has
    not done such work."""
    found: dict[int, float] = {}
    for group in groups:
        for cluster in _clusters([(ratios[lane], lane) for lane in group if lane in ratios]):
            mean = _mean([ratio for ratio, _ in cluster])
            found |= dict.fromkeys((lane for _, lane in cluster), mean)
    return [found.get(lane) for lane in range(sum(len(group) for group in groups))]


def _mean(ratios: Sequence[Ratio]) -> float:
    """The mean weighted by precision: of a lane whose first slow call is not believed yet, little is known. Where no
    lane has repeated its work, all weigh alike."""
    weights = [max(ratio.error, _EVEN_ERROR) ** -2 for ratio in ratios]
    if not sum(weights):
        weights = [1.0] * len(ratios)
    return sum(weight * ratio.value for weight, ratio in zip(weights, ratios, strict=True)) / sum(weights)


def _clusters(entries: Sequence[tuple[Ratio, int]]) -> list[list[tuple[Ratio, int]]]:
    """The lanes of a group as sets of lanes alike: first those near the median, then the others in order of speed."""
    if not entries:
        return []
    by_speed = sorted(entries, key=lambda entry: (entry[0].value, entry[1]))
    median = _best_known(by_speed[(len(by_speed) - 1) // 2][0], [ratio for ratio, _ in entries])
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


def _best_known(median: Ratio, ratios: Sequence[Ratio]) -> Ratio:
    """The median with the error of the best known lane near it: where the median lane itself is hardly known, as one is
    that has been lent once, each lane would count as alike with it."""
    near = [ratio.error for ratio in ratios if _is_alike(Ratio(ratio.value, 0.0), Ratio(median.value, 0.0))]
    return Ratio(median.value, min(near))


def are_alike(before: MeasuredCost, now: MeasuredCost) -> bool:
    """Whether two measurements of a lane differ by no more than lanes of a kind may, or than the newer one can tell.
    The older one may have been anything when the lane had just turned slow: that it could not tell is no reason to
    keep to what it said."""
    fewest, most = max(before.fewest_units, now.fewest_units), min(before.most_units, now.most_units)
    if fewest > most:
        # Of other sizes, what the one would cost at the other's is inferred.
        return True
    size = (fewest + most) / 2
    return _is_alike(Ratio(before.cost.seconds(size), 0.0), Ratio(now.cost.seconds(size), now.relative_error))


def _is_alike(one: Ratio, other: Ratio) -> bool:
    """Whether two lanes differ by no more than is worth a place in a plan, or than their measurements can tell."""
    tolerance = max(SAME_WITHIN, _NUM_ERRORS * math.hypot(one.error, other.error))
    return abs(math.log(one.value / other.value)) <= tolerance if min(one.value, other.value) > 0 else True


def speeds_in_groups(ratios: Ratios, groups: Sequence[Sequence[int]]) -> list[float | None]:
    """[lane]: its ratio ÷ the median one of its group; `None` where the lane has none."""
    speeds: list[float | None] = [None] * len(ratios.now)
    for group in groups:
        median = _median(ratios.at_first, group)
        for lane in group:
            ratio = ratios.now[lane]
            speeds[lane] = None if ratio is None or not median else ratio / median
    return speeds


def _median(ratios: Sequence[float | None], group: Iterable[int]) -> float | None:
    known = sorted(ratio for lane in group if (ratio := ratios[lane]) is not None)
    return known[(len(known) - 1) // 2] if known else None


def typical_ratio(by_kind: Iterable[Ratios]) -> float:
    """The median over lanes before any of them turned slow, of the first kind of work that any has done; 1 without."""
    medians = (_median(ratios.at_first, range(len(ratios.at_first))) for ratios in by_kind)
    return next((median for median in medians if median is not None), 1.0)


def speeds_of_all(by_kind: Sequence[Sequence[float | None]]) -> list[float]:
    """[lane]: the geometric mean over the kinds of work that it has done; 1 for a lane that has done none."""
    speeds = []
    for of_lane in zip(*by_kind, strict=True):
        known = [math.log(speed) for speed in of_lane if speed]
        speeds.append(math.exp(sum(known) / len(known)) if known else 1.0)
    return speeds


def completed(
    ratios: Mapping[CostKind, Ratios], groups: Sequence[Sequence[int]]
) -> dict[CostKind, Sequence[float | None]]:
    """The present ratios with those of lanes that have not done such work, and of lanes slower than their kind at other
    work: the median of their group, else of all lanes, times how much slower they are."""
    speeds = {kind: speeds_in_groups(found, groups) for kind, found in ratios.items()}
    found_of: dict[CostKind, Sequence[float | None]] = {}
    for kind, found in ratios.items():
        others = [other for other in ratios if other is not kind]
        of_all = _median(found.at_first, range(len(found.at_first)))
        filled = list(found.now)
        for group in groups:
            typical = _median(found.at_first, group) or of_all
            for lane in group:
                slower = next((speed for other in others if (speed := speeds[other][lane]) is not None), 1.0)
                filled[lane] = _expected_ratio(filled[lane], typical, slower)
        found_of[kind] = filled
    return found_of


def _expected_ratio(measured: float | None, typical: float | None, slower: float) -> float | None:
    """A lane's ratio at work at which its kind has the ratio `typical`, where it is `slower` times as slow at other
    work. What it has `measured` may be from before it became slow."""
    if typical is None:
        return measured
    if measured is None:
        return typical * slower
    return max(measured, typical * slower) if slower > 1 + SAME_WITHIN else measured


def mean_error(ratios: Iterable[Ratio]) -> float:
    """The standard error of the mean over lanes that were measured independently, each weighted by its precision. Where
    no lane has repeated its work, what they differ by stands in."""
    found = list(ratios)
    precision = sum(max(ratio.error, _SMALLEST_ERROR) ** -2 for ratio in found)
    if precision > 0:
        return precision**-0.5
    if len(found) < 2:
        return math.inf
    values = [ratio.value for ratio in found]
    return statistics.stdev(values) / math.sqrt(len(values)) / statistics.mean(values)
