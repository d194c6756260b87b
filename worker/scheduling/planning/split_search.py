"""Finds the best split of a pool for one mode: limits choose the start, simulations the direction.

    splits proposed for every fragment size, with limits ─► those with the best limits ─► simulate, move to neighbours
                                                                                          while that shortens batches

A search ends where a simulated batch is as short as the limits allow. Invariant: the choice depends on how many lanes
of each kind there are, not on the order in which they are listed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from worker.contracts.names import TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import Candidate, CandidateResult
from worker.scheduling.planning.mode_limits import ModeLimits, Split
from worker.scheduling.planning.modes import PlanningMode
from worker.scheduling.planning.split_climbs import Goal, climb
from worker.scheduling.planning.split_neighbours import starts_of_climbs
from worker.scheduling.planning.split_simulations import SplitSimulations

# What is said of plans below was measured on 12 cases of `tests.bench.pipeline` (testbeds B and A+C, and FLUX and
# Qwen-Image on A and C), by simulating 16 batches of each plan's best, lending and staleness 1 candidates.
MAX_SIMULATED_LANES = 512
"""Beyond this, a plan rests on estimates from the limits, because one simulation of each mode takes longer than a user
waits for a page. At 512 lanes with 8 fragments each, one batch takes a quarter of a second of one core, and a plan
simulates a dozen of them."""
_MIN_EFFORT = 2
"""The least effort of a setting, in batches: at staleness 0 one batch tells a split's seconds, but one split is no
comparison."""
_NUM_FINALISTS = 6
"""The fastest splits of a mode, which are simulated at length because in a few batches chance decides between close
ones. With 1 plans are up to 1.2 % slower; with 20 they are the same."""
_SAME = 1e-6
"""Relative difference of a simulated time and an equal limit by rounding, with room to spare."""
_CLOSE = 0.001
"""Relative difference to the least limit at which a mode is not searched any further: no other split gains more."""
_WORTH_A_SEARCH = 0.01
"""What a mode must be able to gain over the fastest of all modes before lending by search is simulated, which takes up
to a hundred times as long as greedy lending."""
_SHARE_FOR_SEARCH = 0.5
"""The share of what is left of a plan's budget that lending by search may take in one mode: its forecasts take 2 to 100
times as long as the simulation itself, and it ends without a result where they take more."""
_NUM_SEARCHED = 2
"""Of the splits that are fastest without lending by search, the numbers of trainers with which it is simulated, as far
as this share reaches."""
_FRAGMENTS_PER_CUBE = 2
"""Fragments simulated for one plan, for each cubed number of lanes and each kind: splits, the simulations between two
of them and the fragments of a batch grow with lanes. A core simulates 5,000 to 10,000 a second with their training.
With 4 a plan of `tests.bench.any_pool` is at most 0.4 % faster."""
_MIN_FRAGMENTS = 1_000
"""The fewest of them, for each kind: less than a tenth of a second of one core."""
_MAX_FRAGMENTS_TO_SEARCH = 24_000
"""The most of them: 2 to 4 s of one core."""
MAX_FRAGMENTS = 36_000
"""The most of them where one simulation of each mode takes more, as it does with 512 lanes: 3 to 4.5 s of one core, so
that with the limits a plan takes 5."""
_SHARE_OF_CLIMBS = 0.6
"""Of the fragments that may be simulated for a mode, the share for climbs; the rest is for finalists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPoint:
    """The best split with one number of trainer lanes."""

    num_trainer: int
    batch_seconds: float
    is_simulated: bool
    """Whether `batch_seconds` is simulated; otherwise it is the limit, which no schedule of that mode and split
    beats, or in pools too large to simulate an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """The best split of one mode."""

    candidate: Candidate
    batch_seconds: float
    result: CandidateResult | None
    """`None` for pools and batches too large to simulate; `batch_seconds` is then an estimate."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A split and its settings, without lending by search, that are likely to be good."""

    split: Split
    settings: PipelineSpec


class SplitSearch:
    """Searches the splits of one pool, for one mode after the other."""

    def __init__(self, limits: ModeLimits, *, max_fragments: int = MAX_FRAGMENTS, searches: bool = True) -> None:
        """
        Args:
            max_fragments: how many may be simulated in all.
            searches: try lending by search.
        """
        self._searches = searches
        self._limits = limits
        self._max_fragments = max_fragments
        of_a_kind = max(_MIN_FRAGMENTS, _FRAGMENTS_PER_CUBE * limits.kinds.num_lanes**3)
        self._budget = min(max_fragments, _MAX_FRAGMENTS_TO_SEARCH, of_a_kind * limits.kinds.number.size)
        self._simulations = SplitSimulations(
            limits.work, limits.costs, limits.kinds, advantage_std=limits.advantage_std
        )

    @property
    def simulates(self) -> bool:
        """Whether the pool is small enough to simulate its splits."""
        return self._limits.kinds.num_lanes <= MAX_SIMULATED_LANES

    def least_seconds(self, mode: PlanningMode) -> float:
        """Seconds of a batch that no split of this mode beats; infinite where no split fits in memory."""
        return self._limits.least_seconds(mode)

    def widen(self) -> bool:
        """Let the search go on with as many fragments as large pools have; whether these are more."""
        is_more = self._budget < min(self._max_fragments, _MAX_FRAGMENTS_TO_SEARCH)
        self._budget = max(self._budget, min(self._max_fragments, _MAX_FRAGMENTS_TO_SEARCH))
        return is_more

    def _settings(self, mode: PlanningMode, wanted: PipelineSpec) -> list[PipelineSpec]:
        return [other for other in mode.settings(wanted) if self._searches or not _is_costly_to_simulate(other)]

    def effort(self, mode: PlanningMode, wanted: PipelineSpec) -> int:
        """Batches that are simulated to compare this mode's settings on some splits, without lending by search."""
        settings = [other for other in self._settings(mode, wanted) if not _is_costly_to_simulate(other)]
        return sum(max(_MIN_EFFORT, self._simulations.num_batches(other)) for other in settings)

    def find(
        self,
        mode: PlanningMode,
        wanted: PipelineSpec,
        *,
        to_beat: float = math.inf,
        share: float = 1.0,
    ) -> SplitResult | None:
        """The best split of this mode; `None` where no split of it fits in memory.

        Args:
            to_beat: the seconds of a batch in another mode; what takes long to simulate is not, where this mode can
                hardly be faster.
            share: how much of what is left of the plan's simulated fragments this mode may use.
        """
        least, spent = self.least_seconds(mode), self._simulations.spent
        if math.isinf(least):
            return None
        settings = sorted(self._settings(mode, wanted), key=_is_costly_to_simulate)
        may_spend = max(0.0, share * (self._budget - spent))
        if not self._may_simulate(mode, settings):
            return self._fastest_by_limit(mode, settings)
        goal = Goal((1 + _CLOSE) * least, spent + _SHARE_OF_CLIMBS * may_spend)
        cheap = [other for other in settings if not _is_costly_to_simulate(other)]
        self._climb_all(cheap, mode, goal)
        self._try_fastest_in_all(cheap, mode, spent + may_spend)
        if min(self._least(settings), to_beat) > (1 + _WORTH_A_SEARCH) * least:
            self._simulate_search(mode, settings, _SHARE_FOR_SEARCH * (self._budget - self._simulations.spent))
        self._simulate_finalists(mode, settings, Goal(goal.seconds, spent + may_spend))
        return self._best(settings)

    def try_others(self, modes: Sequence[PlanningMode], wanted: PipelineSpec) -> dict[str, SplitResult]:
        """By mode's name the best split, after simulating what climbs did not meet, what is expected to be the fastest
        first, with what is left of the budget: where a batch holds little work for each lane, neighbours differ by
        chance, and the best split may lie between slow ones. Only modes in which something was simulated."""
        settings = {mode: self._settings(mode, wanted) for mode in modes}
        tried = [mode for mode in modes if self._simulations.fastest(settings[mode])]
        fastest = min((self._least(settings[mode]) for mode in tried), default=0.0)
        others = [
            (expected, index, split, other)
            for index, mode in enumerate(tried)
            for other in settings[mode]
            if not _is_costly_to_simulate(other)
            for split, expected in self._limits.expected(mode, lends=other.trainers_generate).items()
        ]
        for _, index, split, other in sorted(others, key=lambda entry: entry[:3]):
            if self._limits.limits(tried[index], lends=other.trainers_generate)[split] >= (1 - _CLOSE) * fastest:
                continue
            left = self._budget - self._simulations.spent
            if self._simulations.price(split, other) <= left and self._simulations.seconds(split, other) < fastest:
                result = self._simulations.result_at_length(
                    split, other, may_spend=self._max_fragments - self._simulations.spent
                )
                fastest = fastest if result is None else min(fastest, result.batch_seconds)
        return {mode.name: self._best(settings[mode]) for mode in tried}

    def with_finest_fragments(
        self, mode: PlanningMode, found: SplitResult, *, only_if_faster: bool = False
    ) -> SplitResult:
        """The same split with the smallest fragments where that is as fast: a search ends where batches are as short as
        the limits allow, mostly with large ones, but with small ones a lane that turns out slower than planned holds up
        the others least. For modes at staleness 0; ahead of time lanes need not wait, and simulating takes longer.

        Args:
            only_if_faster: do not simulate what by its limit can only be as fast.
        """
        settings, kinds = found.candidate.pipeline, self._limits.kinds
        if found.result is None or _is_costly_to_simulate(settings):
            return found
        finest = Split(kinds.numbers_of(found.candidate.trainers), min(self._limits.fragment_sizes))
        limit = self._limits.limit(mode, finest, lends=settings.trainers_generate)
        if math.isinf(limit) or (only_if_faster and limit > (1 - _CLOSE) * found.batch_seconds):
            return found
        left = self._max_fragments - self._simulations.spent
        split = replace(finest, fragment_size=found.candidate.fragment_size)
        if self._simulations.is_at_length(split, settings):
            result = self._simulations.result_at_length(finest, settings, may_spend=left)
        else:
            # What rests on one batch is compared with one batch.
            is_cheap = self._simulations.price(finest, settings) <= left
            result = self._simulations.result(finest, settings) if is_cheap else None
        if result is None or result.batch_seconds > (1 + _SAME) * found.batch_seconds:
            return found
        return SplitResult(
            candidate=self._simulations.candidate(finest, settings), batch_seconds=result.batch_seconds, result=result
        )

    def try_hint(self, mode: PlanningMode, hint: Hint) -> None:
        """Propose a split, and simulate it as far as what is left of the plan's most fragments allows."""
        split, settings = hint.split, hint.settings
        self._limits.propose(mode, split)
        left = self._max_fragments - self._simulations.spent
        if split not in self._limits.limits(mode, lends=settings.trainers_generate):
            return
        # Batches differ much at staleness 1, and this may be the only split that is simulated.
        if settings.max_staleness and self._simulations.result_at_length(split, settings, may_spend=left):
            return
        if self._simulations.price(split, settings) <= left:
            self._simulations.result(split, settings)

    def _may_simulate(self, mode: PlanningMode, settings: Sequence[PipelineSpec]) -> bool:
        """Whether some split is simulated already, or the pool is small enough and what is left of the plan's most
        fragments is enough for one."""
        if self._simulations.fastest(settings):
            return True
        left = self._max_fragments - self._simulations.spent
        return self.simulates and any(
            self._simulations.price(split, other) <= left
            for other in settings
            for split in self._limits.limits(mode, lends=other.trainers_generate)
        )

    def _simulate_search(self, mode: PlanningMode, settings: Sequence[PipelineSpec], may_spend: float) -> None:
        """Simulate lending by search, where it is among the settings, with the trainers of the fastest splits of the
        others in fragments of each size: few large ones come first, which take the fewest forecasts."""
        may_reach = self._simulations.spent + may_spend
        for other in filter(_is_costly_to_simulate, settings):
            allowed = self._limits.limits(mode, lends=other.trainers_generate)
            fastest = dict.fromkeys(split.trainers for split, _ in self._simulations.fastest(settings))
            likely = set(islice(fastest, _NUM_SEARCHED))
            for split in sorted(allowed, key=lambda split: (-split.fragment_size, split)):
                left = may_reach - self._simulations.spent
                if split.trainers in likely and left > 0 and allowed[split] < self._least(settings):
                    self._simulations.result_at_length(split, other, may_spend=left)

    def _climb_all(self, settings: Sequence[PipelineSpec], mode: PlanningMode, goal: Goal) -> None:
        """Climb with each of the settings from each of the best fragment sizes, each climb with an equal part of the
        fragments that may be simulated."""
        climbs = []
        for other in settings:
            allowed = self._limits.limits(mode, lends=other.trainers_generate)
            expected = self._limits.expected(mode, lends=other.trainers_generate)
            starts = starts_of_climbs(allowed, expected, self._limits.limits(mode, lends=False))
            climbs += [(rank, other, of_size, allowed) for rank, of_size in enumerate(starts)]
        climbs.sort(key=lambda climb: climb[0])
        # In a large pool the best fragment size may be too small to simulate, and a larger one is taken.
        may_spend = goal.spent - self._simulations.spent
        cheap = [climb for climb in climbs if self._simulations.price(climb[2][0], climb[1]) <= may_spend]
        climbs = cheap or [min(climbs, key=lambda climb: self._simulations.price(climb[2][0], climb[1]))]
        for index, (_, other, of_size, allowed) in enumerate(climbs):
            spent = self._simulations.spent
            part = (goal.spent - spent) / (len(climbs) - index)
            price = self._simulations.price(of_size[0], other)
            is_needed = index == 0 and not self._simulations.fastest(settings)
            if is_needed or (self._least_at_length(settings, goal) > goal.seconds and part >= price):
                climb(self._simulations, of_size, other, allowed, Goal(goal.seconds, spent + part))

    def _try_fastest_in_all(self, settings: Sequence[PipelineSpec], mode: PlanningMode, may_reach: float) -> None:
        """Simulate the fastest split with the settings that no climb has tried it in: those whose best fragments are
        small may be left without any climb, as too long for their part."""
        fastest = self._simulations.fastest(settings)
        if not fastest:
            return
        split, _ = fastest[0]
        for other in settings:
            limit = self._limits.limits(mode, lends=other.trainers_generate).get(split, math.inf)
            left = may_reach - self._simulations.spent
            if limit < self._least(settings) and self._simulations.price(split, other) <= left:
                self._simulations.result(split, other)

    def _least_at_length(self, settings: Sequence[PipelineSpec], goal: Goal) -> float:
        """The shortest batch so far; one that is short enough by a short simulation, which may be chance, is simulated
        at length first."""
        fastest = self._simulations.fastest(settings)
        if not fastest:
            return math.inf
        split, other = fastest[0]
        if self._simulations.seconds(split, other) <= goal.seconds:
            self._simulations.result_at_length(split, other, may_spend=goal.spent - self._simulations.spent)
        return self._least(settings)

    def _simulate_finalists(self, mode: PlanningMode, settings: Sequence[PipelineSpec], goal: Goal) -> None:
        """Simulate the fastest splits at length as far as may be spent."""
        least = math.inf
        for split, other in self._simulations.fastest(settings)[:_NUM_FINALISTS]:
            # A split whose limit is above the best result so far cannot be the best: it needs no longer simulation.
            limits = self._limits.limits(mode, lends=other.trainers_generate)
            may_be_best = limits[split] <= (1 + _SAME) * least
            if may_be_best and least > goal.seconds:
                may_spend = goal.spent - self._simulations.spent
                result = self._simulations.result_at_length(split, other, may_spend=may_spend)
                least = least if result is None else min(least, result.batch_seconds)

    def _best(self, settings: Sequence[PipelineSpec]) -> SplitResult:
        """The fastest split of those simulated at length, or else of all."""
        fastest, best = self._simulations.fastest(settings)[0], self._simulations.fastest_at_length(settings)
        if best is not None and best != fastest:
            # Lending by search may have spent what finalists needed, and what it takes may be far slower.
            left = self._max_fragments - self._simulations.spent
            self._simulations.result_at_length(*fastest, may_spend=left)
        best = self._simulations.fastest_at_length(settings) or fastest
        promised = self._simulations.result(*best)
        return SplitResult(
            candidate=self._simulations.candidate(*best), batch_seconds=promised.batch_seconds, result=promised
        )

    def _fastest_by_limit(self, mode: PlanningMode, settings: Sequence[PipelineSpec]) -> SplitResult:
        # Of equal limits the last setting's counts, which lends by search where it can: the run itself then finds out
        # whether lending pays.
        least, _, split, other = min(
            (seconds, -index, split, other)
            for index, other in enumerate(settings)
            for split, seconds in self._limits.limits(mode, lends=other.trainers_generate).items()
        )
        return SplitResult(candidate=self._simulations.candidate(split, other), batch_seconds=least, result=None)

    def curve(self, mode: PlanningMode, wanted: PipelineSpec) -> tuple[SplitPoint, ...]:
        """The best split for the numbers of trainer lanes that fit in memory: its simulated seconds if there are any,
        its limit otherwise. In a large pool some numbers are left out."""
        points: dict[int, SplitPoint] = {}
        limits = [entry for lends in mode.may_lend for entry in self._limits.limits(mode, lends=lends).items()]
        for split, seconds in limits:
            if split.num_trainer not in points or seconds < points[split.num_trainer].batch_seconds:
                points[split.num_trainer] = SplitPoint(
                    num_trainer=split.num_trainer, batch_seconds=seconds, is_simulated=False
                )
        tried = [
            (*entry, self._simulations.seconds(*entry)) for entry in self._simulations.fastest(mode.settings(wanted))
        ]
        # A later entry replaces an earlier one of the same number: long simulations and short seconds come last.
        for split, _, seconds in sorted(
            tried, key=lambda entry: (self._simulations.is_at_length(entry[0], entry[1]), -entry[2])
        ):
            points[split.num_trainer] = SplitPoint(
                num_trainer=split.num_trainer, batch_seconds=seconds, is_simulated=True
            )
        return tuple(points[number] for number in sorted(points))

    def _least(self, settings: Sequence[PipelineSpec]) -> float:
        """The shortest batch simulated so far with any of these settings."""
        return min(
            (self._simulations.seconds(*entry) for entry in self._simulations.fastest(settings)), default=math.inf
        )


def _is_costly_to_simulate(settings: PipelineSpec) -> bool:
    return settings.tag is TrainerAssist.SEARCH
