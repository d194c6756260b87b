"""What the pages cost at scale: a run of a million points, 64 lanes and 200,000 spans, a list of 10,000 runs, 512 GPUs.

    python -m tests.bench.dashboard [--parts page,server] [--rounds 20] [--out var/bench/dashboard.json]

The web is a process of its own on real PostgreSQL and Valkey, seeded as `tests.bench.seeded_telemetry` says; the pages
are Chromium's, at 1440 × 900 pixels and without a graphics card. The run page counts as interactive when the curves of
its overview are drawn. Frames are judged against those that the machine paints while nothing happens. From commit to
pixel is from the answer to a driver's post to the painted legend that shows its value, while others watch the run.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

from tests.bench.pool import set_up_django

GOALS: dict[str, float] = {
    "run page: interactive, ms": 1000,
    "run page: layout shift": 0.05,
    "run page: JavaScript of the first load, gzipped kB": 150,
    "timeline: p95 frame while zooming and panning, × idle": 1.5,
    "runs list of 10,000: rows, ms": 200,
    "runs table of 10,000: a page at 9,000 within a tag, ms": 200,
    "runs table of 10,000: the same, grouped by tag, ms": 200,
    "runs list of 10,000: sparklines, ms": 200,
    "512 GPUs: an update of the page, ms": 50,
    "100 viewers: p95 from commit to pixel, ms": 150,
}
"""The most that is wanted of each, by issue and by what a reader feels."""


def print_figures(figures: dict[str, float]) -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, value in figures.items():
        goal = GOALS.get(name)
        verdict = "" if goal is None else f"goal {goal:g}: {'met' if value <= goal else 'MISSED'}"
        print(f"{name:64s} {value:12,.2f}   {verdict}".rstrip(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default="server,page,live,pool", help="what to measure, separated by commas")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--port", type=int, default=8872)
    parser.add_argument("--out", type=Path, default=Path("var/bench/dashboard.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        set_up_django(Path(folder), arguments.port)
        from tests.bench.dashboard_figures import measure

        figures: dict[str, float] = {}
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        for of_part in measure(
            Path(folder),
            arguments.port,
            num_rounds=arguments.rounds,
            num_runs=arguments.runs,
            num_viewers=arguments.viewers,
            parts=arguments.parts.split(","),
        ):
            print_figures(of_part)
            figures |= of_part
            result = {"num_cores": os.cpu_count(), "load": os.getloadavg()[0], "figures": figures}
            arguments.out.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
