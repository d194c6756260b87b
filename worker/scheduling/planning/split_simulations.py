"""Simulations of the splits of one pool, each made once.

    (split by kinds, `pipeline` settings) ──► Candidate on the lanes in order of their kinds ──► CandidateResult, kept
                                                                                     goes on for more of its batches

Invariant: no batch of a split is simulated twice with the same settings, but for splits that were far from the fastest,
and a result does not depend on the order in which lanes are listed.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from worker.contracts.names import TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import (
    Candidate,
    CandidateResult,
    CandidateSimulation,
    SearchTooLongError,
    num_measured_batches,
    num_warm_up_batches,
)
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.mode_limits import Split
from worker.scheduling.planning.workload import Workload

# What is said of plans below was measured on 12 cases of `tests.bench.pipeline` (testbeds B and A+C, and FLUX and
# Qwen-Image on A and C), by simulating 16 batches of each plan's best, lending and staleness 1 candidates.
_NUM_BATCHES_AHEAD = 4
"""Batches measured in a simulation at staleness 1, where they take different times; at staleness 0 one is enough. With
1 plans are up to 2.2 % slower; with 8 no better, in 10 % more time."""
_NUM_BATCHES_AHEAD_OF_MANY = 2
"""The same in pools of more than `_MANY_LANES`, where a batch takes as many times longer to simulate."""
_MANY_LANES = 64
"""Lanes from which on a batch holds so many fragments that chance decides less, and few can be simulated."""
_NUM_BATCHES_AT_LENGTH = (12, 8, 6)
"""The same for finalists: the first of these that may be spent. They are even, since at staleness 1 short and long
batches may alternate. With 4 instead of 12 plans are up to 1.2 % slower, and their predictions are off by 0.3 % on
average instead of 0.2 %; with 24 no better, in 15 % more time."""
_NUM_SEARCHING_BATCHES_AT_LENGTH = (6,)
"""The same with lending by search, which takes many times longer."""
_NUM_LENDING_BATCHES_AT_LENGTH = (4, 2, 1)
"""The same for finalists at staleness 0 that lend. Which lane takes the last fragment may hang on a rounding there, and
one of 9 lanes of three kinds takes 165 s or 231 s for the same batch."""
_NUM_OPEN = 6
"""Of each settings' short simulations, the fastest that are kept to go on: as many as there are finalists. Each holds
some kilobytes for a lane."""
_MICRO_BATCHES_PER_FRAGMENT = 24
"""Micro-batches that take as long to simulate as a fragment: 2.5 and 60 µs of one core, with 64 micro-batches a group
and 256 lanes."""
_SEARCH_SIZE_PER_FRAGMENT = 75
"""Size of forecasts, as `Search` counts it, that takes as long as the simulation of a fragment: 0.8 and 60 µs of one
core, in pools of 8 to 200 lanes. A simulation with lending by search takes 3 to 120 times as long as one without."""


class SplitSimulations:
    """Results by split and settings."""

    def __init__(
        self, work: Workload, costs: PoolCosts, kinds: LaneKinds, *, advantage_std: Literal["group", "batch"]
    ) -> None:
        self._work = work
        self._advantage_std = advantage_std
        # The scheduler asks lanes in the order of their names, so lanes are named kind by kind here.
        self._kinds = kinds
        lanes = np.argsort(kinds.of_lane, kind="stable")
        self._first_of_kind = np.cumsum(kinds.number) - kinds.number
        self._costs = replace(costs, lanes=tuple(costs.lanes[lane] for lane in lanes))
        self._num_ahead = _NUM_BATCHES_AHEAD_OF_MANY if len(costs.lanes) > _MANY_LANES else _NUM_BATCHES_AHEAD
        self._results: dict[tuple[Split, PipelineSpec], CandidateResult] = {}
        self._at_length: set[tuple[Split, PipelineSpec]] = set()
        self._open: dict[tuple[Split, PipelineSpec], CandidateSimulation] = {}
        """Short simulations that may go on."""
        self.spent = 0
        """Fragments that results rest on so far, which is what simulating costs time for; micro-batches and forecasts
        count as the fragments that take as long. Of a simulation that goes on all batches count, so that what is
        searched does not depend on which were kept open."""

    @property
    def num_lanes(self) -> int:
        return self._kinds.num_lanes

    def result(self, split: Split, settings: PipelineSpec) -> CandidateResult:
        """The result of a short simulation, or of a long one if there was one."""
        if (split, settings) not in self._results:
            self._simulate(split, settings, self._num_short(settings))
            self._keep_fastest_open(settings)
        return self._results[split, settings]

    def seconds(self, split: Split, settings: PipelineSpec) -> float:
        """The seconds of a batch, as in `result`."""
        return self.result(split, settings).batch_seconds

    def result_at_length(
        self, split: Split, settings: PipelineSpec, *, may_spend: float = math.inf
    ) -> CandidateResult | None:
        """The result of a simulation of as many batches as a promise needs, or as many fewer as may be spent; without
        lending all batches at staleness 0 are alike. `None` where not even the fewest may be spent."""
        if (split, settings) not in self._at_length:
            num_short = self._num_short(settings) if (split, settings) in self._results else 0
            for num_batches in _numbers_at_length(settings):
                price = 0 if num_batches <= num_short else self.price(split, settings, num_batches)
                if price > max(0.0, may_spend):
                    continue
                if price and not self._simulate(split, settings, num_batches, may_spend):
                    return None
                self._open.pop((split, settings), None)
                self._at_length.add((split, settings))
                break
            else:
                return None
        return self._results[split, settings]

    def fastest(self, settings: Sequence[PipelineSpec]) -> list[tuple[Split, PipelineSpec]]:
        """The splits simulated with any of these settings, the fastest first."""
        tried = [entry for entry in self._results if entry[1] in settings]
        return sorted(tried, key=lambda entry: self._results[entry].batch_seconds)

    def fastest_at_length(self, settings: Sequence[PipelineSpec]) -> tuple[Split, PipelineSpec] | None:
        """The fastest of those simulated at length, if any was."""
        return next((entry for entry in self.fastest(settings) if entry in self._at_length), None)

    def is_at_length(self, split: Split, settings: PipelineSpec) -> bool:
        return (split, settings) in self._at_length

    def price(self, split: Split, settings: PipelineSpec, num_batches: int | None = None) -> int:
        """What a simulation of so many measured batches, or else a short one, adds to `spent`; with lending by search
        it adds what its forecasts take, too."""
        algebra = self._work.algebra
        num_micro_batches = algebra.num_micro_batches_per_optimizer_step * algebra.num_optimizer_steps_per_batch
        size = algebra.num_trajectories // split.fragment_size + num_micro_batches // _MICRO_BATCHES_PER_FRAGMENT
        asked = self._num_short(settings) if num_batches is None else num_batches
        number = num_measured_batches(self._work, asked)
        return size * _num_batches_in_all(settings, number)

    def num_batches(self, settings: PipelineSpec) -> int:
        """Batches of a short simulation, those before and after the measured ones included."""
        return _num_batches_in_all(settings, self._num_short(settings))

    def _num_short(self, settings: PipelineSpec) -> int:
        """Measured batches of a short simulation."""
        return self._num_ahead if settings.max_staleness else 1

    def candidate(self, split: Split, settings: PipelineSpec) -> Candidate:
        """The candidate for the pool as it is listed: of each kind the first lanes train."""
        trainers = self._kinds.first_lanes(split.trainers)
        return Candidate(pipeline=settings, trainers=trainers, fragment_size=split.fragment_size)

    def _trainers(self, split: Split) -> tuple[int, ...]:
        """Indices among the lanes in order of their kinds."""
        ranges = zip(self._first_of_kind.tolist(), split.trainers, strict=True)
        return tuple(index for first, number in ranges for index in range(first, first + number))

    def _simulate(self, split: Split, settings: PipelineSpec, num_batches: int, may_spend: float = math.inf) -> bool:
        """Keep the result of a simulation, which goes on where it is open, unless its forecasts take more than may be
        spent; whether it was kept."""
        price, simulation = self.price(split, settings, num_batches), self._open.pop((split, settings), None)
        forecast = 0 if simulation is None else self._results[split, settings].search_size
        try:
            simulation = simulation or self._simulation(split, settings)
            left = max(0.0, may_spend - price)
            result = simulation.measure(num_batches, max_search_size=forecast + _SEARCH_SIZE_PER_FRAGMENT * left)
        except SearchTooLongError:
            self.spent += round(may_spend)
            return False
        self.spent += price + (result.search_size - forecast) // _SEARCH_SIZE_PER_FRAGMENT
        self._results[split, settings], self._open[split, settings] = result, simulation
        return True

    def _simulation(self, split: Split, settings: PipelineSpec) -> CandidateSimulation:
        return CandidateSimulation(
            self._work.with_fragment_size(split.fragment_size),
            self._costs,
            Candidate(pipeline=settings, trainers=self._trainers(split), fragment_size=split.fragment_size),
            advantage_std=self._advantage_std,
            with_shares=False,
        )

    def _keep_fastest_open(self, settings: PipelineSpec) -> None:
        """Drop the slowest of these settings' open simulations where there are too many."""
        of_settings = [entry for entry in self._open if entry[1] == settings]
        if len(of_settings) > _NUM_OPEN:
            del self._open[max(of_settings, key=lambda entry: self._results[entry].batch_seconds)]


def _num_batches_in_all(settings: PipelineSpec, num_measured: int) -> int:
    """The measured batches, those before, and for each unit of staleness one that is generated meanwhile."""
    return num_measured + num_warm_up_batches(settings) + settings.max_staleness


def _numbers_at_length(settings: PipelineSpec) -> tuple[int, ...]:
    """The numbers of measured batches that a promise may rest on, the best first."""
    searches = settings.tag is TrainerAssist.SEARCH
    if settings.max_staleness:
        return _NUM_SEARCHING_BATCHES_AT_LENGTH if searches else _NUM_BATCHES_AT_LENGTH
    return _NUM_LENDING_BATCHES_AT_LENGTH if settings.trainers_generate and not searches else (1,)
