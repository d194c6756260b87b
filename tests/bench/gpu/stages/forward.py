"""Forward passes of the main model: in plain bf16, uncompiled, with each kernel of attention, and as a rollout lane
ships them.

What compiles comes last, with time kept for it: if it outlasts the stage, everything else is in the report.
"""

from collections.abc import Iterator
from functools import partial

from tests.bench.gpu.bench_models import LoadedModel, main_model
from tests.bench.gpu.bench_shapes import SampleSize, counted
from tests.bench.gpu.forward_passes import (
    PLAIN,
    SHIPPED,
    UNCHOSEN,
    UNCOMPILED,
    Passes,
    Variant,
    compiling_seconds,
    needed_seconds,
    unavailable,
)
from tests.bench.gpu.stage_runner import GpuBench
from worker.contracts.performance import DIFFUSERS_CHOICE, AttentionBackend, Compilation, PerformanceSpec
from worker.engine.devices.fastest_attention import fastest_attention


def variants(bench: GpuBench) -> Iterator[Variant]:
    """All variants, the most telling first of those that compile nothing, then those that do."""
    compiled = bench.shapes.compilation
    yield _with_attention(AttentionBackend.AUTO, UNCOMPILED)
    yield Variant(name=PLAIN, is_plain=True)
    yield Variant(name=UNCHOSEN, performance=DIFFUSERS_CHOICE)
    for backend in bench.shapes.attention:
        # The fastest one is what `auto` takes.
        if backend is not fastest_attention(bench.device):
            yield _with_attention(backend, f"{backend}")
    yield Variant(name=SHIPPED)
    only_compiled = PerformanceSpec(compilation=compiled, attention=AttentionBackend.DEFAULT)
    yield Variant(name=f"{compiled}, diffusers' attention", performance=only_compiled)


def _with_attention(backend: AttentionBackend, name: str) -> Variant:
    return Variant(name=name, performance=PerformanceSpec(compilation=Compilation.OFF, attention=backend))


def run(bench: GpuBench) -> None:
    loaded = main_model(bench)
    bench.report.document["mfu_formula"] = counted(loaded.profile)
    for variant in variants(bench):
        if why := unavailable(variant.performance):
            bench.skip(variant.name, why)
            continue
        passes = Passes(bench, loaded, variant)
        seconds = needed_seconds(DIFFUSERS_CHOICE if variant.is_plain else variant.performance)
        for size, batch in _sizes(bench, loaded, variant):
            case = f"{size} × {batch}, {variant.name}"
            bench.measure(case, partial(passes.row, size, batch), needs_seconds=seconds)
        if variant.name in (SHIPPED, PLAIN):
            size, batch = loaded.model.sizes[0], bench.shapes.batches[-1]
            case = f"{size} × {batch}, {variant.name}, by kind of kernel"
            bench.measure(case, partial(passes.kinds, size, batch), needs_seconds=seconds)


def _sizes(bench: GpuBench, loaded: LoadedModel, variant: Variant) -> list[tuple[SampleSize, int]]:
    """Every size and batch of the passes that others are compared with; of the others small pictures together, and a
    large one alone, which have about as many tokens, unless it would be compiled for either."""
    sizes, batches = loaded.model.sizes, bench.shapes.batches
    if variant.name in (SHIPPED, UNCOMPILED, PLAIN):
        return [(size, batch) for size in sizes for batch in batches]
    small, large = (sizes[0], batches[-1]), (sizes[-1], batches[0])
    return [small] if compiling_seconds(variant.performance) else list(dict.fromkeys([small, large]))
