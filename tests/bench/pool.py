"""What the pool costs at 512 GPUs: REST answers, live frames, drawing in a browser, giving lanes, lending, asking back.

    python -m tests.bench.pool [--nodes 64] [--gpus 8] [--rounds 20] [--parts dispatch] [--out var/bench/pool.json]

The web is a process of its own on real PostgreSQL and Valkey, seeded as `tests.bench.seeded_pool` says. REST is
measured as its client sees it, on a machine where nothing else asks. A frame is that which the web sends for one post
of a node agent that reports every GPU. The page is Chromium's, at 1440 × 900 pixels, while such posts come once a
second; a task of its main thread over 50 ms counts as long, which is what a reader would feel. Dispatch is measured as
`tests.bench.dispatch_figures` says.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def set_up_django(var: Path, port: int) -> None:
    """As `manage.py` does, on a data folder and a port of its own. Called before anything of Django is imported."""
    for name in ("DATABASE_URL", "REDIS_URL", "RAY_ADDRESS", "TANDEM_PUBLIC_URL"):
        os.environ.pop(name, None)
    os.environ |= {"TANDEM_VAR": str(var), "TANDEM_PORT": str(port), "DJANGO_SETTINGS_MODULE": "server.settings"}
    sys.path.insert(1, str(ROOT / "platform"))
    import django

    django.setup()


def table(result: dict[str, Any]) -> str:
    lines = [f"{result['num_nodes']} nodes, {result['num_gpus']} GPUs, {result['num_lanes']} lanes"]
    for name, figures in result["figures"].items():
        shown = ", ".join(
            f"{key} {value:,.1f}" if isinstance(value, float) else f"{key} {value:,}" for key, value in figures.items()
        )
        lines.append(f"{name:44s} {shown}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--parts", default="rest,frames,page,dispatch,history,reclaim", help="what to measure, separated by commas"
    )
    parser.add_argument("--port", type=int, default=8871)
    parser.add_argument("--out", type=Path, default=Path("var/bench/pool.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        set_up_django(Path(folder), arguments.port)
        from tests.bench.pool_figures import measure

        result = measure(
            Path(folder), arguments.port, arguments.nodes, arguments.gpus, arguments.rounds, arguments.parts.split(",")
        )
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1))
    print(table(result))


if __name__ == "__main__":
    main()
