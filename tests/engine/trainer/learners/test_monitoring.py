"""Monitored micro-batches: one of ten, at least one of all, and each of them in some batch."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.trainer.learners.monitoring import MONITORING_STRIDE, is_monitored
from worker.engine.trainer.learners.passes import is_monitored_pass
from worker.scheduling.core.messages import MicroBatchKey

batches = st.integers(0, 1000)


def monitored_of(number: int, batch: int) -> list[int]:
    return [index for index in range(number) if is_monitored(index, number, batch=batch)]


@settings(deadline=None)
@given(number=st.integers(1, 200), batch=batches)
def test_of_each_ten_one_is_monitored_and_at_least_one_of_all(number: int, batch: int) -> None:
    indices = monitored_of(number, batch)
    assert len({index // MONITORING_STRIDE for index in indices}) == len(indices)
    assert max(1, number // MONITORING_STRIDE) <= len(indices) <= math.ceil(number / MONITORING_STRIDE)


@settings(max_examples=50, deadline=None)
@given(number=st.integers(1, 200), batch=batches)
def test_every_index_is_monitored_in_some_batch(number: int, batch: int) -> None:
    assert {index for later in range(MONITORING_STRIDE) for index in monitored_of(number, batch + later)} == set(
        range(number)
    )


@settings(deadline=None)
@given(batch=batches, num_passes=st.integers(0, 40), keys=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8))))
def test_in_step_the_pass_decides_and_otherwise_the_micro_batch(
    batch: int, num_passes: int, keys: list[tuple[int, int]]
) -> None:
    """In ZeRO 3 all ranks must make the same forward passes; elsewhere it must not matter which rank takes what."""
    algebra = BatchAlgebra.resolve(
        BatchSpec(num_prompts_per_batch=4, group_size=3, num_minibatches=2, micro_batch_size=1),
        SamplingSpec(num_denoising_steps=4),
    )

    def found(key: MicroBatchKey, num_before: int, num_ranks: int | None) -> bool:
        return is_monitored_pass(algebra, key, num_before=num_before, num_lockstep_ranks=num_ranks, batch=batch)

    for key in (MicroBatchKey(group, index) for group, index in keys):
        assert found(key, num_passes, 2) == found(MicroBatchKey(0, 0), num_passes, 2)
        assert found(key, num_passes, None) == found(key, 0, None)
    of_minibatch = [MicroBatchKey(group, index) for group in (2, 3) for index in range(9)]
    assert 1 <= sum(found(key, 0, None) for key in of_minibatch) <= 2


@settings(deadline=None)
@given(batch=batches, group=st.integers(0, 3), num_ranks=st.sampled_from([None, 1, 2]))
def test_a_minibatch_whose_other_groups_are_left_out_is_monitored_too(
    batch: int, group: int, num_ranks: int | None
) -> None:
    """The replay gate of a stale batch needs a monitored pass, whichever groups turn out to have no spread."""
    algebra = BatchAlgebra.resolve(
        BatchSpec(num_prompts_per_batch=4, group_size=4, micro_batch_size=4, filter_groups=True),
        SamplingSpec(num_denoising_steps=4),
    )
    num_passes = algebra.num_micro_batches_per_optimizer_step // algebra.num_groups_per_minibatch // (num_ranks or 1)
    assert any(
        is_monitored_pass(
            algebra, MicroBatchKey(group, number), num_before=number, num_lockstep_ranks=num_ranks, batch=batch
        )
        for number in range(num_passes)
    )
