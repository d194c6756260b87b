"""`make bench-tables`: writes the tables of the docs from the report of `make bench-pipeline`; no figure is typed.

    var/bench/pipeline.json ─► blocks ─► between `<!-- NAME -->` and `<!-- /NAME -->` in the documents

Invariant: what stands between two markers is replaced as a whole, and a document without the markers of one of its
blocks is an error.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.bench.pipeline import FILE, SLOW_NETWORK
from tests.bench.pipeline_inputs import CASE_KINDS

Report = Mapping[str, Any]
"""The report as JSON."""
Ratio = tuple[float, float]
"""The least and the largest of some ratios."""

ROOT = Path(__file__).parents[2]
MODES = {
    "colocated": "colocated",
    "disaggregated": "disaggregated",
    "gap": "+ GAP",
    "tsp": "+ TSP",
    "tag": "+ TAG",
    "stale": "+ staleness 1",
}
"""How modes are called in tables, each with one switch more than the one before."""
MODELS = {
    "hunyuanvideo-13b": "HunyuanVideo",
    "wan2.1-14b": "Wan2.1",
    "flux.1-12b": "FLUX.1",
    "qwen-image-20b": "Qwen-Image",
}
MIXED = "A+C"
NO_ROOM = "does not fit in memory"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cases(report: Report, kind: str) -> Iterator[tuple[str, Mapping[str, Mapping[str, Any]], Mapping[str, Any]]]:
    """The name, the rows by mode and the case itself of all cases of a kind."""
    for case in report["cases"]:
        if case["kind"] == kind:
            name = f"{case['testbed']} · {MODELS[case['model']]}"
            yield name, {row["mode"]: row for row in case["rows"]}, case


def _number(value: float) -> str:
    return f"{value:.3g}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _ratio(row: Mapping[str, Any], baseline: str) -> str:
    """The ratio, and its band if it has one; `–` where the case has no such baseline."""
    if baseline not in row["ratios"]:
        return "–"
    band = row["bands"].get(baseline)
    return f"{row['ratios'][baseline]:.2f}" + ("" if band is None else f" ({_range((band['least'], band['largest']))})")


def _range(ratio: Ratio) -> str:
    low, high = (f"{value:.2f}" for value in ratio)
    return low if low == high else f"{low}–{high}"


def _choice(row: Mapping[str, Any]) -> str:
    mode, tag = row["chosen_mode"], row["tag"]
    if mode == "colocated":
        return f"colocated, fragments of {row['fragment_size']}"
    name = "staleness 1" if mode == "stale" else MODES[mode].removeprefix("+ ")
    lending = "" if tag == "off" else f", lending {tag}"
    return f"{name}{lending}, {row['num_trainer']} of {row['num_lanes']} train, fragments of {row['fragment_size']}"


def modes(report: Report) -> str:
    """Throughput of every mode, and its ratio to colocated."""
    head = ["testbed · model", f"samples/s: {MODES['colocated']}", *list(MODES.values())[1:], "auto"]
    return table(head, ([name, *_throughputs(rows)] for name, rows, _ in _cases(report, "lora")))


def _throughputs(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for mode in [*MODES, "auto"]:
        if mode not in rows:
            yield NO_ROOM
            continue
        row = rows[mode]
        is_compared = mode != "colocated" and "colocated" in row["ratios"]
        yield _number(row["samples_per_second"]) + (f" ({row['ratios']['colocated']:.2f})" if is_compared else "")


def auto(report: Report) -> str:
    """The choice of `auto`, its share of the bound, and its ratios with bands."""
    head = ["testbed · model", "auto", "of the bound", "× disaggregated", "× colocated", "× sharded colocated"]
    return table(
        [*head, "the same, published network rate per node"],
        ([name, *_auto_choice(rows)] for name, rows, _ in _cases(report, "lora")),
    )


def _auto_choice(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if not rows:
        return [NO_ROOM, *[""] * 5]
    row = rows["auto"]
    baselines = ("disaggregated", "colocated", "sharded", SLOW_NETWORK)
    return [_choice(row), _percent(row["own_bound_share"]), *(_ratio(row, baseline) for baseline in baselines)]


def strict(report: Report) -> str:
    """The same at staleness 0, with both bounds, for the cases that fit."""
    shares = ("own_bound_share", "lock_step_share")
    return table(
        ["testbed · model", "auto at staleness 0", "of the bound", "of the lock-step bound", "× colocated"],
        (
            [name, _choice(row), *(_percent(row[share]) for share in shares), _ratio(row, "colocated")]
            for name, row in ((name, rows["auto, strict"]) for name, rows, _ in _cases(report, "lora") if rows)
        ),
    )


def other_trainings(report: Report) -> str:
    """Sharded weights, full tuning."""
    head = ["training", "testbed · model", "pairs a micro-batch", "colocated, samples/s", "auto", "of the bound"]
    return table(
        [*head, "× disaggregated", "× colocated"],
        (
            [CASE_KINDS[kind], name, str(case["micro_batch_size"]), *_other_training(rows)]
            for kind in list(CASE_KINDS)[1:]
            for name, rows, case in _cases(report, kind)
        ),
    )


def _other_training(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if not rows:
        return [NO_ROOM, *[""] * 4]
    row = rows["auto"]
    colocated = _number(rows["colocated"]["samples_per_second"]) if "colocated" in rows else "does not fit"
    ratios = [_ratio(row, baseline) for baseline in ("disaggregated", "colocated")]
    return [colocated, _choice(row), _percent(row["own_bound_share"]), *ratios]


def bands(report: Report) -> str:
    """The band of auto against colocated by kind of truth, where colocated fits."""
    kinds = ("opposed", "correlated", "independent")
    return table(
        ["testbed · model", "as written", *kinds],
        (
            [
                name,
                _range(_of_kind(row, "colocated", "written")),
                *(_range(_of_kind(row, "colocated", kind)) for kind in kinds),
            ]
            for name, row in ((name, rows["auto"]) for name, rows, _ in _cases(report, "lora") if rows)
            if "colocated" in row["bands"]
        ),
    )


def _of_kind(row: Mapping[str, Any], baseline: str, kind: str) -> Ratio:
    ratios = [ratio for truth, ratio in row["bands"][baseline]["by_truth"].items() if truth.startswith(kind)]
    return min(ratios), max(ratios)


HEADLINES: tuple[tuple[str, str, str, Callable[[str], bool]], ...] = (
    ("separate lanes without pipelining", "lora", "disaggregated", lambda testbed: True),
    ("well-built colocated, cards alike", "lora", "colocated", lambda testbed: testbed != MIXED),
    ("well-built colocated, mixed cards", "lora", "colocated", lambda testbed: testbed == MIXED),
    ("colocated with sharded weights, cards alike", "lora", "sharded", lambda testbed: testbed != MIXED),
    ("colocated, LoRA, both under ZeRO 3", "lora, zero 3", "colocated", lambda testbed: True),
    ("colocated, full tuning, both under ZeRO 3", "full, zero 3", "colocated", lambda testbed: True),
)
"""(what auto is compared with, kind of cases, baseline, which testbeds)"""


def _headlines(report: Report) -> Iterator[tuple[str, Ratio, Ratio]]:
    """What auto is compared with, the ratios, and the band of them all."""
    for name, kind, baseline, is_wanted in HEADLINES:
        wanted = [rows["auto"] for _, rows, case in _cases(report, kind) if rows and is_wanted(case["testbed"])]
        rows = [row for row in wanted if baseline in row["ratios"]]
        ratios = [row["ratios"][baseline] for row in rows]
        found = [row["bands"][baseline] for row in rows]
        band = min(each["least"] for each in found), max(each["largest"] for each in found)
        yield name, (min(ratios), max(ratios)), band


def headline(report: Report) -> str:
    """Auto against each baseline: the range over cases, and over cases and truths."""
    return table(
        ["auto, as a multiple of", "costs as written", "band: plan kept, costs truly others"],
        ([name, _range(ratios), _range(band)] for name, ratios, band in _headlines(report)),
    )


def reached(report: Report) -> str:
    """The least share of each bound, and where."""
    cases = [(name, rows, case) for kind in CASE_KINDS for name, rows, case in _cases(report, kind) if rows]
    wanted = {
        "cards alike: auto, of the bound at its staleness": ("auto", "own_bound_share", False),
        "mixed cards: auto, of the bound at its staleness": ("auto", "own_bound_share", True),
        "cards alike: auto at staleness 0, of the lock-step bound": ("auto, strict", "lock_step_share", False),
        "mixed cards: auto at staleness 0, of the lock-step bound": ("auto, strict", "lock_step_share", True),
    }
    return table(
        ["share", "least", "where"],
        ([label, *_least(cases, mode, share, is_mixed)] for label, (mode, share, is_mixed) in wanted.items()),
    )


def _least(cases: list[Any], mode: str, share: str, is_mixed: bool) -> list[str]:
    value, where = min(
        (rows[mode][share], f"{name}, {CASE_KINDS[case['kind']]}")
        for name, rows, case in cases
        if (case["testbed"] == MIXED) == is_mixed
    )
    return [_percent(value), where]


def any_pool(report: Report) -> str:
    """The plans of synthetic pools, with ranks that share micro-batches by speed and with ranks in step."""
    in_step = {row["pool"]: row for row in report["any_pool"] if row["ranks"] == "in step"}
    return table(
        [
            *("pool", "mode", "train", "batch", "of the bound", "at staleness 0"),
            *("ranks in step: of the bound", "at staleness 0", "planned in, seconds of a core"),
        ],
        (list(_any_pool(row, in_step[row["pool"]])) for row in report["any_pool"] if row["ranks"] == "by speed"),
    )


def _any_pool(row: Mapping[str, Any], in_step: Mapping[str, Any]) -> Iterator[str]:
    yield from (row["pool"], row["mode"], str(row["num_trainer"]))
    yield f"{row['batch_seconds']:.1f} s{'' if row['is_simulated'] else ' (estimate)'}"
    for each in (row, in_step):
        yield _percent(each["bound_share"])
        yield "" if each["strict_share"] is None else _percent(each["strict_share"])
    yield f"{row['planning_seconds']:.2f}"


def large_pools(report: Report) -> str:
    """How much longer the simulated batch is than the planned one."""
    rows = report["large_pools"]
    errors = {(row["mode"], row["pool"]): row for row in rows}
    pools = list(dict.fromkeys(row["pool"] for row in rows))
    return table(
        ["mode: planned, then simulated", *pools],
        (
            [MODES[mode], *(_planned(errors[mode, pool]) for pool in pools)]
            for mode in dict.fromkeys(row["mode"] for row in rows)
        ),
    )


def _planned(row: Mapping[str, Any]) -> str:
    return f"{row['planned_seconds']:.1f} s, {row['error']:+.1%}"


def in_short(report: Report) -> str:
    """The README's sentence."""
    of = {
        name: (_range(ratios).replace("–", " to "), _range(band).replace("–", " to "))
        for name, ratios, band in _headlines(report)
    }
    naive, alike, mixed, sharded = (of[name] for name, *_ in HEADLINES[:4])
    return (
        f"Simulated, with costs as assumed, `auto` is {alike[0]} times as fast as a well-built colocated run on equal\n"
        f"cards, {mixed[0]} times on mixed ones, {naive[0]} times as fast as separate lanes without pipelining, and\n"
        f"{sharded[0]} times as fast as colocated runs with sharded weights. Where the costs are truly others and\n"
        f"the plan is kept, these are {alike[1]}, {mixed[1]}, {naive[1]} and {sharded[1]}."
    )


Block = Callable[[Report], str]
DOCUMENTS: Mapping[str, tuple[Block, ...]] = {
    "deploy/docs/reports/pipeline.md": (
        headline,
        modes,
        auto,
        strict,
        bands,
        other_trainings,
        reached,
        any_pool,
        large_pools,
    ),
    "README.md": (in_short,),
}
"""By document: the blocks between whose markers it has generated text. A block is named after its function."""


def with_blocks(text: str, blocks: Iterable[Block], report: Report) -> str:
    """The document with its generated blocks replaced. Raises `ValueError` where the markers of one are missing."""
    for block in blocks:
        name = block.__name__
        before, opening, rest = text.partition(f"<!-- {name} -->\n")
        _, closing, after = rest.partition(f"<!-- /{name} -->")
        if not opening or not closing:
            raise ValueError(
                f"the document must have `<!-- {name} -->` and `<!-- /{name} -->`, each on a line: add them"
            )
        text = f"{before}{opening}\n{block(report)}\n\n{closing}{after}"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the tables of the docs from the bench's report.")
    parser.add_argument("--report", type=Path, default=FILE)
    report = json.loads(parser.parse_args().report.read_text())
    for name, blocks in DOCUMENTS.items():
        document = ROOT / name
        document.write_text(with_blocks(document.read_text(), blocks, report))


if __name__ == "__main__":
    main()
