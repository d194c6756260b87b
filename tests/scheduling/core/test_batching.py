"""Micro-batches: every pair is trained once, on whatever rank, and ranks stay in step."""

import math
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import SamplingSpec
from worker.scheduling.core.batching import (
    MONITORING_STRIDE,
    MicroBatch,
    monitored_indices,
    num_micro_batches,
    split_group,
    spread,
)

NUM_GROUPS = 6


@st.composite
def algebras(draw: st.DrawFn) -> BatchAlgebra:
    """Batch algebras with micro-batches smaller and larger than a group, and with few and many denoising steps."""
    batch = BatchSpec(
        num_prompts_per_batch=NUM_GROUPS,
        group_size=draw(st.integers(2, 7)),
        num_minibatches=1,
        micro_batch_size=draw(st.integers(1, 20)),
    )
    num_denoising_steps = draw(st.integers(2, 8))
    return BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=num_denoising_steps))


bundles = st.permutations(range(NUM_GROUPS)).flatmap(
    lambda groups: st.integers(1, NUM_GROUPS).map(lambda number: tuple(groups[:number]))
)
world_sizes = st.integers(1, 9)


def pairs_of(algebra: BatchAlgebra, groups: tuple[int, ...]) -> Counter[tuple[int, int]]:
    num_pairs = algebra.group_size * algebra.num_trained_denoising_steps
    return Counter((group, pair) for group in groups for pair in range(num_pairs))


def on_all_ranks(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int, *, tsp: bool
) -> list[list[MicroBatch]]:
    return [spread(algebra, groups, rank=rank, world_size=world_size, tsp=tsp) for rank in range(world_size)]


def without_padding(ranks: list[list[MicroBatch]]) -> list[MicroBatch]:
    """The micro-batches of all ranks, in the order of the ranks, without padding."""
    return [micro for rank in ranks for micro in rank if micro.weight]


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes, tsp=st.booleans())
def test_every_pair_is_trained_once_with_weight_1(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int, tsp: bool
) -> None:
    ranks = on_all_ranks(algebra, groups, world_size, tsp=tsp)
    found = Counter((micro.group, pair) for micro in without_padding(ranks) for pair in micro.pairs)
    assert found == pairs_of(algebra, groups)
    assert {micro.weight for rank in ranks for micro in rank} <= {0.0, 1.0}


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes, tsp=st.booleans())
def test_every_rank_goes_through_equally_many_and_pads_no_more_than_it_must(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int, tsp: bool
) -> None:
    ranks = on_all_ranks(algebra, groups, world_size, tsp=tsp)
    number = num_micro_batches(algebra, len(groups), world_size=world_size, tsp=tsp)
    assert {len(rank) for rank in ranks} == {number}
    assert max(sum(micro.weight for micro in rank) for rank in ranks) == number, "at least one rank has no padding"
    for rank in ranks:
        weights = [micro.weight for micro in rank]
        assert weights == sorted(weights, reverse=True), "padding comes last"
        assert all(micro.group in groups and micro.pairs for micro in rank)


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes, tsp=st.booleans())
def test_what_a_micro_batch_holds_depends_on_neither_ranks_nor_bundle_nor_switch(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int, tsp: bool
) -> None:
    canonical = [micro for group in groups for chunk in split_group(algebra, group) for micro in chunk]
    assert without_padding(on_all_ranks(algebra, groups, world_size, tsp=tsp)) == canonical
    alone = [micro for group in groups for micro in spread(algebra, (group,), rank=0, world_size=1, tsp=not tsp)]
    assert alone == canonical, "one rank adds up the same terms in the same order, bundled or one by one"


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes)
def test_without_tsp_a_trajectory_stays_on_one_rank(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int
) -> None:
    num_steps = algebra.num_trained_denoising_steps
    ranks_of: dict[tuple[int, int], set[int]] = {}
    for rank, micros in enumerate(on_all_ranks(algebra, groups, world_size, tsp=False)):
        for micro in without_padding([micros]):
            for pair in micro.pairs:
                ranks_of.setdefault((micro.group, pair // num_steps), set()).add(rank)
    assert all(len(ranks) == 1 for ranks in ranks_of.values())
    assert len(ranks_of) == len(groups) * algebra.group_size


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes)
def test_tsp_never_takes_longer(algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int) -> None:
    with_tsp, without = (
        num_micro_batches(algebra, len(groups), world_size=world_size, tsp=tsp) for tsp in (True, False)
    )
    assert with_tsp <= without


@settings(max_examples=100, deadline=None)
@given(algebra=algebras())
def test_a_micro_batch_is_as_large_as_allowed_and_of_one_group(algebra: BatchAlgebra) -> None:
    chunks = split_group(algebra, 3)
    micros = [micro for chunk in chunks for micro in chunk]
    assert all(len(micro.pairs) <= algebra.micro_batch_size for micro in micros)
    assert {micro.group for micro in micros} == {3}
    assert len(micros) * NUM_GROUPS == algebra.num_micro_batches_per_optimizer_step


accumulations = st.lists(st.integers(1, 25), min_size=1, max_size=12)


def monitored_in(accumulations: list[int], batch: int) -> list[int]:
    """Monitored indices within the whole mini-batch, if it is accumulated in bundles of these numbers."""
    indices: list[int] = []
    num_before = 0
    for number in accumulations:
        chosen = monitored_indices(num_before, number, batch=batch)
        assert all(0 <= index < number for index in chosen)
        assert num_before or chosen, "at least one of the first accumulation"
        indices += [num_before + index for index in chosen]
        num_before += number
    return sorted(indices)


@settings(max_examples=200, deadline=None)
@given(accumulations=accumulations, batch=st.integers(0, 1000))
def test_of_each_ten_micro_batches_one_is_monitored_however_they_are_bundled(
    accumulations: list[int], batch: int
) -> None:
    total = sum(accumulations)
    indices = monitored_in(accumulations, batch)
    assert len({index // MONITORING_STRIDE for index in indices}) == len(indices)
    assert max(1, total // MONITORING_STRIDE) <= len(indices) <= math.ceil(total / MONITORING_STRIDE)
    # Only in the first stride does the choice depend on how many micro-batches come first.
    at_once = monitored_in([total], batch)
    later = [[index for index in each if index >= MONITORING_STRIDE] for each in (indices, at_once)]
    assert later[0] == later[1]


@settings(max_examples=50, deadline=None)
@given(number=st.integers(1, 200), batch=st.integers(0, 1000))
def test_every_index_is_monitored_in_some_batch(number: int, batch: int) -> None:
    seen = {index for later in range(MONITORING_STRIDE) for index in monitored_in([number], batch + later)}
    assert seen == set(range(number))


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes, tsp=st.booleans(), batch=st.integers(0, 9))
def test_all_ranks_monitor_the_same_indices_and_the_first_one_never_padding(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int, tsp: bool, batch: int
) -> None:
    """So each rank makes equally many further forward passes, and at least one of them sees real samples."""
    ranks = on_all_ranks(algebra, groups, world_size, tsp=tsp)
    (number,) = {len(rank) for rank in ranks}
    indices = monitored_indices(0, number, batch=batch)
    assert indices and all(ranks[0][index].weight for index in indices)


def test_two_trajectories_of_three_denoising_steps_over_two_ranks() -> None:
    batch = BatchSpec(num_prompts_per_batch=1, group_size=2, micro_batch_size=2)
    algebra = BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=4))
    # Pair = member × 3 + denoising step; each micro-batch holds both members at one denoising step.
    assert [[(micro.pairs, micro.weight) for micro in rank] for rank in on_all_ranks(algebra, (0,), 2, tsp=True)] == [
        [((0, 3), 1.0), ((1, 4), 1.0)],
        [((2, 5), 1.0), ((0,), 0.0)],
    ]
    assert [[micro.weight for micro in rank] for rank in on_all_ranks(algebra, (0,), 2, tsp=False)] == [
        [1.0] * 3,
        [0.0] * 3,
    ]
