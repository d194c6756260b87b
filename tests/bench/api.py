"""What REST does at scale: requests a second on 10,000 runs and 10 million points, and telemetry taken in.

    python -m tests.bench.api [--points 10000000] [--clients 8] [--seconds 10] [--out var/bench/api.json]

The web is a process of its own on real PostgreSQL and Valkey, seeded as `tests.bench.seeded_telemetry` says. Clients
are threads of this process, which ask again as soon as they are answered, so they share the cores with the web. Points
are taken in by the driver's address, a post for each batch with its number of metrics; MLflow's `log_batch` writes the
same points with its own store to the same PostgreSQL, without a server between.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

from tests.bench.pool import set_up_django


def table(figures: dict[str, dict[str, float]]) -> str:
    lines = [f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"]
    for name, of_it in figures.items():
        lines.append(f"{name:44s} " + ", ".join(f"{unit} {value:,.1f}" for unit, value in of_it.items()))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--port", type=int, default=8873)
    parser.add_argument("--out", type=Path, default=Path("var/bench/api.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # No script is told to wait here.
        os.environ["TANDEM_REQUESTS_PER_MINUTE"] = "10000000"
        set_up_django(Path(folder), arguments.port)
        from tests.bench.api_figures import measure

        figures = measure(
            Path(folder),
            arguments.port,
            num_runs=arguments.runs,
            num_points=arguments.points,
            num_clients=arguments.clients,
            seconds=arguments.seconds,
        )
    result = {"num_cores": os.cpu_count(), "load": os.getloadavg()[0], **vars(arguments), "figures": figures}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1, default=str))
    print(table(figures))


if __name__ == "__main__":
    main()
