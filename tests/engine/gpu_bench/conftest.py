"""A bench on tiny shapes in this process, for the tests of its stages."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.gpu.bench_report import BenchReport
from tests.bench.gpu.bench_shapes import TINY, SampleSize
from tests.bench.gpu.stage_runner import GpuBench, StageRun, run_stages
from worker.contracts.performance import Compilation
from worker.engine.devices.selection import resolve_device

RunStages = Callable[[dict[str, StageRun]], BenchReport]

QUICK = replace(
    TINY,
    main=replace(TINY.main, sizes=(SampleSize(height=32, width=32),)),
    others=TINY.others[2:3],
    only_gate=(),
    batches=(2,),
    compilation=Compilation.OFF,
    attention=(),
)
"""The tiny shapes without what takes seconds: compilers, further sizes and models."""


@pytest.fixture
def bench(tmp_path: Path) -> GpuBench:
    report = BenchReport.new(tmp_path / "gpu.json", {"is_measurement": False})
    return GpuBench(shapes=QUICK, device=resolve_device(None), folder=tmp_path, report=report)


@pytest.fixture
def run_quickly(bench: GpuBench) -> RunStages:
    """Runs stages in this process; returns the report as it lies on disk."""

    def run(stages: dict[str, StageRun]) -> BenchReport:
        run_stages(stages, bench, ends_at=time.monotonic() + 60)
        return BenchReport.read(bench.report.path)

    return run
