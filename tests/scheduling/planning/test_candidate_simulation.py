"""A candidate's simulated run goes on where more of its batches are measured."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.random_pools import random_pool
from tests.scheduling.planning.synthetic_pools import OPPOSITE_TALENTS, pool, request_for
from worker.contracts.names import TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import Candidate, CandidateSimulation, simulate_candidate
from worker.scheduling.planning.planner import PlanRequest

NUM_SEEDS = 1_000
"""Random pools that are drawn from."""


def candidate_of(request: PlanRequest, num_trainer: int, tag: TrainerAssist, max_staleness: int) -> Candidate:
    pipeline = {"placement": "disaggregated", "gap": True, "tsp": True, "tag": tag, "max_staleness": max_staleness}
    return Candidate(
        pipeline=PipelineSpec.model_validate(pipeline),
        trainers=tuple(range(num_trainer)),
        fragment_size=max(request.fragment_sizes),
    )


@settings(max_examples=15)
@given(
    seed=st.integers(0, NUM_SEEDS),
    tag=st.sampled_from([TrainerAssist.OFF, TrainerAssist.GREEDY]),
    max_staleness=st.integers(0, 1),
    lengths=st.lists(st.integers(1, 5), min_size=2, max_size=3, unique=True).map(sorted),
)
def test_a_simulation_that_goes_on_finds_what_one_of_that_length_finds(
    seed: int, tag: TrainerAssist, max_staleness: int, lengths: list[int]
) -> None:
    request = random_pool(seed).request
    candidate = candidate_of(request, max(1, len(request.devices) // 2), tag, max_staleness)
    simulation = CandidateSimulation(request.work, request.costs, candidate, advantage_std="group", with_shares=False)
    for num_batches in lengths:
        anew = simulate_candidate(
            request.work,
            request.costs,
            candidate,
            advantage_std="group",
            num_batches=num_batches,
            with_shares=False,
        )
        assert simulation.measure(num_batches) == anew


def test_a_simulation_does_not_go_back_and_does_not_go_on_with_spans_that_were_ended() -> None:
    request = request_for(pool(OPPOSITE_TALENTS, [1, 1, 1]))
    candidate = candidate_of(request, 1, TrainerAssist.OFF, 0)
    simulation = CandidateSimulation(request.work, request.costs, candidate, advantage_std="group", with_shares=False)
    simulation.measure(2)
    with pytest.raises(ValueError, match="`num_batches` must be ≥ 2"):
        simulation.measure(1)
    with_shares = CandidateSimulation(request.work, request.costs, candidate, advantage_std="group")
    with_shares.measure(1)
    with pytest.raises(ValueError, match="`record` must be absent"):
        with_shares.measure(2)
