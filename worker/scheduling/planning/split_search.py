"""Finds the best split of a pool for one mode: the closed-form limits say where to begin, simulations where to go.

    every (fragment size, who trains first, number of trainer lanes) ─► limit ─► the best ─► rehearse, step to the
                                                                     neighbours while that makes batches shorter

With lanes of several kinds, those that train are the first so many in some order of kinds: the gang goes at its slowest
lane's pace, so mixing kinds is worth it only where one kind is used up. Invariant: nothing is rehearsed twice, and
nothing is offered that its lanes do not hold.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, permutations
from typing import Literal

import numpy as np

from worker.contracts.names import TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import Candidate, CandidateResult, simulate_candidate
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.limits import Counts, LaneKinds, batch_limits
from worker.scheduling.planning.memory import MemoryRole, lane_memory
from worker.scheduling.planning.modes import PlanningMode
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator

_NUM_FRAGMENT_SIZES_TRIED = 3
_MAX_SIMULATED_LANES = 64
"""Beyond, a plan rests on the limits alone: rehearsing takes longer than a person waits for a page."""
_MAX_ORDERS = 6
_NUM_BATCHES_AHEAD = 4
"""Measured where batches overlap and so differ; at staleness 0 they repeat themselves."""
_NUM_BATCHES_AT_LENGTH = 12
_NUM_FINALISTS = 6
"""Rehearsed at length: in a few batches luck decides between splits that are close."""
_SAME = 1e-6
"""Relative: what rounding may make of two equal times, and more."""
_NEAR = 0.03
"""Relative: limits closer than this to the best do not tell splits apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPoint:
    """One point of a curve."""

    num_trainer: int
    batch_seconds: float
    is_simulated: bool
    """Otherwise it is the limit, which no schedule of that mode and split beats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """A mode's best."""

    candidate: Candidate
    batch_seconds: float
    result: CandidateResult | None
    """`None` for pools too large to rehearse; the seconds are then the limit's."""


@dataclass(frozen=True, slots=True)
class _Split:
    """A split: the first `num_trainer` lanes of an order train."""

    order: int
    num_trainer: int
    fragment_size: int


class SplitSearch:
    def __init__(
        self,
        work: Workload,
        costs: PoolCosts,
        devices: Sequence[Accelerator],
        *,
        fragment_sizes: Sequence[int],
        advantage_std: Literal["group", "batch"] = "group",
        size_is_known: bool = True,
    ) -> None:
        """Of a model whose size is not known, every lane is taken to hold it: a guess forbids nothing."""
        self._works = {size: work.with_fragment_size(size) for size in fragment_sizes}
        self._costs = costs
        self._devices = devices
        self._advantage_std = advantage_std
        self._size_is_known = size_is_known
        self._kinds = {size: LaneKinds.of(costs, size) for size in fragment_sizes}
        kinds = next(iter(self._kinds.values()))
        self._of_lane = np.array(kinds.of_lane)
        self._orders = [
            np.concatenate([np.flatnonzero(self._of_lane == kind) for kind in order])
            for order, _ in zip(permutations(range(kinds.number.size)), range(_MAX_ORDERS), strict=False)
        ]
        self._limits_of: dict[tuple[PlanningMode, bool], dict[_Split, float]] = {}
        self._simulated: dict[tuple[_Split, PipelineSpec], CandidateResult] = {}
        self._at_length: set[tuple[_Split, PipelineSpec]] = set()

    @property
    def simulates(self) -> bool:
        return len(self._costs.lanes) <= _MAX_SIMULATED_LANES

    def least(self, mode: PlanningMode) -> float:
        """Seconds that no split of this mode beats; infinite where none holds."""
        return min(self._limits(mode, lends=mode.always_lends).values(), default=math.inf)

    def find(self, mode: PlanningMode, wanted: PipelineSpec) -> SplitResult | None:
        """The best that this mode can do with the pool; `None` where no split of it holds."""
        if not self._limits(mode, lends=mode.always_lends):
            return None
        settings = sorted(mode.settings(wanted), key=_is_costly_to_simulate)
        if not self.simulates:
            return self._fastest_by_limit(mode, settings)
        for other in settings:
            limits = self._limits(mode, lends=other.trainers_generate)
            if _is_costly_to_simulate(other):
                fastest = (split for split, _ in self._fastest(settings) if split in limits)
                for split in islice(fastest, 1):
                    self._simulate_at_length(split, other)
            else:
                for of_size in _starts(limits):
                    self._climb(of_size, other, limits)
        limits, least = self._limits(mode, lends=mode.always_lends), math.inf
        for split, other in self._fastest(settings)[:_NUM_FINALISTS]:
            # Where not even its limit comes near what was found, its own seconds need not be known closer.
            if limits[split] <= (1 + _SAME) * least:
                self._simulate_at_length(split, other)
                least = min(least, self._seconds(split, other))
        best = next(entry for entry in self._fastest(settings) if entry in self._at_length)
        result = self._simulated[best]
        return SplitResult(candidate=self._candidate(*best), batch_seconds=result.batch_seconds, result=result)

    def _fastest_by_limit(self, mode: PlanningMode, settings: Sequence[PipelineSpec]) -> SplitResult:
        limits = self._limits(mode, lends=mode.always_lends)
        split = min(limits, key=limits.__getitem__)
        # The search decides in the run itself what a simulation would have told.
        usable = [other for other in settings if split in self._limits(mode, lends=other.trainers_generate)]
        return SplitResult(candidate=self._candidate(split, usable[-1]), batch_seconds=limits[split], result=None)

    def curve(self, mode: PlanningMode, wanted: PipelineSpec) -> tuple[SplitPoint, ...]:
        """The best of every number of trainer lanes that holds: rehearsed where it was, its limit elsewhere."""
        points: dict[int, SplitPoint] = {}
        for split, seconds in self._limits(mode, lends=mode.always_lends).items():
            if split.num_trainer not in points or seconds < points[split.num_trainer].batch_seconds:
                points[split.num_trainer] = SplitPoint(
                    num_trainer=split.num_trainer, batch_seconds=seconds, is_simulated=False
                )
        tried = self._fastest(mode.settings(wanted))
        # The last one counts: the fastest, of those rehearsed at length where there are any.
        for entry in sorted(tried, key=lambda entry: (entry in self._at_length, -self._seconds(*entry))):
            split, seconds = entry[0], self._seconds(*entry)
            points[split.num_trainer] = SplitPoint(
                num_trainer=split.num_trainer, batch_seconds=seconds, is_simulated=True
            )
        return tuple(points[number] for number in sorted(points))

    # --- limits -----------------------------------------------------------------------------------------------------

    def _limits(self, mode: PlanningMode, *, lends: bool) -> dict[_Split, float]:
        """Of every split that holds, trainer lanes that generate too where it `lends`."""
        if (mode, lends) in self._limits_of:
            return self._limits_of[mode, lends]
        limit = replace(mode.limit, overlaps=mode.limit.overlaps and self._advantage_std == "group")
        num_lanes = len(self._costs.lanes)
        numbers = [num_lanes] if mode.is_colocated else list(range(1, num_lanes))
        limits = self._limits_of[mode, lends] = {}
        for size, work in self._works.items():
            for order in range(1 if mode.is_colocated else len(self._orders)):
                counts = self._counts(order, numbers)
                seconds = batch_limits(work.algebra, self._costs, self._kinds[size], counts, limit)
                holds = self._holds(work.at_staleness(mode.max_staleness), counts, lends=lends)
                for number, at_least, does_hold in zip(numbers, seconds.tolist(), holds, strict=True):
                    if does_hold and math.isfinite(at_least):
                        limits[_Split(order, number, size)] = at_least
        return limits

    def _counts(self, order: int, numbers: Sequence[int]) -> Counts:
        """[number of trainers, kind]."""
        num_kinds = int(self._of_lane.max()) + 1
        taken = np.cumsum(np.eye(num_kinds, dtype=np.int64)[self._of_lane[self._orders[order]]], axis=0)
        return np.asarray(taken[np.array(numbers, dtype=np.int64) - 1])

    def _holds(self, work: Workload, counts: Counts, *, lends: bool) -> list[bool]:
        """Whether every lane holds its duty. A trainer lane that may be lent does both."""
        if not self._size_is_known:
            return [True] * len(counts)
        duty = MemoryRole.BOTH if lends else MemoryRole.TRAINER
        number = self._kinds[work.algebra.fragment_size].number
        devices = {int(kind): device for kind, device in zip(self._of_lane, self._devices, strict=True)}
        held = np.ones(len(counts), dtype=np.bool_)
        for kind, device in devices.items():
            if not lane_memory(work, device, MemoryRole.ROLLOUT).fits(device):
                held &= counts[:, kind] == number[kind]
            if not lane_memory(work, device, duty).fits(device):
                # Partitioned state may fit where there are enough ranks.
                fits = [lane_memory(work, device, duty, num_ranks=int(n)).fits(device) for n in counts.sum(axis=1)]
                held &= np.array(fits) | (counts[:, kind] == 0)
        return [bool(does_hold) for does_hold in held]

    # --- candidate simulations ---------------------------------------------------------------------------------------

    def _climb(self, starts: Sequence[_Split], settings: PipelineSpec, limits: Mapping[_Split, float]) -> None:
        """From the fastest of these, step to a neighbouring number of trainers for as long as that shortens the batch,
        in ever smaller steps."""
        split = starts[0]
        for start in starts[1:]:
            if limits[start] < self._seconds(split, settings) > self._seconds(start, settings):
                split = start
        self._simulate(split, settings)
        num_lanes = len(self._costs.lanes)
        step = 0 if split.num_trainer == num_lanes else max(1, num_lanes // 16)
        while step:
            seconds = self._seconds(split, settings)
            neighbours = [replace(split, num_trainer=split.num_trainer + move) for move in (-step, step)]
            worth_it = [entry for entry in neighbours if limits.get(entry, math.inf) < seconds]
            best = min([split, *worth_it], key=partial(self._seconds, settings=settings))
            if best == split:
                step //= 2
            split = best

    def _seconds(self, split: _Split, settings: PipelineSpec) -> float:
        return self._simulate(split, settings).batch_seconds

    def _fastest(self, settings: Sequence[PipelineSpec]) -> list[tuple[_Split, PipelineSpec]]:
        """What was rehearsed with these settings, the fastest first."""
        tried = [entry for entry in self._simulated if entry[1] in settings]
        return sorted(tried, key=lambda entry: self._simulated[entry].batch_seconds)

    def _simulate(self, split: _Split, settings: PipelineSpec) -> CandidateResult:
        if (split, settings) not in self._simulated:
            num_batches = _NUM_BATCHES_AHEAD if settings.max_staleness else 1
            self._simulated[split, settings] = self._result_of(split, settings, num_batches)
        return self._simulated[split, settings]

    def _simulate_at_length(self, split: _Split, settings: PipelineSpec) -> None:
        if (split, settings) in self._at_length:
            return
        if not settings.max_staleness:
            self._simulate(split, settings)
        else:
            self._simulated[split, settings] = self._result_of(split, settings, _NUM_BATCHES_AT_LENGTH)
        self._at_length.add((split, settings))

    def _result_of(self, split: _Split, settings: PipelineSpec, num_batches: int) -> CandidateResult:
        return simulate_candidate(
            self._works[split.fragment_size],
            self._costs,
            self._candidate(split, settings),
            advantage_std=self._advantage_std,
            num_batches=num_batches,
            with_shares=False,
        )

    def _candidate(self, split: _Split, settings: PipelineSpec) -> Candidate:
        trainers = self._orders[split.order][: split.num_trainer]
        return Candidate(
            pipeline=settings, trainers=tuple(sorted(trainers.tolist())), fragment_size=split.fragment_size
        )


def _starts(limits: Mapping[_Split, float]) -> list[list[_Split]]:
    """Where to begin: for each of the best fragment sizes the fewest, the most and the middle number of trainers whose
    limit is near that size's best. Limits of modes that lend are flat, so the very best says little."""
    by_size: dict[int, list[_Split]] = {}
    for split in sorted(limits, key=limits.__getitem__):
        by_size.setdefault(split.fragment_size, []).append(split)
    starts: list[list[_Split]] = []
    for splits in list(by_size.values())[:_NUM_FRAGMENT_SIZES_TRIED]:
        near = [split for split in splits if limits[split] <= (1 + _NEAR) * limits[splits[0]]]
        near.sort(key=lambda split: (split.num_trainer, limits[split]))
        starts.append(list(dict.fromkeys([near[len(near) // 2], near[0], near[-1]])))
    return starts


def _is_costly_to_simulate(settings: PipelineSpec) -> bool:
    return settings.tag is TrainerAssist.SEARCH
