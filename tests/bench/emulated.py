"""The simulator's error against real actors, messages and publishes, on lanes that wait instead of computing.

    python -m tests.bench.emulated [--lanes 8 16 32] [--out var/bench/emulated.json]

For each pool and mode two predictions are compared with the measured mean batch time: one from the costs that the lanes
were given to wait (a plan's view, where messages cost nothing), and one from the costs that the run itself measured
(messages included). The first batch is left out, because it waits for lanes and for the first evaluation.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from tests.bench.cluster import bench_cluster
from tests.engine.emulated.cases import MODES, SPLITS, Case
from tests.engine.emulated.run_case import emulate
from tests.engine.prediction import simulated
from tests.engine.telemetry.ingest_server import start_ingest

NUM_BATCHES = 8
"""Batches of each run; all but the first are averaged."""


def measure(case: Case, ray_address: str) -> dict[str, Any]:
    """Run one case; returns its row of the table."""
    ingest, server = start_ingest()
    with tempfile.TemporaryDirectory(prefix="tandem-emulated-") as folder:
        measured = emulate(case, ray_address, ingest, Path(folder))
    server.shutdown()
    server.server_close()
    batches = range(2, case.num_batches + 1)
    seconds = measured.mean_seconds(batches)
    from_plan = simulated(case.spec, case.costs).mean_seconds(batches)
    from_run = simulated(case.spec, measured.costs[case.num_batches]).mean_seconds(batches)
    return {
        "lanes": case.num_lanes,
        "mixed": case.is_mixed,
        "mode": case.mode,
        "batch_seconds": seconds,
        "predicted_from_plan": from_plan,
        "predicted_from_run": from_run,
        "error_from_plan": from_plan / seconds - 1,
        "error_from_run": from_run / seconds - 1,
        "load_average": os.getloadavg()[0],
    }


def rows(pools: list[int], ray_address: str) -> Iterator[dict[str, Any]]:
    for num_lanes, is_mixed, mode in product(pools, (False, True), MODES):
        yield measure(Case(num_lanes, mode, is_mixed, NUM_BATCHES), ray_address)


def line(row: dict[str, Any]) -> str:
    kind = "mixed" if row["mixed"] else "alike"
    return (
        f"{row['lanes']:5d}  {kind}  {row['mode']:30s} {row['batch_seconds']:8.3f} s  "
        f"{row['error_from_plan']:+7.1%}  {row['error_from_run']:+7.1%}  {row['load_average']:5.1f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lanes", type=int, nargs="+", choices=sorted(SPLITS), default=sorted(SPLITS))
    parser.add_argument("--out", type=Path, default=Path("var/bench/emulated.json"))
    arguments = parser.parse_args()
    print("lanes  kind   mode                            batch time  by plan   by run   load")
    table = []
    with bench_cluster() as ray_address:
        for row in rows(arguments.lanes, ray_address):
            table.append(row)
            print(line(row), flush=True)
    worst = max(abs(row["error_from_run"]) for row in table)
    print(f"largest error by the run's own costs: {worst:.1%}")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({"largest_error": worst, "rows": table}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
