"""What else is compiled as shipped, after everything that is not: replay against rollout of the main model, and forward
and optimizer step of the further models.

Compiling may outlast the stage, whose process then ends: nothing of one card comes after it.
"""

from functools import partial

from tests.bench.gpu.bench_models import LoadedModel, draw, kept_version, loaded_model, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.forward_passes import COMPILING_SECONDS, SHIPPED, Passes, Variant, compiling_seconds
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages.families import blocks_of, family_step
from tests.bench.gpu.stages.gate_statistics import gate_row, gate_size, gate_spec, replayed
from tests.bench.gpu.stages.training import AS_SHIPPED, free_bytes_needed, measure_step
from worker.contracts.names import SdeType
from worker.contracts.performance import PerformanceSpec
from worker.contracts.run_spec import RunSpec

SHARE_OF_ONE_KIND = 0.5
"""Most further models have one kind of blocks, FLUX.1, whose compilation `COMPILING_SECONDS` is, two."""


def run(bench: GpuBench) -> None:
    main = main_model(bench)
    spec = gate_spec(main, SdeType.FLOW, at_once=1, performance={"compilation": bench.shapes.compilation.value})
    bench.measure(
        f"{main.model.name} {gate_size(main)}, flow, 1 at once, {bench.shapes.compilation}",
        partial(_gate, bench, main, spec),
        needs_bytes=free_bytes_needed(main, spec),
        needs_seconds=compiling_seconds(spec.performance),
    )
    # Nothing is compiled on a CPU.
    seconds = SHARE_OF_ONE_KIND * COMPILING_SECONDS if compiling_seconds(PerformanceSpec()) else 0.0
    for model in bench.shapes.others:
        if bench.seconds_left <= seconds:
            bench.skip(model.name, f"{max(0.0, bench.seconds_left):.0f} s of the stage's budget are left")
            continue
        _family(bench, loaded_model(bench, model), seconds)


def _gate(bench: GpuBench, loaded: LoadedModel, spec: RunSpec) -> Row:
    """Both sides run compiled blocks, of which those that sample keep nothing for a backward pass."""
    version = kept_version(bench, loaded, spec)
    return gate_row(loaded, spec, replayed(loaded, spec, version, draw(loaded, spec, version)))


def _family(bench: GpuBench, loaded: LoadedModel, seconds: float) -> None:
    size = loaded.model.sizes[0]
    passes = Passes(bench, loaded, Variant(name=SHIPPED))
    bench.measure(f"{blocks_of(loaded)}, {size} × 1, {SHIPPED}", partial(passes.row, size, 1), needs_seconds=seconds)
    step = family_step(loaded, f"{SHIPPED}, recomputing nothing", **AS_SHIPPED)
    measure_step(bench, loaded, step, needs_seconds=seconds)
