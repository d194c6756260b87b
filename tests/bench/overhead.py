"""What the platform costs over one process: the demo's work in the whole stack and in `worker.engine.local`, in turns.

    python -m tests.bench.overhead [--rounds 10] [--batches 10] [--out var/bench/overhead.json]

Each round runs the demo's spec in one process with one thread, in one process with all cores, and as a run of a stack
that idled before: database, broker, web, tasks, Ray, driver and a lane of each role. Figures are medians over rounds;
ratios are medians of each round's own, so that other load on the machine, which lasts, affects both sides.

Seconds of CPU and wall are per batch, without the first two batches, which wait for imports and caches. Evaluation,
checkpoints and samples of evaluations are left out of both: one process keeps none.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.bench.process_costs import ProcessCosts, memory_mb
from tests.e2e.rest import Rest
from tests.e2e.stack import Stack, running_stack

PRESET = "shapes-demo"
NUM_WARM_UP = 2
"""Batches at a run's start that are not measured."""
IDLE_SECONDS = 60.0
"""Seconds until a stack that has started is idle, Ray's dashboard last of all, and over which it is then measured."""
POLL_SECONDS = 2.0
"""How often the bench asks the web how far the run is: less than a batch, and seldom, because each answer takes the web
some 15 ms of CPU, which count as its own."""
RUN_SECONDS = 900.0
"""Bounds a hang: on an idle machine a run takes a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one run of the work cost."""

    cpu_seconds: float
    """Seconds of CPU a batch, all processes together."""
    wall_seconds: float
    """Seconds a batch."""
    first_batch_seconds: float
    """Seconds from the start of the process, or from the request that creates the run, to the end of batch 1."""
    memory_mb: float
    """PSS of all processes, at the end of the last batch."""
    cpu_by_part: dict[str, float]
    """`cpu_seconds` by what the processes are there for."""


def spec_of(document: dict[str, Any], num_batches: int) -> dict[str, Any]:
    """A preset's spec for `num_batches`, without evaluations and checkpoints between them."""
    never = {"every_num_batches": num_batches}
    return document | {
        "num_batches": num_batches,
        "evaluation": document["evaluation"] | never,
        "checkpoint": document["checkpoint"] | never,
    }


def in_one_process(preset: Path, num_batches: int, num_threads: int) -> Cost:
    """The work in a fresh process of `worker.engine.local`."""
    command = [sys.executable, "-m", "tests.bench.overhead_local", str(preset), str(num_batches)]
    environment = os.environ | {"OMP_NUM_THREADS": str(num_threads)}
    began = time.time()
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    figures = json.loads(done.stdout.splitlines()[-1])
    cpu, ends = figures["cpu_seconds"], figures["ends"]
    return Cost(
        cpu_seconds=statistics.mean(cpu[NUM_WARM_UP:]),
        wall_seconds=(ends[-1] - ends[NUM_WARM_UP - 1]) / (num_batches - NUM_WARM_UP),
        first_batch_seconds=ends[0] - began,
        memory_mb=figures["memory_mb"],
        cpu_by_part={},
    )


def in_the_stack(rest: Rest, root: psutil.Process, spec: dict[str, Any], name: str) -> Cost:
    """The work as a run of the stack, from the request that creates it."""
    num_batches = spec["num_batches"]
    with ProcessCosts(root) as costs:
        began = time.time()
        run = rest.start_run(name, spec)
        rest.run_when(
            run,
            lambda body: body["num_batches_done"] >= num_batches - 1,
            "the last batch",
            RUN_SECONDS,
            poll_seconds=POLL_SECONDS,
        )
        memory = sum(memory_mb(root).values())
        rest.run_when(
            run, lambda body: body["state"] == "completed", "the end of the run", RUN_SECONDS, poll_seconds=POLL_SECONDS
        )
    versions = rest.get(f"/runs/{run}/timeline")["versions"]
    ends = sorted(version["at"] for version in versions if version["policy_version"] > 0)
    start, end, number = ends[NUM_WARM_UP - 1], ends[-1], num_batches - NUM_WARM_UP
    by_part = {part: seconds / number for part, seconds in costs.cpu_seconds(start, end).items()}
    return Cost(
        cpu_seconds=sum(by_part.values()),
        wall_seconds=(end - start) / number,
        first_batch_seconds=ends[0] - began,
        memory_mb=memory,
        cpu_by_part=by_part,
    )


def idle_stack(root: psutil.Process) -> dict[str, Any]:
    """The stack's memory, and its seconds of CPU a second, while nothing runs."""
    with ProcessCosts(root) as costs:
        began = time.time()
        time.sleep(IDLE_SECONDS)
        ended = time.time()
    shares = {part: seconds / (ended - began) for part, seconds in costs.cpu_seconds(began, ended).items()}
    return {"memory_mb": memory_mb(root), "cpu_share": shares}


def measure(stack: Stack, preset: Path, num_rounds: int, num_batches: int) -> dict[str, Any]:
    """The idle stack, then each round's costs by way of running."""
    root = psutil.Process(stack.pid)
    rest = Rest.log_in(stack)
    spec = spec_of(rest.preset(PRESET), num_batches)
    time.sleep(IDLE_SECONDS)
    idle = idle_stack(root)
    rounds = []
    for number in range(num_rounds):
        costs = {
            "one process, one thread": in_one_process(preset, num_batches, 1),
            "one process, all cores": in_one_process(preset, num_batches, os.cpu_count() or 1),
            "the stack": in_the_stack(rest, root, spec, f"round {number + 1}"),
        }
        rounds.append({way: asdict(cost) for way, cost in costs.items()} | {"load": os.getloadavg()[0]})
        figures = ", ".join(
            f"{way} {cost.cpu_seconds:.2f} s of CPU, {cost.wall_seconds:.2f} s" for way, cost in costs.items()
        )
        print(f"  round {number + 1}: {figures}", flush=True)
    rest.close()
    return {"num_batches": num_batches, "num_cores": os.cpu_count(), "idle": idle, "rounds": rounds}


def median(rounds: Sequence[dict[str, Any]], way: str, figure: str) -> float:
    return statistics.median(each[way][figure] for each in rounds)


def ratio(rounds: Sequence[dict[str, Any]], way: str, base: str, figure: str) -> tuple[float, float, float]:
    """(median, least, largest) of the rounds' own ratios."""
    ratios = [each[way][figure] / each[base][figure] for each in rounds]
    return statistics.median(ratios), min(ratios), max(ratios)


def table(result: dict[str, Any]) -> str:
    rounds, ways = result["rounds"], ("one process, one thread", "one process, all cores", "the stack")
    lines = [f"{'':26s} {'CPU s a batch':>14s} {'wall s a batch':>15s} {'first batch s':>14s} {'memory MB':>10s}"]
    lines += [
        f"{way:26s} {median(rounds, way, 'cpu_seconds'):14.2f} {median(rounds, way, 'wall_seconds'):15.2f} "
        f"{median(rounds, way, 'first_batch_seconds'):14.1f} {median(rounds, way, 'memory_mb'):10.0f}"
        for way in ways
    ]
    for base, figure, what in (
        (ways[0], "cpu_seconds", "CPU of the stack over one process, one thread"),
        (ways[0], "wall_seconds", "wall of the stack over one process, one thread"),
        (ways[1], "wall_seconds", "wall of the stack over one process, all cores"),
    ):
        middle, least, largest = ratio(rounds, ways[2], base, figure)
        lines.append(f"{what}: {middle:.2f} ({least:.2f} to {largest:.2f})")
    parts = {part for each in rounds for part in each[ways[2]]["cpu_by_part"]}
    by_part = {
        part: statistics.median(each[ways[2]]["cpu_by_part"].get(part, 0.0) for each in rounds) for part in parts
    }
    lines += [f"  {part:24s} {by_part[part]:14.2f}" for part in sorted(parts, key=by_part.__getitem__, reverse=True)]
    idle = result["idle"]
    lines.append(
        f"idle stack: {sum(idle['memory_mb'].values()):.0f} MB, {sum(idle['cpu_share'].values()):.3f} s of CPU a second"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("var/bench/overhead.json"))
    arguments = parser.parse_args()
    preset = Path("deploy/presets") / f"{PRESET}.yaml"
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack:
        result = measure(stack, preset, arguments.rounds, arguments.batches)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1))
    print(table(result))


if __name__ == "__main__":
    main()
