"""One forward pass of a model, done in one of several ways, and its row in the report.

The plain pass has no LoRA layers: the transformer in bf16, called with the inputs that the engine's own
pass gives it. What the engine adds is the difference.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from tests.bench.engine_pairs import on_cpu
from tests.bench.gpu.bench_models import LoadedModel, Prediction
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import SampleSize
from tests.bench.gpu.kernel_kinds import seconds_by_kind
from tests.bench.gpu.rates import Work, compared, planned_device, planned_forward_seconds, timed, with_rate
from tests.bench.gpu.stage_runner import GpuBench, NotMeasurableError
from tests.bench.roofline.expected_mfu import expected_mfu
from worker.contracts.performance import DIFFUSERS_CHOICE, NOT_ON_A_CPU, AttentionBackend, Compilation, PerformanceSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.scheduling.planning.memory import generation_activations

GIB = 2**30
COMPILING_SECONDS = 40.0
"""About what the compiler takes for the two kinds of blocks of FLUX.1; an estimate."""
KEPT_SECONDS = COMPILING_SECONDS + 20.0
"""What is kept of a stage's budget for its rows as shipped, which come last because they compile: 20 s for the calls
themselves, of a few seconds for each size; an estimate."""
SHIPPED, UNCOMPILED, PLAIN, UNCHOSEN = "as shipped", "uncompiled", "plain bf16", "uncompiled, diffusers' attention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to run the same pass."""

    name: str
    performance: PerformanceSpec = field(default_factory=PerformanceSpec)
    """What a spec leaves open by default is what is shipped."""
    is_plain: bool = False


def compiling_seconds(performance: PerformanceSpec) -> float:
    """What a pass with these kernels takes at least before its first result: a case that could not end is not begun."""
    uncompiled = (Compilation.OFF, Compilation.AUTO) if on_cpu() else (Compilation.OFF,)
    return 0.0 if performance.compilation in uncompiled else COMPILING_SECONDS


def needed_seconds(performance: PerformanceSpec) -> float:
    """What must be left of a stage's budget before a case with these kernels begins: the time to compile them; for one
    that compiles nothing the time kept for what is shipped, where that does."""
    kept = KEPT_SECONDS if compiling_seconds(PerformanceSpec()) else 0.0
    return compiling_seconds(performance) or kept


def unavailable(performance: PerformanceSpec) -> str | None:
    """Why a variant cannot run on this machine."""
    if on_cpu() and (performance.attention in NOT_ON_A_CPU or performance.compilation is Compilation.INDUCTOR):
        return "the engine leaves it off on a CPU"
    return None


class Passes:
    """The passes of one variant, whose model is loaded when the first is measured."""

    def __init__(self, bench: GpuBench, loaded: LoadedModel, variant: Variant) -> None:
        self._bench, self._loaded, self._variant = bench, loaded, variant
        self._adapter: ModelAdapter | None = None

    def row(self, size: SampleSize, batch: int) -> Row:
        """Seconds, rate and, for what is shipped, the planner's expectation."""
        profile = self._loaded.profile
        num_tokens = profile.num_tokens(**size.as_arguments)
        values = timed(self._bench, self.work(size, batch))
        row: Row = with_rate(self._bench, values, batch * profile.forward_flops(num_tokens))
        row |= {"variant": self._variant.name, "batch": batch, "tokens": num_tokens, "layers": profile.num_layers}
        row["compared"] = self._against_arithmetic(size, batch, row)
        if self._variant.name == SHIPPED:
            planned = planned_forward_seconds(profile, num_tokens, batch)
            work = self._loaded.workload(self._loaded.spec(size, members=batch))
            # The planner's fragment holds two trajectories at least.
            held = values.get("added_bytes") if batch > 1 else None
            case = f"{self._loaded.model.name}: forward {size} × {batch}"
            row["compared"] += [
                *compared(case, planned, values["seconds"], "s"),
                *compared(f"{case}, activations", generation_activations(work) / GIB, held and held / GIB, "GiB"),
            ]
        return row

    def _against_arithmetic(self, size: SampleSize, batch: int, row: Row) -> list[Row]:
        name = self._variant.name
        if name not in (SHIPPED, UNCOMPILED):
            return []
        profile, device = self._loaded.profile, planned_device()
        expected = expected_mfu(profile, device, "generation", size.height, is_compiled=name == SHIPPED)
        return compared(f"MFU of {size} × {batch}, {name}, by arithmetic", expected, row.get("mfu"), "")

    def kinds(self, size: SampleSize, batch: int) -> Row:
        return seconds_by_kind(self.work(size, batch))

    def work(self, size: SampleSize, batch: int) -> Work:
        """The pass itself."""
        spec = self._loaded.spec(size, members=batch, performance=self._variant.performance)
        if self._adapter is None:
            self._adapter = self._loaded_adapter(spec)
        adapter = self._adapter
        prediction = Prediction.of(adapter, spec, size, batch)
        if self._variant.is_plain:
            return plain_pass(adapter, prediction)

        def shipped() -> None:
            with torch.inference_mode():
                prediction.predict(adapter)

        return shipped

    def _loaded_adapter(self, spec: RunSpec) -> ModelAdapter:
        performance = DIFFUSERS_CHOICE if self._variant.is_plain else spec.kernels
        try:
            return self._loaded.adapter(spec, performance, is_trained=not self._variant.is_plain)
        except ModelLoadError as error:
            if performance.attention is AttentionBackend.DEFAULT:
                raise
            # A package that brings the kernel is not installed.
            raise NotMeasurableError(str(error)) from error


def plain_pass(adapter: ModelAdapter, prediction: Prediction) -> Work:
    """The transformer alone, in the base's dtype, with the inputs that `prediction` gives it."""
    with torch.no_grad(), _recorded(adapter.transformer) as calls:
        prediction.predict(adapter)
    inputs = {name: _in_dtype(value, adapter.dtype) for name, value in calls[0].items()}

    def plain() -> None:
        with torch.inference_mode():
            adapter.transformer(**inputs)

    return plain


@contextmanager
def _recorded(transformer: torch.nn.Module) -> Iterator[list[dict[str, Any]]]:
    """Within it, the keyword arguments of each call of `transformer` are listed."""
    calls: list[dict[str, Any]] = []
    hook = transformer.register_forward_pre_hook(lambda _, __, named: calls.append(named), with_kwargs=True)
    try:
        yield calls
    finally:
        hook.remove()


def _in_dtype(value: Any, dtype: torch.dtype) -> Any:
    is_floating = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.to(dtype) if is_floating else value
