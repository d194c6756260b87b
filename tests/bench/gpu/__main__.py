"""`make bench-gpu`: what one card does with this engine, in under ten minutes, and what the planner expected.

    python -m tests.bench.gpu [--only ceilings forward] [--minutes 9] [--out var/bench/gpu.json]

Needs no web, no database and no Ray: `deploy/docs/guides/gpu_day.md` says how to carry it to a bare machine, and how to
read it. On a machine without an accelerator the same code runs with tiny shapes, which measures nothing. Ends non-zero
where a stage failed.
"""

import argparse
import os
import sys
from pathlib import Path

from tests.bench.gpu.bench_report import BAD, NO_MEASUREMENT, BenchReport
from tests.bench.gpu.plan_table import plan_table
from tests.bench.gpu.stage_budgets import BUDGETS
from tests.bench.gpu.supervisor import supervise
from worker.engine.devices.allocator import set_allocator

MINUTES = 9.0
"""Ten, less a minute to set up the environment and for the case that is open when the time is used up."""


def default_path() -> Path:
    """`$OUT` where a machine names a folder for results, else the data folder."""
    folder = os.environ.get("OUT")
    return Path(folder) / "gpu.json" if folder else Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "gpu.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(BUDGETS), default=list(BUDGETS))
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--out", type=Path, default=default_path())
    arguments = parser.parse_args()
    path = arguments.out.absolute()
    path.unlink(missing_ok=True)
    # The stages are processes of their own, which inherit it.
    set_allocator()
    supervise(path, [name for name in BUDGETS if name in arguments.only], minutes=arguments.minutes)
    report = BenchReport.read(path)
    print(plan_table(report))
    bad = [name for name, stage in report.stages.items() if stage["status"] in BAD]
    if not report.document["is_measurement"]:
        print(f"\n{NO_MEASUREMENT}")
    print(f"\n{path}: {'failed: ' + ', '.join(bad) if bad else 'complete'}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
