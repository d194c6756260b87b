"""Forward passes of the main model: as a rollout lane ships them, in plain bf16, compiled, with each kernel of
attention."""

from collections.abc import Iterator
from functools import partial

from tests.bench.gpu.bench_models import main_model
from tests.bench.gpu.bench_shapes import counted
from tests.bench.gpu.forward_passes import PLAIN, SHIPPED, Passes, Variant, unavailable
from tests.bench.gpu.stage_runner import GpuBench
from worker.contracts.performance import Compilation, PerformanceSpec


def variants(bench: GpuBench) -> Iterator[Variant]:
    """All variants, the most telling first: what a budget cuts off is the rest."""
    shapes = bench.shapes
    yield Variant(name=SHIPPED)
    yield Variant(name=PLAIN, is_plain=True)
    compiled = shapes.compilation
    yield Variant(name=f"{compiled}", performance=PerformanceSpec(compilation=compiled))
    for backend in shapes.attention:
        uncompiled = PerformanceSpec(compilation=Compilation.OFF, attention=backend)
        yield Variant(name=f"{backend}", performance=uncompiled)
    for fastest in shapes.attention[:1]:
        both = PerformanceSpec(compilation=compiled, attention=fastest)
        yield Variant(name=f"{compiled} and {fastest}", performance=both)


def run(bench: GpuBench) -> None:
    loaded = main_model(bench)
    bench.report.document["mfu_formula"] = counted(loaded.profile)
    for variant in variants(bench):
        if variant.performance is not None and (why := unavailable(variant.performance)):
            bench.skip(variant.name, why)
            continue
        passes = Passes(bench, loaded, variant)
        for size in loaded.model.sizes:
            for batch in bench.shapes.batches:
                case = f"{size} × {batch}, {variant.name}"
                bench.measure(case, partial(passes.row, size, batch))
        if variant.name in (SHIPPED, PLAIN):
            size, batch = loaded.model.sizes[0], bench.shapes.batches[-1]
            bench.measure(
                f"{size} × {batch}, {variant.name}, by kind of kernel",
                partial(passes.kinds, size, batch),
            )
