"""What a run loses that was planned on wrong costs, or whose lanes change, if it re-plans and if it does not.

    python -m tests.bench.robust [--seeds 2] [--only TEXT] [--pools 200] [--first-pool 0] [--processes 2] [--simulated]
                                 [--out var/bench/robust.json]

Each run is planned on believed costs and simulated on true ones. The regret of a batch is what its way of working takes
more in the long run, on the true costs, than the plan that is made from the true costs; the regret of a run is the mean
from the third batch on after whatever happened. What changes of the trainer lanes take is reported apart, in seconds
for which training stands still, and added to the regret of a run of 50 batches. Then come plans of random pools beside
the best possible (`pool_shares`), and last some runs on emulated lanes over real Ray (`robust_emulated`).
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.bench.pool_shares import PoolShare, distribution_line, distributions, share_of_seed
from tests.bench.replanned_run import ReplannedRun, Way, first_plan, settled_seconds
from tests.bench.robust_case import RobustCase
from tests.bench.robust_cases import MANY_LANES, NamedCase, cases
from tests.bench.robust_emulated import measured_runs
from worker.scheduling.planning.planner import make_plan

OUTPUT = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "robust.json"
"""Where the report is written by default."""
SETTLED = 3
"""The batch after whatever happened from which on regret counts."""
NUM_BATCHES_COUNTED = 10
"""Batches of which the mean regret is taken."""
NUM_LONG_RUN = 24
"""Batches whose mean stands for the long run: at staleness 1 short and long batches may alternate."""
NUM_LONG_RUN_OF_MANY = 6
"""The same in pools of `MANY_LANES` or more."""
NUM_LONG_RUN_OF_VARYING = 240
"""The same where durations vary. With the long tails here the regret of one way of working against another varies from
seed to seed by 4 % (standard deviation of 16) over 24 batches, which says nothing of a goal of 3 %, and by 0.6 % (of 6)
over 240."""
BATCHES_OF_A_RUN = 50
"""Batches over which the seconds of moves are spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case."""

    pool: str
    cause: str
    what: str
    best_seconds: float
    """Seconds of a batch of the plan that is made from the truth."""
    regret_without: float
    """Mean relative regret of a batch without re-planning."""
    regret: float
    """The same with re-planning."""
    regret_of_run: float
    """The same with the seconds of moves, spread over `BATCHES_OF_A_RUN`."""
    regret_as_run: float
    """Relative regret of the same batches as they were simulated: with moves, with calls on lanes of which the run had
    yet to learn, and with what was generated ahead before."""
    move_seconds: float
    """Seconds in which training stood still for other trainer lanes."""
    num_changes: int
    num_decisions: int
    deciding_seconds: float
    """CPU seconds of the slowest decision."""

    def line(self) -> str:
        return (
            f"{self.pool:33} {self.what:35} {self.best_seconds:8.2f} s, regret {self.regret_without:6.1%} without, "
            f"{self.regret:6.1%} with re-planning ({self.regret_as_run:6.1%} as run), {self.num_changes} changes, "
            f"{self.move_seconds:5.0f} s of moves, a decision takes {self.deciding_seconds:.1f} s"
        )


def row_of(named: NamedCase) -> Row:
    """Simulate the case with re-planning, and its ways of working in the long run."""
    case = named.make()
    first = case.since_batch + SETTLED
    case = replace(case, num_batches=first - 1 + NUM_BATCHES_COUNTED)
    planned = first_plan(case)
    replanned = ReplannedRun(case, planned, replans=True).run()
    unchanged = ReplannedRun(replace(case, num_batches=case.since_batch + 2), planned, replans=False).run()
    long_run = _LongRun(case)
    best = long_run.seconds(_best_way(case))
    counted = [replanned.way_of(batch) for batch in range(first, first + NUM_BATCHES_COUNTED)]
    regret = statistics.mean(long_run.seconds(way) for way in counted) / best - 1
    return Row(
        pool=named.pool,
        cause=named.cause,
        what=named.what,
        best_seconds=best,
        regret_without=long_run.seconds(unchanged.ways[-1][1]) / best - 1,
        regret=regret,
        regret_of_run=regret + replanned.move_seconds / (BATCHES_OF_A_RUN * best),
        regret_as_run=replanned.batch_seconds(first) / best - 1,
        move_seconds=replanned.move_seconds,
        num_changes=len(replanned.decisions),
        num_decisions=len(replanned.deciding_seconds),
        deciding_seconds=round(max(replanned.deciding_seconds, default=0.0), 2),
    )


def _best_way(case: RobustCase) -> Way:
    lanes = case.lanes_at_the_end
    return Way(lanes=lanes, candidate=make_plan(case.truth_of(lanes), only_best=True).best.split_result.candidate)


class _LongRun:
    """Seconds of a batch by way of working, each simulated once."""

    def __init__(self, case: RobustCase) -> None:
        self._case = case
        self._num_batches = NUM_LONG_RUN_OF_MANY if len(case.true.lanes) >= MANY_LANES else NUM_LONG_RUN
        if case.vary is not None:
            self._num_batches = NUM_LONG_RUN_OF_VARYING
        self._known: dict[Way, float] = {}

    def seconds(self, way: Way) -> float:
        if way not in self._known:
            self._known[way] = settled_seconds(self._case, way, self._num_batches)
        return self._known[way]


# --- the report -------------------------------------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> dict[str, float]:
    """Medians and 90th percentiles of the regrets, without and with re-planning, and mean seconds of moves."""
    found: dict[str, float] = {"num_cases": len(rows)}
    for name, values in (
        ("without", [row.regret_without for row in rows]),
        ("with", [row.regret for row in rows]),
        ("of_run", [row.regret_of_run for row in rows]),
    ):
        tenths = statistics.quantiles(values, n=10, method="inclusive") if len(values) > 1 else values
        found |= {f"median_{name}": statistics.median(values), f"percentile_90_{name}": tenths[-1]}
    return found | {"move_seconds": statistics.mean(row.move_seconds for row in rows)}


def summaries(rows: Sequence[Row], names: Iterable[str]) -> dict[str, dict[str, float]]:
    """A summary of the rows of each name; `names`: one for each row."""
    by_name: dict[str, list[Row]] = {}
    for name, row in zip(names, rows, strict=True):
        by_name.setdefault(name, []).append(row)
    return {name: summary(of_name) for name, of_name in by_name.items()}


def _summary_line(name: str, found: Mapping[str, float]) -> str:
    return (
        f"{name:33} {found['num_cases']:3.0f} cases, regret without: median {found['median_without']:6.1%}, "
        f"90th percentile {found['percentile_90_without']:6.1%}; with re-planning: {found['median_with']:6.1%}, "
        f"{found['percentile_90_with']:6.1%}; with moves: {found['median_of_run']:6.1%}, "
        f"{found['percentile_90_of_run']:6.1%}"
    )


def _row_of_index(index: int, num_seeds: int) -> Row:
    return row_of(list(cases(num_seeds))[index])


def _rows(indices: Sequence[int], num_seeds: int, num_processes: int) -> Iterator[Row]:
    with ProcessPoolExecutor(num_processes, mp_context=get_context("spawn")) as executor:
        # Large pools take longest, so they come first, and no process is left alone with one at the end.
        futures = [executor.submit(_row_of_index, index, num_seeds) for index in indices]
        for future in futures:
            yield future.result()


def _pool_shares(seeds: Iterable[int], num_processes: int) -> Iterator[PoolShare]:
    with ProcessPoolExecutor(num_processes, mp_context=get_context("spawn")) as executor:
        for future in as_completed([executor.submit(share_of_seed, seed) for seed in seeds]):
            yield future.result()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.robust", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="", help="only cases whose names hold this text")
    parser.add_argument("--pools", type=int, default=200, help="number of random pools")
    parser.add_argument("--first-pool", type=int, default=0, help="seed of the first of them")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--simulated", action="store_true", help="without the runs on emulated lanes")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    began = time.monotonic()
    wanted = [
        (-named.num_lanes, index)
        for index, named in enumerate(cases(options.seeds))
        if options.only in f"{named.pool} {named.what}"
    ]
    rows = []
    for row in _rows([index for _, index in sorted(wanted)], options.seeds, options.processes):
        rows.append(row)
        print(row.line(), flush=True)
    wrong = [row for row in rows if row.cause == "wrong costs"]
    report: dict[str, Any] = {
        "rows": [asdict(row) for row in rows],
        "by_pool": summaries(wrong, [row.pool for row in wrong]),
        "by_cause": summaries(rows, [row.cause for row in rows]),
        "simulation_seconds": round(time.monotonic() - began, 1),
    }
    for name, found in [*report["by_pool"].items(), *report["by_cause"].items()]:
        print(_summary_line(name, found))
    shares = []
    for share in _pool_shares(range(options.first_pool, options.first_pool + options.pools), options.processes):
        shares.append(share)
        print(share.line(), flush=True)
    report["random_pools"] = distributions(shares)
    report["pool_shares"] = [asdict(share) for share in sorted(shares, key=lambda share: share.seed)]
    for name, of_kind in report["random_pools"].items():
        print(distribution_line(name, of_kind))
    if not options.simulated:
        report["emulated"] = measured_runs()
        print(json.dumps(report["emulated"], indent=1))
    report["seconds"] = round(time.monotonic() - began, 1)
    print(f"{report['seconds']} s")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
