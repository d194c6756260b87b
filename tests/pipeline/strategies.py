"""Random algebras and run settings, small enough that a schedule takes about a millisecond."""

from hypothesis import strategies as st

from tests.pipeline.random_executor import Settings
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.sections import BatchSpec, SamplingSpec


def algebra_of(
    *, num_minibatches: int = 1, groups_per_minibatch: int = 2, fragments: tuple[int, int] = (2, 2), num_epochs: int = 1
) -> BatchAlgebra:
    """`fragments` is (number in a group, size of each)."""
    batch = BatchSpec(
        num_prompts_per_batch=num_minibatches * groups_per_minibatch,
        group_size=fragments[0] * fragments[1],
        fragment_size=fragments[1],
        num_minibatches=num_minibatches,
        num_epochs_per_batch=num_epochs,
    )
    return BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=4))


def algebras() -> st.SearchStrategy[BatchAlgebra]:
    shapes = [(number, size) for number in range(1, 5) for size in range(1, 4) if number * size > 1]
    return st.builds(
        algebra_of,
        num_minibatches=st.integers(1, 3),
        groups_per_minibatch=st.integers(1, 3),
        fragments=st.sampled_from(shapes),
        num_epochs=st.integers(1, 3),
    )


def settings_of_runs(disturbance: float = 0.0) -> st.SearchStrategy[Settings]:
    first_batches = st.integers(0, 3)
    return first_batches.flatmap(
        lambda first_batch: st.builds(
            Settings,
            algebra=algebras(),
            gap=st.booleans(),
            deterministic=st.booleans(),
            whole_batch_advantages=st.booleans(),
            first_batch=st.just(first_batch),
            num_batches=st.integers(first_batch + 1, first_batch + 3),
            num_rollout=st.integers(1, 4),
            num_reward=st.integers(1, 3),
            num_trainer=st.integers(1, 3),
            disturbance=st.just(disturbance),
        )
    )
