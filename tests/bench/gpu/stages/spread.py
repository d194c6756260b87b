"""A rollout lane of several cards: one forward pass on one of them, and spread over all (context parallelism).

One card has nobody to share with; two CPU processes do, on tiny shapes.
"""

from collections.abc import Sequence
from functools import partial

from deepspeed.accelerator import get_accelerator

from tests.bench.engine_pairs import on_cpu
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import PROMPT, BenchModel
from tests.bench.gpu.gang import Gang
from tests.bench.gpu.spread_ranks import spread_models
from tests.bench.gpu.stage_runner import GpuBench, NotMeasurableError, free_unused
from tests.bench.gpu.stages.ranks import ANSWER_SECONDS
from worker.contracts.context_parallel import DividedShape
from worker.contracts.run_spec import RunSpec
from worker.engine.context_parallel.lane_group import open_store
from worker.scheduling.planning.workload import Workload

MODULE = "tests.bench.gpu.spread_ranks"
NUM_CPU_RANKS = 2


def run(bench: GpuBench) -> None:
    models = spread_models(bench.shapes)
    size = NUM_CPU_RANKS if on_cpu() else largest_lane(models, get_accelerator().device_count())
    if size < 2:
        bench.measure("one prediction", _refused)
        return
    # The first rank is on this process's card.
    bench.kept.clear()
    free_unused()
    # This process keeps the store: as many ranks join as it is told.
    store = open_store(size)
    with Gang(MODULE, (), size=size, port=store.port, folder=bench.folder) as gang:
        for model in models:
            case = f"{model.name} {model.sizes[0]} × 1 on 1 and {size} cards"
            row = bench.measure(case, partial(_row, bench, gang))
            if "seconds_taken" not in row:
                return


def largest_lane(models: Sequence[BenchModel], num_cards: int) -> int:
    """The most of `num_cards` over which the predictions of all published `models` can be spread."""
    shapes = [_divided_shape(model) for model in models]
    return next(size for size in range(num_cards, 0, -1) if all(shape.divides(size) for shape in shapes))


def _divided_shape(model: BenchModel) -> DividedShape:
    spec = RunSpec.model_validate(
        {
            "base_model": {"path": model.hub_id, "family": model.family.value, "dtype": model.dtype},
            "prompts": {"inline": [PROMPT]},
            "rewards": [{"name": "colorfulness"}],
            "sampling": model.sizes[0].as_arguments,
            "batch": {"num_prompts_per_batch": 1},
        }
    )
    return Workload.of(spec).divided_shape


def _refused() -> Row:
    raise NotMeasurableError("this machine has one card")


def _row(bench: GpuBench, gang: Gang) -> Row:
    return gang.row(bench.seconds_left + ANSWER_SECONDS)
