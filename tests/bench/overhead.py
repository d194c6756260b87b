"""What the platform costs over one process: the demo's work in the whole stack and in `worker.engine.local`, in turns.

    python -m tests.bench.overhead [--rounds 10] [--batches 10] [--out var/bench/overhead.json]

Each round runs the demo's spec in one process with one thread, in one process with all cores, in a process with one
thread on each core at once, and as a run of a stack that idled before: database, broker, web, tasks, Ray, driver and a
lane of each role, or lanes as the planner places them; and again at staleness 1 in one process and with a lane of each
role. The planner is not asked at staleness 1: it may choose colocated lanes then, too, which draw with the newest
version, and one process at staleness 1 would be no measure of them.

Processes on all cores at once wait for each other nowhere, so the seconds of their batches, by their number, are the
least that any division of the work among these cores could take: where cores share caches, memory or a physical core it
is more than a single process's by the number of cores. Figures are medians over rounds; ratios are medians of each
round's own, so that other load on the machine, which lasts, affects both sides.

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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.bench.process_costs import ProcessCosts, memory_mb
from tests.e2e.rest import Rest
from tests.e2e.stack import Stack, running_stack

PRESET = "shapes-demo"
OUTPUT = Path("var/bench/overhead.json")
"""Where the report is written by default."""
NUM_WARM_UP = 2
"""Batches at a run's start that are not measured."""
IDLE_SECONDS = 60.0
"""Seconds until a stack that has started is idle, Ray's dashboard last of all, and over which it is then measured."""
POLL_SECONDS = 2.0
"""How often the bench asks the web how far the run is: less than a batch, and seldom, because each answer takes the web
some 15 ms of CPU, which count as its own."""
RUN_SECONDS = 900.0
"""Bounds a hang: on an idle machine a run takes a minute."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way of running the work."""

    name: str
    pipeline: dict[str, Any]
    """Settings of the spec's section `pipeline`."""
    num_threads: int | None
    """Of a process; `None` for a run of the stack."""
    num_processes: int = 1
    """That do the same work at once, each by itself."""


ONE_THREAD = Way("one process, one thread", {}, 1)
ALL_CORES = Way("one process, all cores", {}, os.cpu_count() or 1)
EACH_CORE = Way("a process on each core, one thread", {}, 1, num_processes=os.cpu_count() or 1)
STACK = Way("the stack", {}, None)
AUTO = Way("the stack, placement auto", {"placement": "auto"}, None)
STALE_ONE_THREAD = Way("one process, one thread, staleness 1", {"max_staleness": 1}, 1)
STALE_STACK = Way("the stack, staleness 1", {"max_staleness": 1}, None)
WAYS = (ONE_THREAD, ALL_CORES, EACH_CORE, STACK, AUTO, STALE_ONE_THREAD, STALE_STACK)
FIGURES = ("cpu_seconds", "wall_seconds", "first_batch_seconds", "memory_mb")
RATIOS = (
    (EACH_CORE, ONE_THREAD, "cpu_seconds"),
    (EACH_CORE, ONE_THREAD, "wall_seconds"),
    (STACK, EACH_CORE, "cpu_seconds"),
    (STACK, EACH_CORE, "wall_seconds"),
    (STACK, ONE_THREAD, "cpu_seconds"),
    (STACK, ONE_THREAD, "wall_seconds"),
    (STACK, ALL_CORES, "wall_seconds"),
    (AUTO, ONE_THREAD, "cpu_seconds"),
    (AUTO, ONE_THREAD, "wall_seconds"),
    (AUTO, ALL_CORES, "wall_seconds"),
    (STALE_STACK, STALE_ONE_THREAD, "cpu_seconds"),
    (STALE_STACK, STALE_ONE_THREAD, "wall_seconds"),
)
"""What is compared: a way, the one it is measured against, and the figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one run of the work cost."""

    cpu_seconds: float
    """Seconds of CPU a batch, all processes together."""
    wall_seconds: float
    """Seconds a batch; of processes at once, by their number."""
    first_batch_seconds: float
    """Seconds from the start of the process, or from the request that creates the run, to the end of batch 1."""
    memory_mb: float
    """PSS of all processes, at the end of the last batch."""
    cpu_by_part: dict[str, float]
    """`cpu_seconds` by what the processes are there for."""


def spec_of(document: dict[str, Any], num_batches: int, pipeline: dict[str, Any]) -> dict[str, Any]:
    """A preset's spec for `num_batches`, with settings of its `pipeline`, without evaluations and checkpoints."""
    never = {"every_num_batches": num_batches}
    return document | {
        "num_batches": num_batches,
        "evaluation": document["evaluation"] | never,
        "checkpoint": document["checkpoint"] | never,
        "pipeline": document.get("pipeline", {}) | pipeline,
    }


def in_one_process(spec: dict[str, Any], num_threads: int) -> Cost:
    """The work in a fresh process of `worker.engine.local`."""
    num_batches = spec["num_batches"]
    environment = os.environ | {"OMP_NUM_THREADS": str(num_threads)}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(spec, file)
        file.flush()
        command = [sys.executable, "-m", "tests.bench.overhead_local", file.name, str(num_batches)]
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


def in_processes(spec: dict[str, Any], way: Way) -> Cost:
    """The means of processes that begin together."""
    assert way.num_threads is not None
    with ThreadPoolExecutor(way.num_processes) as pool:
        costs = list(pool.map(in_one_process, [spec] * way.num_processes, [way.num_threads] * way.num_processes))
    figures = {figure: statistics.mean(getattr(cost, figure) for cost in costs) for figure in FIGURES}
    figures["wall_seconds"] /= way.num_processes
    return Cost(**figures, cpu_by_part={})


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


def measure(stack: Stack, num_rounds: int, num_batches: int, out: Path) -> dict[str, Any]:
    """The idle stack, then each round's costs by way of running; `out` has the rounds so far after each of them."""
    root = psutil.Process(stack.pid)
    rest = Rest.log_in(stack)
    document = rest.preset(PRESET)
    time.sleep(IDLE_SECONDS)
    rounds = list[dict[str, Any]]()
    result = {"num_batches": num_batches, "num_cores": os.cpu_count(), "idle": idle_stack(root), "rounds": rounds}
    out.parent.mkdir(parents=True, exist_ok=True)
    for number in range(num_rounds):
        costs = {}
        for way in WAYS:
            spec = spec_of(document, num_batches, way.pipeline)
            name = f"round {number + 1}, {way.name}"
            costs[way.name] = (
                in_the_stack(rest, root, spec, name) if way.num_threads is None else in_processes(spec, way)
            )
        rounds.append({way: asdict(cost) for way, cost in costs.items()} | {"load": os.getloadavg()[0]})
        out.write_text(json.dumps(result, indent=1))
        figures = "; ".join(
            f"{way} {cost.cpu_seconds:.2f} s of CPU, {cost.wall_seconds:.2f} s" for way, cost in costs.items()
        )
        print(f"  round {number + 1}: {figures}", flush=True)
    rest.close()
    return result


def median(rounds: Sequence[dict[str, Any]], way: str, figure: str) -> float:
    return statistics.median(each[way][figure] for each in rounds)


def ratio(rounds: Sequence[dict[str, Any]], way: str, base: str, figure: str) -> tuple[float, float, float]:
    """(median, least, largest) of the rounds' own ratios."""
    ratios = [each[way][figure] / each[base][figure] for each in rounds]
    return statistics.median(ratios), min(ratios), max(ratios)


def median_parts(rounds: Sequence[dict[str, Any]], way: str) -> dict[str, float]:
    """Seconds of CPU a batch by what processes are there for."""
    parts = {part for each in rounds for part in each[way]["cpu_by_part"]}
    return {part: statistics.median(each[way]["cpu_by_part"].get(part, 0.0) for each in rounds) for part in parts}


def table(result: dict[str, Any]) -> str:
    rounds = result["rounds"]
    lines = [f"{'':38s} {'CPU s a batch':>14s} {'wall s a batch':>15s} {'first batch s':>14s} {'memory MB':>10s}"]
    for way in WAYS:
        cpu, wall, first, memory = (median(rounds, way.name, figure) for figure in FIGURES)
        lines.append(f"{way.name:38s} {cpu:14.2f} {wall:15.2f} {first:14.1f} {memory:10.0f}")
    for way, base, figure in RATIOS:
        middle, least, largest = ratio(rounds, way.name, base.name, figure)
        lines.append(f"{figure} of {way.name} over {base.name}: {middle:.2f} ({least:.2f} to {largest:.2f})")
    by_part = median_parts(rounds, STACK.name)
    lines += [f"  {part:24s} {by_part[part]:14.2f}" for part in sorted(by_part, key=by_part.__getitem__, reverse=True)]
    idle = result["idle"]
    lines.append(
        f"idle stack: {sum(idle['memory_mb'].values()):.0f} MB, {sum(idle['cpu_share'].values()):.3f} s of CPU a second"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--out", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack:
        result = measure(stack, arguments.rounds, arguments.batches, arguments.out)
    print(table(result))


if __name__ == "__main__":
    main()
