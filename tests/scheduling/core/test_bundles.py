"""How many of the ready groups the gang accumulates at once: the number with the least padding."""

from hypothesis import given
from hypothesis import strategies as st

from tests.scheduling.strategies import algebra_of, algebras
from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.core.batching import bundle_size, num_micro_batches

FIVE_TO_A_GROUP = algebra_of(groups_per_minibatch=8, fragments=(1, 5)).model_copy(
    update={"micro_batch_size": 1, "num_trained_denoising_steps": 1, "num_denoising_steps_per_micro_batch": 1}
)
"""An algebra in which each group has five micro-batches."""


def test_ready_groups_that_would_leave_ranks_idle_wait_for_others() -> None:
    # On 10 ranks, 1, 2 and 3 groups take 1, 1 and 2 micro-batches of each rank.
    taken = [bundle_size(FIVE_TO_A_GROUP, ready, 8, world_size=10, tsp=True) for ready in (1, 2, 3, 4, 5)]
    assert taken == [1, 2, 2, 4, 4]


def test_the_last_groups_of_a_mini_batch_go_together() -> None:
    assert bundle_size(FIVE_TO_A_GROUP, 3, 3, world_size=10, tsp=True) == 3


@given(
    algebra=algebras(),
    num_ready=st.integers(1, 40),
    num_to_come=st.integers(0, 5),
    world_size=st.integers(1, 9),
    tsp=st.booleans(),
)
def test_a_bundle_never_costs_a_group_more_than_all_ready_ones_would(
    algebra: BatchAlgebra, num_ready: int, num_to_come: int, world_size: int, tsp: bool
) -> None:
    def each(number: int) -> float:
        return num_micro_batches(algebra, number, world_size=world_size, tsp=tsp) / number

    taken = bundle_size(algebra, num_ready, num_ready + num_to_come, world_size=world_size, tsp=tsp)
    assert 1 <= taken <= num_ready
    assert each(taken) <= each(num_ready)
    assert taken == num_ready or num_to_come


@given(algebra=algebras(), num_ready=st.integers(1, 40), tsp=st.booleans())
def test_one_rank_takes_all_that_is_ready(algebra: BatchAlgebra, num_ready: int, tsp: bool) -> None:
    assert bundle_size(algebra, num_ready, num_ready + 1, world_size=1, tsp=tsp) == num_ready
