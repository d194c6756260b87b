"""Forward passes of the main model: as a rollout lane ships them, in plain bf16, compiled, with each kernel of
attention."""

from collections.abc import Iterator
from functools import partial

from tests.bench.gpu.bench_models import LoadedModel, main_model
from tests.bench.gpu.bench_shapes import SampleSize, counted
from tests.bench.gpu.forward_passes import PLAIN, SHIPPED, UNCHOSEN, Passes, Variant, compiling_seconds, unavailable
from tests.bench.gpu.stage_runner import GpuBench
from worker.contracts.performance import DIFFUSERS_CHOICE, AttentionBackend, Compilation, PerformanceSpec


def variants(bench: GpuBench) -> Iterator[Variant]:
    """All variants, the most telling first: what a budget cuts off is the rest."""
    shapes = bench.shapes
    yield Variant(name=SHIPPED)
    yield Variant(name=PLAIN, is_plain=True)
    yield Variant(name=UNCHOSEN, performance=DIFFUSERS_CHOICE)
    compiled = shapes.compilation
    compiling = Variant(
        name=f"{compiled}", performance=PerformanceSpec(compilation=compiled, attention=AttentionBackend.DEFAULT)
    )
    for fastest in shapes.attention[:1]:
        yield _with_attention(fastest)
        yield compiling
        both = PerformanceSpec(compilation=compiled, attention=fastest)
        yield Variant(name=f"{compiled} and {fastest}", performance=both)
    if not shapes.attention:
        yield compiling
    for backend in shapes.attention[1:]:
        yield _with_attention(backend)


def _with_attention(backend: AttentionBackend) -> Variant:
    uncompiled = PerformanceSpec(compilation=Compilation.OFF, attention=backend)
    return Variant(name=f"{backend}", performance=uncompiled)


def run(bench: GpuBench) -> None:
    loaded = main_model(bench)
    bench.report.document["mfu_formula"] = counted(loaded.profile)
    for variant in variants(bench):
        if why := unavailable(variant.performance):
            bench.skip(variant.name, why)
            continue
        passes = Passes(bench, loaded, variant)
        for size, batch in _sizes(bench, loaded, variant):
            bench.measure(
                f"{size} × {batch}, {variant.name}",
                partial(passes.row, size, batch),
                needs_seconds=0.0 if variant.is_plain else compiling_seconds(variant.performance),
            )
        if variant.name in (SHIPPED, PLAIN):
            size, batch = loaded.model.sizes[0], bench.shapes.batches[-1]
            case = f"{size} × {batch}, {variant.name}, by kind of kernel"
            bench.measure(case, partial(passes.kinds, size, batch))


def _sizes(bench: GpuBench, loaded: LoadedModel, variant: Variant) -> list[tuple[SampleSize, int]]:
    """Every size and batch of the passes that others are compared with; of the others small pictures together, and a
    large one alone, which have about as many tokens."""
    sizes, batches = loaded.model.sizes, bench.shapes.batches
    if variant.name in (SHIPPED, PLAIN):
        return [(size, batch) for size in sizes for batch in batches]
    return list(dict.fromkeys([(sizes[0], batches[-1]), (sizes[-1], batches[0])]))
