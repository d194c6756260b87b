"""Every mode run for real: the shapes model on this machine's cores, one core per lane, in interleaved repeats.

    python -m tests.bench.real [--repeats 3] [--batches 12] [--out var/bench/pipeline-real.json]

One rollout and one trainer lane, or the same two lanes colocated. Each repeat runs every mode once, so that other load
on the machine affects all of them; a mode's figure is the median of its steady batches over all repeats, its ratio to
colocated the median of the repeats' own ratios. The bound counts work, critical path and whole units
(`worker.scheduling.planning.bounds`). Its costs are the means over those of these runs in which both lanes are at work
throughout: cores share caches and memory, so a lane whose neighbour idles is faster than two working lanes can be. Each
mode's own costs are in the JSON.
"""

import argparse
import json
import os
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.bench.cluster import bench_cluster
from tests.bench.real_runs import BUSY_MODES, MODES, RealRun, real_run, shapes_spec
from worker.scheduling.core.costs import Cost, CostKind
from worker.scheduling.planning.bounds import bound_seconds
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts

BASELINE = "colocated"
"""The mode that speed-ups are relative to."""
NUM_LANES = 2
"""Lanes that generate or train: `shapes_spec` asks for one of each role."""


def mean_costs(runs: Iterable[RealRun]) -> dict[CostKind, Cost]:
    """By kind: the mean, over lanes and runs, of the costs measured by the end of each run."""
    known: dict[CostKind, list[Cost]] = defaultdict(list)
    for run in runs:
        for (_, kind), cost in run.measured.costs[max(run.measured.costs)].items():
            known[kind].append(cost)
    return {
        kind: Cost(statistics.mean(cost.per_call for cost in costs), statistics.mean(cost.per_unit for cost in costs))
        for kind, costs in known.items()
    }


def bounds(runs: Iterable[RealRun]) -> dict[int, float]:
    """By the largest staleness allowed: the least seconds of a batch on two equal lanes.

    `runs` have one trainer rank, which never waits for another.
    """
    costs = mean_costs(runs)

    def fixed(kind: CostKind) -> float:
        return costs[kind].seconds()

    lane = LaneCosts(
        generate=costs[CostKind.GENERATE],
        accumulate=costs[CostKind.ACCUMULATE],
        commit=fixed(CostKind.COMMIT),
        snapshot=fixed(CostKind.SNAPSHOT),
        publish=fixed(CostKind.PUBLISH),
        pull=fixed(CostKind.PULL),
        lend=fixed(CostKind.LEND),
        reclaim=fixed(CostKind.RECLAIM),
    )
    pool = PoolCosts(lanes=(lane,) * NUM_LANES, score=costs[CostKind.SCORE], num_reward=1)
    algebra = shapes_spec(BASELINE, num_batches=1).algebra
    return {staleness: bound_seconds(algebra, pool, max_staleness=staleness) for staleness in (0, 1)}


def seconds_of(runs: Iterable[RealRun]) -> float:
    """The median seconds of the steady batches of these runs."""
    return statistics.median(seconds for run in runs for seconds in run.steady)


def row(mode: str, runs: Sequence[RealRun], baseline: Sequence[RealRun], bound: dict[int, float]) -> dict[str, Any]:
    """One mode's row of the table; `baseline` holds the run of the same repeat for each of `runs`."""
    seconds = seconds_of(runs)
    max_staleness = int(MODES[mode].get("max_staleness", 0))
    ratios = [seconds_of([base]) / seconds_of([run]) for base, run in zip(baseline, runs, strict=True)]
    return {
        "mode": mode,
        "batch_seconds": seconds,
        "speed_up": statistics.median(ratios),
        "speed_ups": ratios,
        "share_of_bound": bound[1] / seconds,
        "share_of_own_bound": bound[max_staleness] / seconds,
        "costs": {kind.value: [cost.per_call, cost.per_unit] for kind, cost in mean_costs(runs).items()},
        "steady_seconds": [run.steady for run in runs],
        "load_averages": [run.load_average for run in runs],
    }


def line(row: dict[str, Any]) -> str:
    low, high = min(row["speed_ups"]), max(row["speed_ups"])
    return (
        f"{row['mode']:30s} {row['batch_seconds']:7.3f} s  {row['speed_up']:5.2f}× ({low:.2f} to {high:.2f})  "
        f"{row['share_of_bound']:6.1%}  {row['share_of_own_bound']:6.1%}  "
        f"{statistics.mean(row['load_averages']):5.1f}"
    )


def measure(num_repeats: int, num_batches: int) -> dict[str, list[RealRun]]:
    """By mode: its runs, one for each repeat."""
    runs: dict[str, list[RealRun]] = defaultdict(list)
    with bench_cluster() as ray_address:
        for repeat in range(num_repeats):
            for mode in MODES:
                run = real_run(shapes_spec(mode, num_batches=num_batches), ray_address)
                runs[mode].append(run)
                print(
                    f"  repeat {repeat + 1}, {mode}: {seconds_of([run]):.3f} s, load {run.load_average:.1f}", flush=True
                )
    return runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--out", type=Path, default=Path("var/bench/pipeline-real.json"))
    arguments = parser.parse_args()
    print(f"load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    runs = measure(arguments.repeats, arguments.batches)
    both_at_work = [run for mode in BUSY_MODES for run in runs[mode]]
    bound = bounds(both_at_work)
    table = [row(mode, of_mode, runs[BASELINE], bound) for mode, of_mode in runs.items()]
    print(f"\nbound {bound[1]:.3f} s a batch; at staleness 0 {bound[0]:.3f} s")
    print("mode                           batch time  to colocated          of bound  of its own  load")
    for entry in table:
        print(line(entry))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    costs = {kind.value: [cost.per_call, cost.per_unit] for kind, cost in mean_costs(both_at_work).items()}
    arguments.out.write_text(
        json.dumps({"bound_seconds_by_staleness": bound, "costs": costs, "modes": table}, indent=1)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
