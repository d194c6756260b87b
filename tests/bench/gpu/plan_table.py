"""The table that ends `make bench-gpu`: what the planner expected against what was measured.

Profiles are set from it: `profile_values` turns the same rows into the fields of
`worker.scheduling.profiles.hardware.Accelerator`.
"""

from collections.abc import Iterator
from typing import Any

from tests.bench.gpu.bench_report import BenchReport

Comparison = dict[str, Any]
"""`quantity`, `planned`, `measured` and their `unit`."""


def comparisons(report: BenchReport) -> Iterator[Comparison]:
    """All comparisons of a report, in the order of its rows."""
    for name in report.stages:
        for row in report.rows(name):
            yield from row.get("compared", ())


def plan_table(report: BenchReport) -> str:
    """The comparisons as a table."""
    lines = [f"\n{'plan against measurement':48}{'planned':>12}{'measured':>12}{'ratio':>8}"]
    for found in comparisons(report):
        planned, measured = found["planned"], found["measured"]
        ratio = f"{measured / planned:8.2f}" if planned else f"{'-':>8}"
        lines.append(f"{found['quantity']:48}{planned:12.4g}{measured:12.4g}{ratio} {found['unit']}")
    if formula := report.document.get("mfu_formula"):
        lines.append(f"\n{formula}")
    return "\n".join(lines)
