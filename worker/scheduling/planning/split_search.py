"""Finds the best split of a pool for one mode: closed-form limits choose the start, simulations the direction.

    every (fragment size, order of kinds, number of trainer lanes) ─► limit ─► the best ─► simulate, move to neighbours
                                                                               while that makes batches shorter

With lanes of several kinds, those that train are the first ones in some order of kinds: the gang is as slow as its
slowest lane, so mixing kinds is worth it only where one kind is used up. Invariant: no split is simulated twice with
the same settings and length, and none is offered whose lanes do not fit in memory.
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

# What is said of plans below was measured on 12 cases of `tests.bench.pipeline` (testbeds B and A+C, and FLUX and
# Qwen-Image on A and C), by simulating 16 batches of each plan's best, lending and staleness 1 candidates.
_NUM_FRAGMENT_SIZES_TRIED = 3
"""The fragment sizes with the best limits, from each of which a search starts. With 1 plans are up to 5.5 % slower, in
a third of the time; with 6 one is 1.4 % faster, in 70 % more time."""
_MAX_SIMULATED_LANES = 64
"""Beyond this, a plan rests on the limits alone, because simulating takes longer than a user waits for a page: 12 to
18 s of one core for 64 lanes, 32 s for 128."""
_MAX_ORDERS = 6
"""Orders of kinds of lanes that are tried: all orders of up to three kinds."""
_NUM_BATCHES_AHEAD = 4
"""Batches measured in a simulation at staleness 1, where they take different times; at staleness 0 one is enough. With
1 plans are up to 2.2 % slower; with 8 no better, in 10 % more time."""
_NUM_BATCHES_AT_LENGTH = 12
"""The same for finalists. With 4 plans are up to 1.2 % slower, and their predictions are off by 0.3 % on average
instead of 0.2 %; with 24 no better, in 15 % more time."""
_NUM_FINALISTS = 6
"""The fastest splits of a mode, which are simulated at length because in a few batches chance decides between close
ones. With 1 plans are up to 1.2 % slower; with 20 they are the same."""
_SAME = 1e-6
"""Relative difference of a simulated time and an equal limit by rounding, with room to spare."""
_NEAR = 0.03
"""Relative difference within which limits do not distinguish splits. With 0 plans are up to 1.1 % slower or faster,
0.04 % slower on average; with 0.1 they are up to 1.8 % slower, 0.2 % on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPoint:
    """The best split with one number of trainer lanes."""

    num_trainer: int
    batch_seconds: float
    is_simulated: bool
    """Whether `batch_seconds` is simulated; otherwise it is the limit, which no schedule of that mode and split
    beats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """The best split of one mode."""

    candidate: Candidate
    batch_seconds: float
    result: CandidateResult | None
    """`None` for pools too large to simulate; `batch_seconds` is then the limit."""


@dataclass(frozen=True, slots=True)
class _Split:
    """A split: the first `num_trainer` lanes in one order of the pool train."""

    order: int
    """The index of the order."""
    num_trainer: int
    fragment_size: int


class SplitSearch:
    """Searches the splits of one pool, for one mode after the other."""

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
        """
        Args:
            devices: the device of each lane of the pool.
            size_is_known: whether the model has a profile of its own; otherwise every lane is assumed to have memory
                for it, because an assumed size must not rule out a split.
        """
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
        self._limits_by_mode: dict[tuple[PlanningMode, bool], dict[_Split, float]] = {}
        self._simulated: dict[tuple[_Split, PipelineSpec], CandidateResult] = {}
        self._at_length: set[tuple[_Split, PipelineSpec]] = set()

    @property
    def simulates(self) -> bool:
        """Whether the pool is small enough to simulate its splits."""
        return len(self._costs.lanes) <= _MAX_SIMULATED_LANES

    def least_seconds(self, mode: PlanningMode) -> float:
        """Seconds of a batch that no split of this mode beats; infinite where no split fits in memory."""
        return min(self._limits(mode, lends=mode.always_lends).values(), default=math.inf)

    def find(self, mode: PlanningMode, wanted: PipelineSpec) -> SplitResult | None:
        """The best split of this mode; `None` where no split of it fits in memory."""
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
            # A split whose limit is above the best result so far cannot be the best: it needs no longer simulation.
            if limits[split] <= (1 + _SAME) * least:
                self._simulate_at_length(split, other)
                least = min(least, self._seconds(split, other))
        best = next(entry for entry in self._fastest(settings) if entry in self._at_length)
        result = self._simulated[best]
        return SplitResult(candidate=self._candidate(*best), batch_seconds=result.batch_seconds, result=result)

    def _fastest_by_limit(self, mode: PlanningMode, settings: Sequence[PipelineSpec]) -> SplitResult:
        limits = self._limits(mode, lends=mode.always_lends)
        split = min(limits, key=limits.__getitem__)
        # The last setting that fits lends by search where it can: the run itself then finds out whether lending pays.
        usable = [other for other in settings if split in self._limits(mode, lends=other.trainers_generate)]
        return SplitResult(candidate=self._candidate(split, usable[-1]), batch_seconds=limits[split], result=None)

    def curve(self, mode: PlanningMode, wanted: PipelineSpec) -> tuple[SplitPoint, ...]:
        """The best split for every number of trainer lanes that fits in memory: its simulated seconds if there are any,
        its limit otherwise."""
        points: dict[int, SplitPoint] = {}
        for split, seconds in self._limits(mode, lends=mode.always_lends).items():
            if split.num_trainer not in points or seconds < points[split.num_trainer].batch_seconds:
                points[split.num_trainer] = SplitPoint(
                    num_trainer=split.num_trainer, batch_seconds=seconds, is_simulated=False
                )
        tried = self._fastest(mode.settings(wanted))
        # A later entry replaces an earlier one of the same number: long simulations and short seconds come last.
        for entry in sorted(tried, key=lambda entry: (entry in self._at_length, -self._seconds(*entry))):
            split, seconds = entry[0], self._seconds(*entry)
            points[split.num_trainer] = SplitPoint(
                num_trainer=split.num_trainer, batch_seconds=seconds, is_simulated=True
            )
        return tuple(points[number] for number in sorted(points))

    # --- limits -----------------------------------------------------------------------------------------------------

    def _limits(self, mode: PlanningMode, *, lends: bool) -> dict[_Split, float]:
        """The limit of every split that fits in memory, where trainer lanes generate too if it `lends`."""
        if (mode, lends) in self._limits_by_mode:
            return self._limits_by_mode[mode, lends]
        rules = mode.rules(self._advantage_std)
        num_lanes = len(self._costs.lanes)
        numbers = [num_lanes] if mode.is_colocated else list(range(1, num_lanes))
        limits = self._limits_by_mode[mode, lends] = {}
        for size, work in self._works.items():
            for order in range(1 if mode.is_colocated else len(self._orders)):
                counts = self._counts(order, numbers)
                seconds = batch_limits(work.algebra, self._costs, self._kinds[size], counts, rules)
                fits = self._fits_memory(work.at_staleness(mode.max_staleness), counts, lends=lends)
                for number, at_least, does_fit in zip(numbers, seconds.tolist(), fits, strict=True):
                    if does_fit and math.isfinite(at_least):
                        limits[_Split(order, number, size)] = at_least
        return limits

    def _counts(self, order: int, numbers: Sequence[int]) -> Counts:
        """[split, kind]: how many lanes of each kind train, if the first lanes in an order do, as many as in
        `numbers`."""
        num_kinds = int(self._of_lane.max()) + 1
        taken = np.cumsum(np.eye(num_kinds, dtype=np.int64)[self._of_lane[self._orders[order]]], axis=0)
        return np.asarray(taken[np.array(numbers, dtype=np.int64) - 1])

    def _fits_memory(self, work: Workload, counts: Counts, *, lends: bool) -> list[bool]:
        """[split]: whether every lane has memory for what it does. A trainer lane that may be lent does both."""
        if not self._size_is_known:
            return [True] * len(counts)
        role = MemoryRole.BOTH if lends else MemoryRole.TRAINER
        number = self._kinds[work.algebra.fragment_size].number
        devices = {int(kind): device for kind, device in zip(self._of_lane, self._devices, strict=True)}
        fits = np.ones(len(counts), dtype=np.bool_)
        for kind, device in devices.items():
            if not lane_memory(work, device, MemoryRole.ROLLOUT).fits(device):
                fits &= counts[:, kind] == number[kind]
            if not lane_memory(work, device, role).fits(device):
                # Sharded state may fit where there are enough ranks.
                with_ranks = [
                    lane_memory(work, device, role, num_ranks=int(num_ranks)).fits(device)
                    for num_ranks in counts.sum(axis=1)
                ]
                fits &= np.array(with_ranks) | (counts[:, kind] == 0)
        return [bool(does_fit) for does_fit in fits]

    # --- candidate simulations ---------------------------------------------------------------------------------------

    def _climb(self, starts: Sequence[_Split], settings: PipelineSpec, limits: Mapping[_Split, float]) -> None:
        """From the fastest of `starts`, move to a neighbouring number of trainers for as long as that shortens the
        batch, then halve the step."""
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
            may_be_faster = [entry for entry in neighbours if limits.get(entry, math.inf) < seconds]
            best = min([split, *may_be_faster], key=partial(self._seconds, settings=settings))
            if best == split:
                step //= 2
            split = best

    def _seconds(self, split: _Split, settings: PipelineSpec) -> float:
        return self._simulate(split, settings).batch_seconds

    def _fastest(self, settings: Sequence[PipelineSpec]) -> list[tuple[_Split, PipelineSpec]]:
        """The splits simulated with any of these settings, the fastest first."""
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
    """For each of the best fragment sizes, splits to start from: of those whose limit is near that size's best, the one
    with the middle, the fewest and the most trainers. The limits of modes that lend hardly differ between splits, so
    the best of them alone says little."""
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
