"""What faults do to live runs on the whole stack: what a user sees, how soon, and what is lost.

    python -m tests.bench.chaos [--only NAMES] [--moments 2] [--from-moment 0] [--seed 0] [--resume]
        [--out var/bench/chaos.json]

A stack of its own runs the shapes demo in little once undisturbed, and then once for each fault and moment: a seeded
random batch and second of it. Each run is compared with the undisturbed one, bit for bit. A row is written as soon as
it is known, so that what is done stays where the bench is stopped. Exit status 1 when a row names a problem.

Only processes of that stack are struck: below its own process, or reported by the run itself.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from tests.bench.chaos.cut_link import link_to_web
from tests.bench.chaos.fault_table import table
from tests.bench.chaos.faults import FAULTS, Fault
from tests.bench.chaos.run_outcome import RunOutcome
from tests.bench.chaos.scene import Scene
from tests.bench.chaos.small_disk import mounted_small_disk
from tests.bench.chaos.stack_parts import Part, pid_of
from tests.bench.chaos.stepped_clock import SteppedClocks
from tests.bench.chaos.struck_run import spec_of, struck, undisturbed
from tests.e2e.rest import Rest
from tests.e2e.stack import Stack, free_port, running_stack

Rows = list[dict[str, Any]]


@contextmanager
def staged() -> Iterator[Scene]:
    """A stack with a link to its web, a small disk and clocks, and no run yet."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        var = folder / "var"
        var.mkdir()
        disk = held.enter_context(mounted_small_disk(var))
        clocks, port = SteppedClocks.build(folder), free_port()
        stacks: list[Stack] = []
        link = held.enter_context(link_to_web(port, lambda: pid_of(stacks[0], Part.DRIVER) if stacks else None))
        settings = {"TANDEM_PUBLIC_URL": link.url, **(clocks.environment if clocks else {})}
        stacks.append(held.enter_context(running_stack(var, port, **settings)))
        rest = Rest.log_in(stacks[0])
        held.callback(rest.close)
        yield Scene(stacks[0], rest, link, disk, clocks, run="")


def with_run(scene: Scene, name: str) -> Scene:
    """The scene with a new run on it."""
    return replace(scene, run=scene.rest.start_run(name, spec_of(scene.rest)))


def measure(faults: list[Fault], moments: range, seed: int, out: Path, known: Rows) -> Rows:
    """Every row, those `known` included, each written to `out` as soon as it is known. A stack that a fault has ended
    is started anew."""
    result: dict[str, Any] = {
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(["python -m tests.bench.chaos", *sys.argv[1:]]),
        "num_cores": os.cpu_count(),
        "rows": list(known),
    }
    done = {(row["fault"], row["moment"]) for row in known}
    waiting = [(each, moment) for moment in moments for each in faults if (each.name, moment) not in done]
    expected: RunOutcome | None = None
    while waiting:
        with staged() as scene:
            if expected is None:
                expected, result["batch_seconds"] = undisturbed(with_run(scene, "undisturbed"))
                print(f"undisturbed: {result['batch_seconds']:.2f} s a batch", flush=True)
            while waiting and _is_well(scene):
                fault, moment = waiting.pop(0)
                draw = random.Random(f"{seed}/{moment}/{fault.name}")
                row = _row(scene, fault, draw, expected, result["batch_seconds"])
                result["rows"].append(row | {"moment": moment})
                out.write_text(json.dumps(result, indent=1))
                print(
                    f"{fault.name}, {moment + 1}: {row.get('problems') or row.get('not_struck') or 'well'}", flush=True
                )
    print(table(result))
    rows: Rows = result["rows"]
    return rows


def _row(scene: Scene, fault: Fault, draw: random.Random, expected: RunOutcome, batch_seconds: float) -> dict[str, Any]:
    """A row also of a fault that the stack or its run did not survive."""
    try:
        return struck(with_run(scene, fault.name), fault, draw, expected, batch_seconds)
    except (httpx.HTTPError, AssertionError) as error:
        return {"fault": fault.name, "problems": [f"{type(error).__name__}: {error}"]}


def _is_well(scene: Scene) -> bool:
    """Whether the stack serves and holds no lanes, so that the next run is struck by its own fault alone."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            ready = scene.rest.client.get(f"{scene.stack.address}/api/v1/health/ready").is_success
            if ready and scene.rest.num_lanes_held() == 0:
                return True
        except httpx.HTTPError:
            pass
        time.sleep(1)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="faults whose names contain one of these, by comma, in their order")
    parser.add_argument("--resume", action="store_true", help="keep the rows of --out, and measure the others")
    parser.add_argument("--moments", type=int, default=2, help="runs for each fault")
    parser.add_argument("--from-moment", type=int, default=0, help="without the moments before it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("var/bench/chaos.json"))
    arguments = parser.parse_args()
    parts = arguments.only.split(",")
    faults = list(dict.fromkeys(fault for part in parts for fault in FAULTS if part in fault.name))
    if not faults:
        parser.error(f"`--only` must be part of one of {', '.join(fault.name for fault in FAULTS)}")
    # As Ctrl-C does, so that the stack, its folder and its mount end with the bench.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    known: Rows = json.loads(arguments.out.read_text())["rows"] if arguments.resume and arguments.out.exists() else []
    rows = measure(faults, range(arguments.from_moment, arguments.moments), arguments.seed, arguments.out, known)
    return 1 if any(row.get("problems") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
