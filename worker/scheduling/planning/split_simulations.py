"""Simulations of the splits of one pool, each made once.

    (split by kinds, `pipeline` settings) ──► Candidate on the lanes in order of their kinds ──► CandidateResult, kept

Invariant: no split is simulated twice with the same settings and length, and a result does not depend on the order in
which lanes are listed.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from worker.contracts.names import TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import Candidate, CandidateResult, simulate_candidate
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.mode_limits import Split
from worker.scheduling.planning.workload import Workload

# What is said of plans below was measured on 12 cases of `tests.bench.pipeline` (testbeds B and A+C, and FLUX and
# Qwen-Image on A and C), by simulating 16 batches of each plan's best, lending and staleness 1 candidates.
_NUM_BATCHES_AHEAD = 4
"""Batches measured in a simulation at staleness 1, where they take different times; at staleness 0 one is enough. With
1 plans are up to 2.2 % slower; with 8 no better, in 10 % more time."""
_NUM_BATCHES_AT_LENGTH = 12
"""The same for finalists. With 4 plans are up to 1.2 % slower, and their predictions are off by 0.3 % on average
instead of 0.2 %; with 24 no better, in 15 % more time."""

_SEARCH_PRICE = 40
"""Fragments of a simulation without lending by search that take as long as one with it, in pools of 8 to 48 lanes."""


class SplitSimulations:
    """Results by split and settings."""

    def __init__(
        self, work: Workload, costs: PoolCosts, kinds: LaneKinds, *, advantage_std: Literal["group", "batch"]
    ) -> None:
        self._work = work
        self._advantage_std = advantage_std
        # The scheduler asks lanes in the order of their names, so lanes are named kind by kind here.
        self._lanes = np.argsort(kinds.of_lane, kind="stable")
        self._first_of_kind = np.cumsum(kinds.number) - kinds.number
        self._costs = replace(costs, lanes=tuple(costs.lanes[lane] for lane in self._lanes))
        self._results: dict[tuple[Split, PipelineSpec], CandidateResult] = {}
        self._at_length: set[tuple[Split, PipelineSpec]] = set()
        self.spent = 0
        """Fragments simulated so far, which is what simulating costs time for."""

    def result(self, split: Split, settings: PipelineSpec) -> CandidateResult:
        """The result of a short simulation, or of a long one if there was one."""
        if (split, settings) not in self._results:
            num_batches = _NUM_BATCHES_AHEAD if settings.max_staleness else 1
            self._results[split, settings] = self._simulated(split, settings, num_batches)
        return self._results[split, settings]

    def seconds(self, split: Split, settings: PipelineSpec) -> float:
        """The seconds of a batch, as in `result`."""
        return self.result(split, settings).batch_seconds

    def result_at_length(self, split: Split, settings: PipelineSpec) -> CandidateResult:
        """The result of a simulation of as many batches as a promise needs; at staleness 0 all are alike."""
        if (split, settings) not in self._at_length:
            if settings.max_staleness:
                self._results[split, settings] = self._simulated(split, settings, _NUM_BATCHES_AT_LENGTH)
            self._at_length.add((split, settings))
        return self.result(split, settings)

    def fastest(self, settings: Sequence[PipelineSpec]) -> list[tuple[Split, PipelineSpec]]:
        """The splits simulated with any of these settings, the fastest first."""
        tried = [entry for entry in self._results if entry[1] in settings]
        return sorted(tried, key=lambda entry: self._results[entry].batch_seconds)

    def fastest_at_length(self, settings: Sequence[PipelineSpec]) -> tuple[Split, PipelineSpec] | None:
        """The fastest of those simulated at length, if any was."""
        return next((entry for entry in self.fastest(settings) if entry in self._at_length), None)

    def is_at_length(self, split: Split, settings: PipelineSpec) -> bool:
        return (split, settings) in self._at_length

    def price(self, split: Split, settings: PipelineSpec) -> int:
        """What a simulation at length would add to `spent`: nothing where a short one was made and is as good."""
        if (split, settings) in self._results and not settings.max_staleness:
            return 0
        return self._price(split, settings, _NUM_BATCHES_AT_LENGTH if settings.max_staleness else 1)

    def _price(self, split: Split, settings: PipelineSpec, num_batches: int) -> int:
        num_fragments = self._work.algebra.num_trajectories // split.fragment_size
        factor = _SEARCH_PRICE if settings.tag is TrainerAssist.SEARCH else 1
        return factor * num_fragments * _num_batches_in_all(settings, num_batches)

    def num_batches(self, settings: PipelineSpec) -> int:
        """Batches of a short simulation, those before and after the measured ones included."""
        return _num_batches_in_all(settings, _NUM_BATCHES_AHEAD if settings.max_staleness else 1)

    def candidate(self, split: Split, settings: PipelineSpec) -> Candidate:
        """The candidate for the pool as it is listed: of each kind the first lanes train."""
        trainers = tuple(sorted(int(self._lanes[index]) for index in self._trainers(split)))
        return Candidate(pipeline=settings, trainers=trainers, fragment_size=split.fragment_size)

    def _trainers(self, split: Split) -> tuple[int, ...]:
        """Indices among the lanes in order of their kinds."""
        ranges = zip(self._first_of_kind.tolist(), split.trainers, strict=True)
        return tuple(index for first, number in ranges for index in range(first, first + number))

    def _simulated(self, split: Split, settings: PipelineSpec, num_batches: int) -> CandidateResult:
        self.spent += self._price(split, settings, num_batches)
        return simulate_candidate(
            self._work.with_fragment_size(split.fragment_size),
            self._costs,
            Candidate(pipeline=settings, trainers=self._trainers(split), fragment_size=split.fragment_size),
            advantage_std=self._advantage_std,
            num_batches=num_batches,
            with_shares=False,
        )


def _num_batches_in_all(settings: PipelineSpec, num_measured: int) -> int:
    """The measured batches, one to warm up, and for each unit of staleness one more before and after."""
    return num_measured + 1 + 2 * settings.max_staleness
