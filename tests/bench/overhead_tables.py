"""`make bench-overhead-tables`: writes the tables of the performance page from the report of `make bench-overhead`.

var/bench/overhead.json ─► blocks ─► between `<!-- NAME -->` and `<!-- /NAME -->` in the document
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from tests.bench.overhead import (
    AUTO,
    FIGURES,
    OUTPUT,
    RATIOS,
    STACK,
    STALE_STACK,
    WAYS,
    Way,
    median,
    median_parts,
    ratio,
)
from tests.bench.pipeline_tables import ROOT, Report, table, with_blocks

DOCUMENT = "deploy/docs/reports/performance.md"
RUNS = (STACK, AUTO, STALE_STACK)
"""The ways whose CPU is told by part."""
LEAST_SHOWN = 0.5e-3
"""Seconds of CPU a batch below which a part rounds to 0 ms."""


def overhead(report: Report) -> str:
    """By way: medians of each figure."""
    return table(
        ("", "CPU, s a batch", "wall, s a batch", "start to the end of batch 1", "memory"),
        (_way_row(report, way.name) for way in WAYS),
    )


def _way_row(report: Report, way: str) -> tuple[str, ...]:
    cpu, wall, first, memory = (median(report["rounds"], way, figure) for figure in FIGURES)
    return way, f"{cpu:.2f}", f"{wall:.2f}", f"{first:.1f} s", f"{memory:,.0f} MB"


def overhead_ratios(report: Report) -> str:
    """Medians of the rounds' own ratios, and their range."""
    cpu, wall = FIGURES[:2]
    return table(
        ("", "CPU", "wall"),
        (
            (f"{way.name} ÷ {base.name}", _ratio(report, way, base, cpu), _ratio(report, way, base, wall))
            for way, base, figure in RATIOS
            if figure == wall
        ),
    )


def _ratio(report: Report, way: Way, base: Way, figure: str) -> str:
    if (way, base, figure) not in RATIOS:
        return ""
    middle, least, largest = ratio(report["rounds"], way.name, base.name, figure)
    return f"{middle:.2f} ({least:.2f} to {largest:.2f})"


def overhead_parts(report: Report) -> str:
    """Where the CPU of a run of the stack goes: medians in ms a batch."""
    return table(("ms of CPU a batch", *(way.name for way in RUNS)), _part_rows(report))


def _part_rows(report: Report) -> Iterator[tuple[str, ...]]:
    of_run = [median_parts(report["rounds"], way.name) for way in RUNS]
    found = {part: [each.get(part, 0.0) for each in of_run] for each in of_run for part in each}
    for part, seconds in sorted(found.items(), key=lambda entry: -max(entry[1])):
        if max(seconds) >= LEAST_SHOWN:
            yield part, *(f"{value * 1e3:,.0f}" if value >= LEAST_SHOWN else "" for value in seconds)


def overhead_idle(report: Report) -> str:
    """What the stack takes while nothing runs."""
    shares, memory = report["idle"]["cpu_share"], report["idle"]["memory_mb"]
    return (
        f"Idle the stack takes {sum(shares.values()):.3f} s of CPU a second and {sum(memory.values()):,.0f} MB. "
        f"The report is of {len(report['rounds'])} rounds of {report['num_batches']} batches on "
        f"{report['num_cores']} cores."
    )


BLOCKS = (overhead, overhead_ratios, overhead_parts, overhead_idle)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the tables of the performance page.")
    parser.add_argument("--report", type=Path, default=OUTPUT)
    report = json.loads(parser.parse_args().report.read_text())
    document = ROOT / DOCUMENT
    document.write_text(with_blocks(document.read_text(), BLOCKS, report))


if __name__ == "__main__":
    main()
