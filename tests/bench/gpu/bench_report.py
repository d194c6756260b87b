"""The report of `make bench-gpu`: one JSON file, written whole after every row, so that whatever ends the bench keeps
what was measured before.

    begin(stage) ─► row(stage, …) ─► row(stage, …) ─► end(stage)        each writes the file and prints a line

Invariant: the file on disk is always complete JSON, and a stage that did not end is `running` in it.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

Row = dict[str, Any]
"""What was measured in one case: `case`, and either values or `skipped`, `out_of_memory` or `error`."""
Status = Literal["running", "done", "failed", "skipped", "killed"]
"""Of a stage: `failed` where one of its cases or the stage itself raised, `killed` where its process ended."""
BAD: frozenset[str] = frozenset({"failed", "killed", "running"})
"""The statuses with which the bench does not count as complete."""
NO_MEASUREMENT = "NO MEASUREMENT: tiny shapes try the code of the bench, and none of their figures means anything."


class BenchReport:
    """The report at one path."""

    def __init__(self, path: Path, document: dict[str, Any]) -> None:
        self.path, self.document = path, document

    @classmethod
    def new(cls, path: Path, facts: Mapping[str, Any]) -> Self:
        """An empty report, written at once; `facts` are those of the machine and the run."""
        report = cls(path, {**facts, "stages": {}})
        report.write()
        return report

    @classmethod
    def read(cls, path: Path) -> Self:
        """The report that another process wrote."""
        return cls(path, json.loads(path.read_text()))

    @property
    def stages(self) -> dict[str, dict[str, Any]]:
        """The stages that began, by name."""
        found: dict[str, dict[str, Any]] = self.document["stages"]
        return found

    @property
    def running(self) -> str | None:
        """The name of the stage that began and did not end."""
        return next((name for name, stage in self.stages.items() if stage["status"] == "running"), None)

    def rows(self, stage: str) -> list[Row]:
        """The rows of a stage that carry values; none for a stage that did not begin."""
        return [row for row in self.stages.get(stage, {}).get("rows", ()) if "seconds_taken" in row]

    def begin(self, stage: str, title: str, budget_seconds: float) -> None:
        self.stages[stage] = {"status": "running", "title": title, "budget_seconds": budget_seconds, "rows": []}
        print(f"\n== {stage}: {title} (at most {budget_seconds:.0f} s)", flush=True)
        self.write()

    def row(self, stage: str, row: Row) -> None:
        self.stages[stage]["rows"].append(row)
        print(line_of(row), flush=True)
        self.write()

    def end(self, stage: str, status: Status, seconds: float, *, why: str | None = None) -> None:
        """`why` is a reason for what was skipped, else a traceback."""
        self.stages[stage] |= {"status": status, "seconds": round(seconds, 2)}
        if why is not None:
            self.stages[stage]["why"] = why
            print(f"   {status}: {why}", file=sys.stderr if status in BAD else sys.stdout, flush=True)
        self.write()

    def write(self) -> None:
        """Replace the file in one step, so that a reader or a kill never meets half of it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        draft.write_text(json.dumps(self.document, indent=1) + "\n")
        draft.replace(self.path)


def line_of(row: Row) -> str:
    """A row as one line of text."""
    for outcome in ("skipped", "out_of_memory", "error"):
        if outcome in row:
            last = str(row[outcome]).strip().splitlines()[-1]
            return f"   {row['case']:44} {outcome.replace('_', ' ')}: {last}"
    shown = [_shown(name, value) for name, value in row.items() if name not in ("case", "seconds_taken", "variant")]
    return f"   {row['case']:44} {'  '.join(text for text in shown if text)}"


def _shown(name: str, value: Any) -> str:
    """A value with the unit that its name ends with; nothing for what is not a number or a word."""
    if isinstance(value, bool | str):
        return f"{name} {value}"
    if not isinstance(value, int | float):
        return ""
    if name == "mfu":
        return f"MFU {value:.1%}"
    for ending, factor, unit in (
        ("seconds", 1e3, "ms"),
        ("bytes_per_second", 1e-9, "GB/s"),
        ("flops_per_second", 1e-12, "TFLOP/s"),
        ("bytes", 2**-30, "GiB"),
    ):
        if name.endswith(ending):
            label = name.removesuffix(ending).strip("_").replace("_", " ")
            return f"{label} {value * factor:.4g} {unit}".strip()
    return f"{name.replace('_', ' ')} {value:.4g}"
