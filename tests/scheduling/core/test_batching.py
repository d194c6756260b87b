"""Micro-batches: every pair is trained once, on whatever rank, and ranks stay in step."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import SamplingSpec
from worker.scheduling.core.batching import (
    MicroBatch,
    num_micro_batches,
    shares_in_step,
    split_group,
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
    """[rank]: the micro-batches that it takes, without padding."""
    of_group = {group: [micro for chunk in split_group(algebra, group) for micro in chunk] for group in groups}
    shares = shares_in_step(algebra, groups, world_size=world_size, tsp=tsp)
    return [[of_group[key.group][key.index] for key in share] for share in shares]


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes, tsp=st.booleans())
def test_every_pair_is_trained_once(algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int, tsp: bool) -> None:
    ranks = on_all_ranks(algebra, groups, world_size, tsp=tsp)
    found = Counter((micro.group, pair) for rank in ranks for micro in rank for pair in micro.pairs)
    assert found == pairs_of(algebra, groups)


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes, tsp=st.booleans())
def test_ranks_in_step_pad_no_more_than_they_must_and_the_first_one_never(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int, tsp: bool
) -> None:
    """So what the first rank monitors, which every rank monitors, is never padding alone."""
    numbers = [len(rank) for rank in on_all_ranks(algebra, groups, world_size, tsp=tsp)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == num_micro_batches(algebra, len(groups), world_size=world_size, tsp=tsp)


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes, tsp=st.booleans())
def test_what_a_micro_batch_holds_depends_on_neither_ranks_nor_bundle_nor_switch(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int, tsp: bool
) -> None:
    canonical = [micro for group in groups for chunk in split_group(algebra, group) for micro in chunk]
    assert [micro for rank in on_all_ranks(algebra, groups, world_size, tsp=tsp) for micro in rank] == canonical
    alone = [micro for group in groups for micro in on_all_ranks(algebra, (group,), 1, tsp=not tsp)[0]]
    assert alone == canonical, "one rank adds up the same terms in the same order, bundled or one by one"


@settings(max_examples=200, deadline=None)
@given(algebra=algebras(), groups=bundles, world_size=world_sizes)
def test_without_tsp_a_trajectory_stays_on_one_rank(
    algebra: BatchAlgebra, groups: tuple[int, ...], world_size: int
) -> None:
    num_steps = algebra.num_trained_denoising_steps
    ranks_of: dict[tuple[int, int], set[int]] = {}
    for rank, micros in enumerate(on_all_ranks(algebra, groups, world_size, tsp=False)):
        for micro in micros:
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


def test_two_trajectories_of_three_denoising_steps_over_two_ranks() -> None:
    batch = BatchSpec(num_prompts_per_batch=1, group_size=2, micro_batch_size=2)
    algebra = BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=4))
    # Pair = member × 3 + denoising step; each micro-batch holds both members at one denoising step.
    ranks = on_all_ranks(algebra, (0,), 2, tsp=True)
    assert [[micro.pairs for micro in rank] for rank in ranks] == [[(0, 3), (1, 4)], [(2, 5)]]
    assert [len(rank) for rank in on_all_ranks(algebra, (0,), 2, tsp=False)] == [3, 0]
