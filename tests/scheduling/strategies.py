"""Random batch algebras and run settings, small enough that a schedule takes about a millisecond."""

from hypothesis import strategies as st

from tests.scheduling.run_settings import Settings
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.sections import SamplingSpec
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.image_models import SHAPES


def algebra_of(
    *,
    num_minibatches: int = 1,
    groups_per_minibatch: int = 2,
    fragments: tuple[int, int] = (2, 2),
    num_epochs: int = 1,
    filter_groups: bool = False,
    max_resamples: int = 0,
    micro_batch_size: int = 8,
    num_trajectories_per_call: int = 1,
) -> BatchAlgebra:
    """A batch algebra; `fragments` is (number in a group, size of each)."""
    batch = BatchSpec(
        num_prompts_per_batch=num_minibatches * groups_per_minibatch,
        group_size=fragments[0] * fragments[1],
        fragment_size=fragments[1],
        num_minibatches=num_minibatches,
        num_epochs_per_batch=num_epochs,
        filter_groups=filter_groups,
        max_resamples=max_resamples,
        micro_batch_size=micro_batch_size,
    )
    algebra = BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=4))
    return algebra.model_copy(update={"num_trajectories_per_call": num_trajectories_per_call})


def shapes_work(algebra: BatchAlgebra) -> Workload:
    """A workload of the shapes model with a LoRA of rank 4."""
    return Workload(
        profile=SHAPES,
        algebra=algebra,
        height=32,
        width=32,
        num_denoising_steps=4,
        trained_parameters=SHAPES.lora_parameters(4),
    )


def algebras() -> st.SearchStrategy[BatchAlgebra]:
    shapes = [(number, size) for number in range(1, 5) for size in range(1, 4) if number * size > 1]
    return st.builds(
        algebra_of,
        num_minibatches=st.integers(1, 3),
        groups_per_minibatch=st.integers(1, 3),
        fragments=st.sampled_from(shapes),
        num_epochs=st.integers(1, 3),
        filter_groups=st.booleans(),
        max_resamples=st.integers(0, 2),
        micro_batch_size=st.sampled_from([1, 2, 3, 8, 8]),
        num_trajectories_per_call=st.sampled_from([1, 4, 8]),
    )


@st.composite
def settings_of_runs(draw: st.DrawFn, disturbance: float = 0.0) -> Settings:
    """Settings with any combination of switches that a scheduler accepts; `disturbance` as in `Settings`."""
    is_colocated = draw(st.booleans()) and draw(st.booleans())
    max_staleness = 0 if is_colocated else draw(st.integers(0, 1))
    first_batch = draw(st.integers(0, 3))
    return Settings(
        algebra=draw(algebras()),
        placement=Placement.COLOCATED if is_colocated else Placement.DISAGGREGATED,
        gap=draw(st.booleans()),
        tag=TrainerAssist.OFF if is_colocated else draw(st.sampled_from(TrainerAssist)),
        max_staleness=max_staleness,
        deterministic=draw(st.booleans()),
        whole_batch_advantages=draw(st.booleans()),
        lends_together=draw(st.booleans()),
        equal_counts=draw(st.booleans()),
        tsp=draw(st.booleans()),
        first_batch=first_batch,
        first_batch_is_stale=bool(max_staleness and first_batch and draw(st.booleans())),
        num_batches=draw(st.integers(first_batch + 1, first_batch + 3)),
        num_rollout=0 if is_colocated else draw(st.integers(1, 4)),
        num_reward=draw(st.integers(1, 3)),
        num_trainer=draw(st.integers(1, 4)),
        share_without_spread=draw(st.sampled_from([0.0, 0.0, 0.3, 0.7, 1.0])),
        disturbance=disturbance,
    )
