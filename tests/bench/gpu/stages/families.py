"""Four blocks of each further model, at the size it is trained at: forward, optimizer step, memory.

Seconds and activations of the whole model follow by its number of blocks; what does not repeat, a few layers at either
end, is counted with the blocks. Nothing is compiled here: the stage `compiled` measures the same as shipped.
"""

from functools import partial

from tests.bench.gpu.bench_models import LoadedModel, loaded_model
from tests.bench.gpu.forward_passes import PLAIN, UNCOMPILED, Passes, Variant
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages.training import RECOMPUTES_NOTHING, Step, measure_step
from worker.contracts.performance import Compilation, PerformanceSpec


def run(bench: GpuBench) -> None:
    for model in bench.shapes.others:
        if bench.seconds_left <= 0:
            bench.skip(model.name, "no time is left in the stage's budget")
            continue
        _family(bench, loaded_model(bench, model))


def blocks_of(loaded: LoadedModel) -> str:
    """What of a model is here, as rows name it."""
    return f"{loaded.profile.num_layers} blocks of {loaded.model.name}"


def family_step(loaded: LoadedModel, name: str, **sections: object) -> Step:
    """An optimizer step of two pairs, the fewest that a group of two members makes. No block is recomputed: the share
    that a whole model must recompute says nothing of four blocks, and activations are counted where blocks keep
    them."""
    size, blocks = loaded.model.sizes[0], blocks_of(loaded)
    return Step(name=name, size=size, batch=2, model_name=blocks, sections={**RECOMPUTES_NOTHING, **sections})


def _family(bench: GpuBench, loaded: LoadedModel) -> None:
    (size,) = loaded.model.sizes
    uncompiled = PerformanceSpec(compilation=Compilation.OFF)
    for variant in (Variant(name=UNCOMPILED, performance=uncompiled), Variant(name=PLAIN, is_plain=True)):
        passes = Passes(bench, loaded, variant)
        bench.measure(f"{blocks_of(loaded)}, {size} × 1, {variant.name}", partial(passes.row, size, 1))
    measure_step(bench, loaded, family_step(loaded, f"{UNCOMPILED}, recomputing nothing"))
