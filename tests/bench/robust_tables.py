"""`make bench-robust-tables`: writes the tables of the report on wrong costs from the bench's own; no figure is typed.

var/bench/robust.json          ─┐
var/bench/suspended_lane.json  ─┼─► blocks ─► between `<!-- NAME -->` and `<!-- /NAME -->` in the document
var/bench/second_plans.json    ─┘
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.pipeline_tables import ROOT, Report, table, with_blocks
from tests.bench.robust import OUTPUT
from tests.bench.second_plans import OUTPUT as OUTPUT_OF_SECOND_PLANS
from tests.bench.suspended_lane import OUTPUT as OUTPUT_OF_SUSPENDED_LANE

DOCUMENT = "deploy/docs/reports/robust.md"
_HEAD = (
    "without: median",
    "90th percentile",
    "re-planned: median",
    "90th percentile",
    "with moves: median",
    "90th percentile",
)
_ERRORS = ("error", "regret")
"""What a plan is judged by."""
_VALUES = ("median", "percentile_90", "largest")
"""Of each, in this order."""
_RANDOM = "straggler of a random pool"
_HEAD_OF_HAPPENINGS = (
    "pool",
    "what",
    "best, s a batch",
    "regret without",
    "re-planned",
    "with moves",
    "as run",
    "changes",
    "s of moves",
)


def wrong_costs(report: Report) -> str:
    """By pool: regrets over directions and seeds."""
    return table(("pool", "cases", *_HEAD), _summaries(report["by_pool"]))


def by_cause(report: Report) -> str:
    """By what is wrong or happens: regrets over all cases."""
    return table(("what", "cases", *_HEAD), _summaries(report["by_cause"]))


def _summaries(found: Mapping[str, Mapping[str, float]]) -> Iterator[Iterable[str]]:
    for name, values in found.items():
        regrets = (
            _percent(values[f"{value}_{kind}"])
            for kind in ("without", "with", "of_run")
            for value in ("median", "percentile_90")
        )
        yield name, f"{values['num_cases']:.0f}", *regrets


def happenings(report: Report) -> str:
    """Each case in which something happens to the lanes of a pool that is not random."""
    others = ("wrong costs", _RANDOM)
    return _happenings([row for row in report["rows"] if row["cause"] not in others])


def random_stragglers(report: Report) -> str:
    """Each case in which a lane of a random pool turns slow."""
    rows = [row for row in report["rows"] if row["cause"] == _RANDOM]
    return _happenings(sorted(rows, key=lambda row: (row["pool"], row["what"])))


def _happenings(rows: Sequence[Mapping[str, Any]]) -> str:
    return table(
        _HEAD_OF_HAPPENINGS,
        (
            (
                row["pool"],
                row["what"],
                f"{row['best_seconds']:.1f}",
                _percent(row["regret_without"]),
                _percent(row["regret"]),
                _percent(row["regret_of_run"]),
                _percent(row["regret_as_run"]),
                f"{row['num_changes']}",
                f"{row['move_seconds']:.0f}",
            )
            for row in rows
        ),
    )


def emulated(report: Report) -> str:
    """The runs over real Ray."""
    runs: Sequence[Mapping[str, Any]] = report["emulated"]
    return table(
        ("not known", "s a batch as planned", "re-planned", "promised", "on the true costs, simulated", "s of moves"),
        (
            (
                run["unknown"],
                f"{run['seconds_before']:.2f} ({run['way_before']})",
                f"{run['seconds']:.2f} ({run['way']})",
                f"{run['promised_seconds']:.2f}",
                f"{run['best_seconds']:.2f} ({run['best_way']})",
                f"{run['move_seconds']:.1f} (predicted {run['predicted_move_seconds']:.1f})",
            )
            for run in runs
        ),
    )


def suspended_lane(report: Report) -> str:
    """The real runs with a lane that is stopped most of the time, round by round."""
    return table(
        ("the lane runs", "two lanes", "one alone", "with the stopped lane", "after", "promised", "s of moves"),
        (
            (
                f"{run['share_running']:.0%} of the time",
                f"{run['alike']:.2f}",
                f"{row['alone']:.2f}",
                f"{run['stopped']:.2f} ({run['num_batches_stopped']} batches)",
                *_change(run),
            )
            for row in report["suspended_lane"]
            for run in row["stopped"]
        ),
    )


def _change(run: Mapping[str, Any]) -> tuple[str, str, str]:
    if run["changed"] is None:
        return "kept", "", ""
    moves = f"{run['move_seconds']:.1f} (predicted {run['predicted_move_seconds']:.1f})"
    return f"{run['changed']:.2f}", f"{run['promised']:.2f}", moves


def random_pools(report: Report) -> str:
    """Random pools: how the shares of their plans are distributed."""
    head = ("pools", "number", "least", "1 % below", "5 % below", "median", "below", "a split is faster", "unproven")
    return table(
        head,
        (
            (
                name,
                f"{found['num_pools']}",
                *(_percent(found[value]) for value in ("min", "percentile_1", "percentile_5", "median")),
                f"{found['num_short']}",
                f"{found['num_broken']}",
                f"{found['num_unproven']}",
            )
            for name, found in report["random_pools"].items()
        ),
    )


def least_shares(report: Report) -> str:
    """The five random pools of each kind whose plans reach the least."""
    return table(
        ("pools", "seed", "share", "of the best of all splits"),
        (
            (name, f"{seed}", _percent(share), "" if of_all is None else _percent(of_all))
            for name, found in report["random_pools"].items()
            for seed, share, of_all in found["worst"]
        ),
    )


def _percent(value: float) -> str:
    return f"{value:.1%}"


def second_plans(report: Report) -> str:
    """Plans on profiles and those made from what their runs have measured, by what was asked of the first run."""
    head = ("first run", "pools", *(f"{plan} plan: {what}" for plan in ("first", "second") for what in _ERRORS))
    return table(
        head,
        (
            (
                first_run,
                f"{found['num_pools']:.0f}",
                *(
                    " / ".join(_percent(found[f"{plan}_{what}_{value}"]) for value in _VALUES)
                    for plan in ("first", "second")
                    for what in _ERRORS
                ),
            )
            for first_run, found in report["second_plans"].items()
        ),
    )


_PARTS = {
    wrong_costs: "by_pool",
    happenings: "rows",
    random_stragglers: "rows",
    by_cause: "by_cause",
    random_pools: "random_pools",
    least_shares: "random_pools",
    emulated: "emulated",
    suspended_lane: "suspended_lane",
    second_plans: "second_plans",
}
"""By block: the part of the reports that it is made from."""
BLOCKS = tuple(_PARTS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the tables of the report on wrong costs.")
    parser.add_argument("--report", type=Path, default=OUTPUT)
    path = parser.parse_args().report
    report = _read(path)
    report["suspended_lane"] = _read(OUTPUT_OF_SUSPENDED_LANE).get("rounds")
    report["second_plans"] = _read(OUTPUT_OF_SECOND_PLANS).get("by_first_run")
    document = ROOT / DOCUMENT
    blocks = [block for block, part in _PARTS.items() if report.get(part)]
    if kept := [block.__name__ for block in BLOCKS if block not in blocks]:
        print("not in any report, so left as they are:", ", ".join(kept))
    document.write_text(with_blocks(document.read_text(), blocks, report))


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


if __name__ == "__main__":
    main()
