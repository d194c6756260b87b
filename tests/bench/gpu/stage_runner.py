"""Runs stages one after the other in this process: budgets, what is skipped and why, errors that stop no other stage.

Stage.run(bench) ─► bench.measure(case, work) ─► row in the report
                      │ skipped: no time left, or more bytes than are free
                      │ out of memory: the device said so
                      └ error: traceback kept, the next case goes on, the bench ends non-zero
"""

import gc
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from deepspeed.accelerator import get_accelerator

from tests.bench.gpu.bench_report import BenchReport, Row
from tests.bench.gpu.bench_shapes import Shapes
from tests.bench.gpu.stage_budgets import BUDGETS

Values = Mapping[str, Any]


class NotMeasurableError(Exception):
    """A case cannot be measured on this machine, which is no fault: the reason is reported as what was skipped."""


class StageRun(Protocol):
    """One stage: measures its cases, or raises."""

    def __call__(self, bench: "GpuBench") -> None: ...


@dataclass(slots=True, kw_only=True)
class GpuBench:
    """What the stages measure with: device, shapes, a folder for files, the report and the clock."""

    shapes: Shapes
    device: torch.device
    folder: Path
    report: BenchReport
    stage: str = ""
    ends_at: float = 0.0
    """When the open stage's budget is used up, by `time.monotonic`."""
    has_failed: bool = False
    """Whether a case of the open stage raised."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What a stage leaves for later ones, such as the model on the device."""

    @property
    def seconds_left(self) -> float:
        return self.ends_at - time.monotonic()

    def measure(
        self, case: str, work: Callable[[], Values], *, needs_bytes: float = 0.0, needs_seconds: float = 0.0
    ) -> Row:
        """Do `work` and report its values as one row, which is returned.

        Args:
            case: what is measured.
            work: measures it.
            needs_bytes: device memory that it takes beside what is held, by the memory plan.
            needs_seconds: what must be left of the stage's budget, since it takes that or later cases do.
        """
        row: Row = {"case": case}
        if self.seconds_left <= needs_seconds:
            kept = f", and {needs_seconds:.0f} s are kept for it or for what is as shipped" if needs_seconds else ""
            row["skipped"] = f"{max(0.0, self.seconds_left):.0f} s of the stage's budget are left{kept}"
        elif needs_bytes > (free := free_bytes(self.device)):
            row["skipped"] = f"it takes {needs_bytes / 1e9:.1f} GB by the memory plan, and {free / 1e9:.1f} GB are free"
        else:
            self._do(row, work)
        self.report.row(self.stage, row)
        return row

    def skip(self, case: str, why: str) -> None:
        self.report.row(self.stage, {"case": case, "skipped": why})

    def _do(self, row: Row, work: Callable[[], Values]) -> None:
        began = time.monotonic()
        try:
            row |= work()
            row["seconds_taken"] = round(time.monotonic() - began, 3)
        except NotMeasurableError as error:
            row["skipped"] = str(error)
        except torch.OutOfMemoryError as error:
            row["out_of_memory"] = str(error)
        except Exception:
            row["error"] = traceback.format_exc()
            self.has_failed = True
        free_unused()


def run_stages(stages: Mapping[str, StageRun], bench: GpuBench, *, ends_at: float) -> bool:
    """Run `stages` in order until `ends_at` by `time.monotonic`; whether all of them went well."""
    went_well = True
    for name, run in stages.items():
        began = time.monotonic()
        title, budget = BUDGETS[name]
        bench.stage, bench.has_failed = name, False
        bench.ends_at = min(ends_at, began + budget)
        bench.report.begin(name, title, budget)
        if bench.ends_at <= began:
            bench.report.end(name, "skipped", 0.0, why="the bench's time is used up")
            continue
        try:
            run(bench)
        except Exception:
            bench.report.end(name, "failed", time.monotonic() - began, why=traceback.format_exc())
            went_well = False
        else:
            bench.report.end(name, "failed" if bench.has_failed else "done", time.monotonic() - began)
            went_well = went_well and not bench.has_failed
        free_unused()
    return went_well


def free_bytes(device: torch.device) -> float:
    """Bytes that the device could still give; unbounded on a CPU, whose tiny shapes always fit."""
    if device.type == "cpu":
        return float("inf")
    free, _ = torch.accelerator.get_memory_info()
    cached = get_accelerator().memory_reserved() - get_accelerator().memory_allocated()
    return float(free + cached)


def free_unused() -> None:
    gc.collect()
    get_accelerator().empty_cache()
