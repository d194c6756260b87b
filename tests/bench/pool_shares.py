"""What share of the best possible the plans of random pools reach: of the bound, or of the best of all splits.

    RandomPool ──► plan ──► share of the bound ──┬─► large, and as promised
                                                 └─► otherwise every split whose limit is lower is simulated

A limit is a lower bound, so what is simulated are all splits that might be faster; where that would take too long, the
rest is counted. `python -m tests.bench.robust` runs a few hundred pools; `tests.scheduling.planning.test_random_pools`
holds them to what is promised.
"""

import math
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.bench.random_pools import Promise, RandomPool, random_pool
from tests.scheduling.planning.synthetic_pools import every_split
from worker.contracts.names import TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.limits import batch_limits
from worker.scheduling.planning.mode_limits import Split
from worker.scheduling.planning.modes import PlanningMode, allowed_modes
from worker.scheduling.planning.planner import PlanRequest, make_plan
from worker.scheduling.planning.split_simulations import SplitSimulations

PROMISED: Mapping[Promise, float] = {"alike": 0.97, "mixed": 0.92, "small": 0.97}
"""The least share of the bound for large pools, and of the best of all splits for small ones."""
_CLOSE_TO_ALL = 0.97
"""The least share of the best of all splits where the bound is out of reach."""
_MAX_SPLITS = 2_000
"""Splits of a pool of which all have their limits computed; in pools of more, those that the planner proposes."""
_MAX_FRAGMENTS = 60_000
"""Fragments simulated to find the best of all splits: 4 s of one core."""
_GAIN = 0.002
"""What a split must be able to gain by its limit to be simulated."""
_NEAR = 0.03
"""What a split is simulated at length for: a short simulation is off by that much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolShare:
    """The plan of one pool, and what it is compared with."""

    seed: int
    promise: Promise
    max_staleness: int
    num_lanes: int
    num_kinds: int
    mode: str
    batch_seconds: float
    bound_share: float
    best_seconds: float | None
    """The fastest of all splits by simulation, the choice among them; empty where the share of the bound suffices."""
    num_left: int
    """Splits and settings whose limit is lower than `best_seconds` and which were not simulated."""
    planning_seconds: float
    """Seconds of one core."""

    @property
    def share_of_all(self) -> float | None:
        """The choice's throughput as a share of that of the best of all splits."""
        return None if self.best_seconds is None else self.best_seconds / self.batch_seconds

    @property
    def share(self) -> float:
        """The share that is promised: of the best of all splits in small pools, else of the bound."""
        of_all = self.share_of_all
        return of_all if self.promise == "small" and of_all is not None else self.bound_share

    @property
    def is_broken(self) -> bool:
        """Whether the promise is broken: the share of the bound falls short, and some split is known to be faster by
        more than plans may lose."""
        return self.share_of_all is not None and self.share_of_all < _CLOSE_TO_ALL

    @property
    def is_kept(self) -> bool:
        """Whether the promise is kept, or the bound is shown to be out of reach: no split is much faster."""
        return self.best_seconds is None or not (self.is_broken or self.num_left)

    def line(self) -> str:
        of_all = "" if self.share_of_all is None else f", {self.share_of_all:6.1%} of all splits, {self.num_left} left"
        return (
            f"seed {self.seed:6d} {self.promise:5} staleness {self.max_staleness} {self.num_lanes:3d} lanes of "
            f"{self.num_kinds} kinds, {self.mode:13} {self.batch_seconds:9.2f} s, {self.bound_share:6.1%} of the bound"
            f"{of_all}, planned in {self.planning_seconds:.2f} s"
        )


def pool_share(pool: RandomPool) -> PoolShare:
    """Plan the pool, and compare the choice with the bound or with all splits."""
    request = pool.request
    began = time.process_time()
    plan = make_plan(request, only_best=True)
    planning_seconds = time.process_time() - began
    best = plan.best
    seconds, bound_share = best.split_result.batch_seconds, plan.bound_share(best)
    best_seconds, num_left = None, 0
    if bound_share < PROMISED[pool.promise]:
        best_seconds, num_left = best_of_all_splits(request, seconds)
    return PoolShare(
        seed=pool.seed,
        promise=pool.promise,
        max_staleness=pool.max_staleness,
        num_lanes=pool.num_lanes,
        num_kinds=len(request.limits().kinds.number),
        mode=next(mode for mode, choice in plan.by_mode.items() if choice is best),
        batch_seconds=seconds,
        bound_share=bound_share,
        best_seconds=best_seconds,
        num_left=num_left,
        planning_seconds=round(planning_seconds, 3),
    )


def share_of_seed(seed: int) -> PoolShare:
    """The same for the pool of a seed."""
    return pool_share(random_pool(seed))


# --- the best of all splits -------------------------------------------------------------------------------------------


def best_of_all_splits(request: PlanRequest, to_beat: float) -> tuple[float, int]:
    """The least seconds of a batch of any mode and split by simulation, without lending by search, at most `to_beat`;
    and how many entries that may be faster were left out, because simulating all takes too long."""
    simulations = SplitSimulations(
        request.work, request.costs, request.limits().kinds, advantage_std=request.advantage_std
    )
    best, left = to_beat, 0
    for limit, split, settings in sorted(_entries(request), key=lambda entry: entry[0]):
        if limit >= (1 - _GAIN) * best:
            break
        if simulations.spent >= _MAX_FRAGMENTS:
            left += 1
        elif simulations.seconds(split, settings) < (1 + _NEAR) * best:
            result = simulations.result_at_length(split, settings)
            assert result is not None
            best = min(best, result.batch_seconds)
    return best, left


def _entries(request: PlanRequest) -> Iterator[tuple[float, Split, PipelineSpec]]:
    """(limit, split, settings) of everything that a plan may choose."""
    limits = request.limits()
    for mode in allowed_modes(request.wanted):
        for settings in mode.settings(request.wanted):
            if settings.tag is TrainerAssist.SEARCH:
                continue
            lends = mode.is_colocated or settings.trainers_generate
            found = limits.limits(mode, lends=lends)
            if not mode.is_colocated and math.prod((limits.kinds.number + 1).tolist()) <= _MAX_SPLITS:
                found = dict(_limits_of_all(request, mode, lends=lends))
            for split, limit in found.items():
                yield limit, split, settings


def _limits_of_all(request: PlanRequest, mode: PlanningMode, *, lends: bool) -> Iterator[tuple[Split, float]]:
    """The limit of every split that fits in memory."""
    limits = request.limits()
    trainers = every_split(limits.kinds)
    for size in request.fragment_sizes:
        kinds = limits.kinds_for(size, mode.max_staleness)
        of_size = trainers[kinds.fit(trainers, lends=lends)]
        if len(of_size):
            seconds = batch_limits(
                request.work.with_fragment_size(size).algebra,
                limits.expected_costs,
                kinds,
                of_size,
                mode.rules(request.advantage_std, lends=lends, equal_counts=request.costs.equal_counts),
            )
            for split, limit in zip(of_size.tolist(), seconds.tolist(), strict=True):
                if math.isfinite(limit):
                    yield Split(tuple(split), size), limit


# --- the report -------------------------------------------------------------------------------------------------------


def distribution(shares: Sequence[PoolShare]) -> dict[str, Any]:
    """How shares are distributed, and the seeds of the five least."""
    values = sorted(row.share for row in shares)
    worst = sorted(shares, key=lambda row: row.share)[:5]
    return {
        "num_pools": len(shares),
        "min": values[0],
        "percentile_1": _quantile(values, 0.01),
        "percentile_5": _quantile(values, 0.05),
        "median": statistics.median(values),
        "num_short": sum(row.share < PROMISED[row.promise] for row in shares),
        "num_broken": sum(row.is_broken for row in shares),
        "num_unproven": sum(not row.is_kept and not row.is_broken for row in shares),
        "worst": [(row.seed, row.share, row.share_of_all) for row in worst],
    }


def distributions(shares: Sequence[PoolShare]) -> dict[str, dict[str, Any]]:
    """The same by what is promised and by staleness."""
    by_kind: dict[str, list[PoolShare]] = {}
    for row in sorted(shares, key=lambda row: (list(PROMISED).index(row.promise), row.max_staleness)):
        by_kind.setdefault(f"{row.promise}, staleness {row.max_staleness}", []).append(row)
    return {name: distribution(rows) for name, rows in by_kind.items()}


def distribution_line(name: str, found: Mapping[str, Any]) -> str:
    worst = ", ".join(f"{seed}: {share:.1%}" for seed, share, _ in found["worst"])
    return (
        f"{name:20} {found['num_pools']:4d} pools: least {found['min']:6.1%}, 1 % {found['percentile_1']:6.1%}, 5 % "
        f"{found['percentile_5']:6.1%}, median {found['median']:6.1%}; {found['num_short']} below that share, of these "
        f"{found['num_broken']} with a split more than 3 % faster, {found['num_unproven']} not all simulated; worst by "
        f"seed {worst}"
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of them are at most, interpolated."""
    return float(np.quantile(ordered, share))
