"""Four blocks of each further model, at the size it is trained at: forward, optimizer step, memory.

Seconds and activations of the whole model follow by its number of blocks; what does not repeat, a few layers at either
end, is counted with the blocks.
"""

from functools import partial

from tests.bench.gpu.bench_models import LoadedModel, loaded_model
from tests.bench.gpu.forward_passes import PLAIN, SHIPPED, Passes, Variant
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages.training import Step, measure_step


def run(bench: GpuBench) -> None:
    for model in bench.shapes.others:
        if bench.seconds_left <= 0:
            bench.skip(model.name, "no time is left in the stage's budget")
            continue
        _family(bench, loaded_model(bench, model))


def _family(bench: GpuBench, loaded: LoadedModel) -> None:
    model, (size,) = loaded.model, loaded.model.sizes
    blocks = f"{loaded.profile.num_layers} blocks of {model.name}"
    for variant in (Variant(name=SHIPPED), Variant(name=PLAIN, is_plain=True)):
        passes = Passes(bench, loaded, variant)
        bench.measure(f"{blocks}, {size} × 1, {variant.name}", partial(passes.row, size, 1))
    # Two pairs, the fewest that a group of two members makes.
    measure_step(bench, loaded, Step(name=SHIPPED, size=size, batch=2, model_name=blocks))
