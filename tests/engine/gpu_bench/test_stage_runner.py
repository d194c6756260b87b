"""The GPU bench keeps what it has measured, whatever happens to a case, a stage or its process."""

import sys
import time
from pathlib import Path

import pytest
import torch

from tests.bench.gpu import stage_runner
from tests.bench.gpu.__main__ import MINUTES
from tests.bench.gpu.bench_report import BenchReport
from tests.bench.gpu.stage_budgets import BUDGETS, NEED_SEVERAL_CARDS, START_SECONDS
from tests.bench.gpu.stage_runner import GpuBench, NotMeasurableError, StageRun, run_stages
from tests.bench.gpu.stages import gpu_tests
from tests.bench.gpu.stages.registry import STAGES
from tests.engine.gpu_bench.conftest import RunStages

FIRST, SECOND = list(BUDGETS)[:2]


def test_every_stage_has_a_budget_and_those_of_one_card_add_up_within_the_benchs_time() -> None:
    assert list(STAGES) == list(BUDGETS) and set(BUDGETS) > NEED_SEVERAL_CARDS
    of_one_card = sum(seconds for name, (_, seconds) in BUDGETS.items() if name not in NEED_SEVERAL_CARDS)
    assert START_SECONDS + of_one_card <= 60 * MINUTES


def test_a_case_that_fails_is_kept_with_its_traceback_and_the_next_goes_on(run_quickly: RunStages) -> None:
    def stage(bench: GpuBench) -> None:
        bench.measure("breaks", lambda: {"seconds": 1 / 0})
        bench.measure("works", lambda: {"seconds": 1.0})

    found = run_quickly({FIRST: stage, SECOND: lambda bench: None}).stages
    assert [row.get("seconds") for row in found[FIRST]["rows"]] == [None, 1.0]
    assert "ZeroDivisionError" in found[FIRST]["rows"][0]["error"]
    assert (found[FIRST]["status"], found[SECOND]["status"]) == ("failed", "done")


def test_a_stage_that_fails_is_kept_with_its_traceback_and_the_next_goes_on(run_quickly: RunStages) -> None:
    def stage(bench: GpuBench) -> None:
        bench.measure("works", lambda: {"seconds": 1.0})
        raise RuntimeError("no model")

    found = run_quickly({FIRST: stage, SECOND: lambda bench: None}).stages
    assert found[FIRST]["status"] == "failed" and "no model" in found[FIRST]["why"]
    assert found[FIRST]["rows"][0]["seconds"] == 1.0
    assert found[SECOND]["status"] == "done"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(torch.OutOfMemoryError("80 GB"), "out_of_memory"), (NotMeasurableError("no such kernel"), "skipped")],
)
def test_what_the_machine_cannot_do_is_told_and_is_no_failure(
    run_quickly: RunStages, error: Exception, outcome: str
) -> None:
    def work() -> dict[str, float]:
        raise error

    def stage(bench: GpuBench) -> None:
        bench.measure("large", work)

    found = run_quickly({FIRST: stage}).stages[FIRST]
    assert found["status"] == "done" and found["rows"] == [{"case": "large", outcome: str(error)}]


def test_a_case_beyond_free_memory_or_time_is_skipped_with_the_figures(
    run_quickly: RunStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_runner, "free_bytes", lambda device: 78e9)

    def stage(bench: GpuBench) -> None:
        bench.measure("large", dict, needs_bytes=161e9)
        bench.measure("long", dict, needs_seconds=1e6)

    large, long = run_quickly({FIRST: stage}).stages[FIRST]["rows"]
    assert large["skipped"] == "it takes 161.0 GB by the memory plan, and 78.0 GB are free"
    assert "of the stage's budget are left" in long["skipped"]


def test_stages_beyond_the_benchs_time_are_skipped(bench: GpuBench) -> None:
    assert run_stages({FIRST: lambda bench: None}, bench, ends_at=time.monotonic() - 1)
    assert bench.report.stages[FIRST]["status"] == "skipped"


def test_what_was_measured_is_on_disk_before_the_stage_ends(bench: GpuBench) -> None:
    seen: list[BenchReport] = []

    def stage(bench: GpuBench) -> None:
        bench.measure("works", lambda: {"seconds": 1.0})
        seen.append(BenchReport.read(bench.report.path))

    stages: dict[str, StageRun] = {FIRST: stage}
    run_stages(stages, bench, ends_at=time.monotonic() + 60)
    assert seen[0].running == FIRST and seen[0].rows(FIRST)[0]["seconds"] == 1.0


def test_a_test_that_does_not_return_is_named_in_the_report(
    run_quickly: RunStages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\necho tests/gpu/test_broadcasts.py::test_that_hangs\nexec sleep 60\n")
    interpreter.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(interpreter))
    # Of the stage's minute three seconds are left.
    monkeypatch.setattr(gpu_tests, "ONE_TEST_SECONDS", 3.0 - BUDGETS["gpu_tests"][1])
    (row,) = run_quickly({"gpu_tests": gpu_tests.run}).stages["gpu_tests"]["rows"]
    assert "test_that_hangs" in row["error"]
