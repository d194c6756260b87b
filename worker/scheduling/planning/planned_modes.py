"""The best split of every mode of one pool: one mode after the other, and large pools in small first.

    up to 64 lanes     a search by simulation in each mode
    up to 512          the same in small; its choices, and more where the budget allows, are simulated in full
    beyond             the same in small; seconds are each choice's limit × what simulation adds to the limit in small

Invariant: the result depends on the pool alone; budgets count simulated fragments, never the seconds of a clock.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.mode_limits import ModeLimits
from worker.scheduling.planning.modes import PlanningMode
from worker.scheduling.planning.scaled_pools import ScaledPool
from worker.scheduling.planning.split_search import (
    MAX_FRAGMENTS,
    MAX_SIMULATED_LANES,
    Hint,
    SplitPoint,
    SplitResult,
    SplitSearch,
)

_MANY_LANES = 64
"""Lanes beyond which splits are chosen in small: a search there simulates too few of them in full."""
_FAR = 0.02
"""Relative difference to the least limit of all modes beyond which the search goes on with a larger budget: small pools
get a small one, which most of them do not need."""
_FEW_LANES = 16
"""Lanes up to which the smallest fragments are tried in every mode at staleness 0, and not in the fastest alone that a
run would take: so the modes that it is compared with are no slower than they can be, for a tenth more time."""
MAX_FRAGMENTS_IN_SMALL = 12_000
"""Fragments simulated in small: 0.6 to 1 s of one core. With 10,000 plans of `tests.bench.large_pools` are up to 3 %
slower, with 16,000 those of `tests.bench.any_pool` at most 1.2 % faster, for a third more time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedModes:
    """By mode's name, for modes that fit the pool."""

    split_results: Mapping[str, SplitResult]
    curves: Mapping[str, tuple[SplitPoint, ...]]
    """The seconds of a batch for each number of trainer lanes."""


def planned_modes(
    limits: ModeLimits, wanted: PipelineSpec, modes: Sequence[PlanningMode], *, only_best: bool = False
) -> PlannedModes:
    """The best split of each of the modes, with the settings of a user's `pipeline` section.

    `only_best`: leave out modes whose limit shows that they cannot be the best.
    """
    scaled = ScaledPool.of(limits) if limits.kinds.num_lanes > _MANY_LANES else None
    if scaled is None:
        return _searched(limits, wanted, modes, only_best=only_best)
    in_small = _searched(
        scaled.limits,
        wanted,
        modes,
        only_best=only_best,
        max_fragments=MAX_FRAGMENTS_IN_SMALL,
        # A decision of lending by search tries fewer choices the more lanes there are, so small pools tell little.
        searches=False,
    )
    if limits.kinds.num_lanes > MAX_SIMULATED_LANES and in_small.split_results:
        return _estimated(limits, scaled, in_small, modes)
    hints = {
        name: Hint(scaled.in_large(found.candidate), found.candidate.pipeline)
        for name, found in in_small.split_results.items()
    }
    in_full = _searched(limits, wanted, modes, only_best=only_best, hints=hints)
    estimated = _estimated(limits, scaled, in_small, modes).split_results
    split_results = {
        # What the budget left out has nothing but its limit, which is no promise.
        name: estimated.get(name, found) if found.result is None else found
        for name, found in in_full.split_results.items()
    }
    return replace(in_full, split_results=split_results)


def _searched(
    limits: ModeLimits,
    wanted: PipelineSpec,
    modes: Sequence[PlanningMode],
    *,
    only_best: bool,
    hints: Mapping[str, Hint] = MappingProxyType({}),
    max_fragments: int = MAX_FRAGMENTS,
    searches: bool = True,
) -> PlannedModes:
    search = SplitSearch(limits, max_fragments=max_fragments, searches=searches)
    # Colocated placement is quickly simulated, and what it takes decides what is worth simulating in other modes.
    in_order = sorted(modes, key=lambda mode: (not mode.is_colocated, search.least_seconds(mode)))
    # Each mode's choice in small is simulated before any mode is searched further, so that none is left out.
    for mode in modes:
        if mode.name in hints:
            search.try_hint(mode, hints[mode.name])
    found = _found(search, in_order, wanted, {}, only_best=only_best)
    least = min(map(search.least_seconds, in_order), default=math.inf)
    if _fastest(found.values(), max_staleness=1) > (1 + _FAR) * least and search.widen():
        found = _found(search, in_order, wanted, found, only_best=True)
    if _fastest(found.values(), max_staleness=1) > (1 + _FAR) * least:
        found |= search.try_others([mode for mode in in_order if mode.name in found], wanted)
    on_policy = [mode for mode in modes if mode.name in found and not mode.max_staleness]
    fastest_first = sorted(on_policy, key=lambda mode: found[mode.name].batch_seconds)
    tried = fastest_first if limits.kinds.num_lanes <= _FEW_LANES and not only_best else fastest_first[:1]
    for mode in tried:
        # In the others it is of use only where it is faster.
        is_choice = mode is fastest_first[0]
        found[mode.name] = search.with_finest_fragments(mode, found[mode.name], only_if_faster=not is_choice)
    curves = {mode.name: search.curve(mode, wanted) for mode in modes if mode.name in found}
    return PlannedModes(split_results=found, curves=curves)


def _found(
    search: SplitSearch,
    modes: Sequence[PlanningMode],
    wanted: PipelineSpec,
    before: Mapping[str, SplitResult],
    *,
    only_best: bool,
) -> dict[str, SplitResult]:
    """`before` with the best split of each mode, found with what is left of the search's budget."""
    found = dict(before)
    for index, mode in enumerate(modes):
        if only_best and search.least_seconds(mode) >= _fastest(found.values(), max_staleness=1):
            continue
        efforts = [search.effort(other, wanted) for other in modes[index:]]
        split_result = search.find(
            mode,
            wanted,
            to_beat=_fastest(found.values(), max_staleness=mode.max_staleness),
            share=efforts[0] / sum(efforts),
        )
        if split_result is not None:
            found[mode.name] = split_result
    return found


def _fastest(split_results: Iterable[SplitResult], max_staleness: int) -> float:
    """The shortest batch of those with at most that staleness."""
    seconds = (
        split_result.batch_seconds
        for split_result in split_results
        if split_result.candidate.pipeline.max_staleness <= max_staleness
    )
    return min(seconds, default=math.inf)


def _estimated(
    limits: ModeLimits, scaled: ScaledPool, in_small: PlannedModes, modes: Sequence[PlanningMode]
) -> PlannedModes:
    """The choices made in small for the large pool, where they fit in its memory."""
    found, curves = dict[str, SplitResult](), dict[str, tuple[SplitPoint, ...]]()
    for mode in modes:
        chosen = in_small.split_results.get(mode.name)
        estimate = None if chosen is None else _estimate(limits, scaled, mode, chosen)
        if chosen is not None and estimate is not None:
            found[mode.name] = estimate
            factor = estimate.batch_seconds / chosen.batch_seconds
            curves[mode.name] = tuple(
                replace(
                    point,
                    num_trainer=round(point.num_trainer * scaled.lanes_ratio),
                    batch_seconds=point.batch_seconds * factor,
                    is_simulated=False,
                )
                for point in in_small.curves[mode.name]
                # The others are limits, which estimates beside them would seem to fall short of.
                if point.is_simulated
            )
    return PlannedModes(split_results=found, curves=curves)


def _estimate(limits: ModeLimits, scaled: ScaledPool, mode: PlanningMode, chosen: SplitResult) -> SplitResult | None:
    """A choice made in small for the large pool; `None` where it does not fit in memory."""
    lends = mode.is_colocated or chosen.candidate.pipeline.trainers_generate
    split = scaled.in_large(chosen.candidate)
    at_least = limits.limit(mode, split, lends=lends)
    at_least_in_small = scaled.limits.limit(mode, scaled.in_small(chosen.candidate), lends=lends)
    if math.isinf(at_least) or math.isinf(at_least_in_small):
        return None
    return SplitResult(
        candidate=replace(chosen.candidate, trainers=limits.kinds.first_lanes(split.trainers)),
        batch_seconds=at_least * chosen.batch_seconds / at_least_in_small,
        result=None,
    )
