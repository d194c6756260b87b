"""`make bench-pipeline`: every mode on the published testbeds, simulated; a table, and `var/bench/pipeline.json`.

The scheduler is the real one, its lanes only take time. Inputs: `pipeline_inputs.py`; why: `deploy/docs/pipeline.md`.
"""

import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from tests.bench.pipeline_inputs import (
    AS_PRACTISED,
    AS_WRITTEN,
    TESTBEDS,
    WORK,
    Testbed,
    fragment_sizes,
    variations,
)
from tests.bench.planning_scale import planning_seconds
from worker.contracts.spans import SpanKind
from worker.scheduling.planning.candidate_simulation import Candidate, CandidateResult, simulate_candidate
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.limits import LaneKinds, batch_limits
from worker.scheduling.planning.modes import MODES
from worker.scheduling.planning.planner import Plan, PlanRequest, make_plan
from worker.scheduling.planning.workload import Workload
from worker.scheduling.timeline.bubble_ledger import SpanClass

NUM_BATCHES = 16
"""Measured for each figure where batches differ; at staleness 0 they repeat themselves."""
PUBLISHED = (1.56, 2.10)
"""DigenRL's speed-up over systems of other make: for comparison, no target."""
FILE = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "pipeline.json"


@dataclass(frozen=True, slots=True)
class Row:
    """One mode on one testbed with one model."""

    mode: str
    samples_per_second: float
    batch_seconds: float
    bound_share: float
    strict_bound_share: float | None
    to_colocated: float
    to_practised: float
    num_trainer: int
    num_lanes: int
    fragment_size: int
    tag: str
    shares: dict[str, float]
    band: tuple[float, float] | None = None
    """Of `to_colocated`, over the variations."""

    def line(self) -> str:
        strict = "      " if self.strict_bound_share is None else f"{self.strict_bound_share:6.1%}"
        band = "" if self.band is None else f"{self.band[0]:.2f}–{self.band[1]:.2f}"
        return (
            f"  {self.mode:15s} {self.samples_per_second:8.3f} {self.bound_share:7.1%} {strict} "
            f"{self.to_colocated:6.2f} {band:9s} {self.to_practised:6.2f}   {self.num_trainer:2d}/{self.num_lanes:2d} "
            f"×{self.fragment_size:<2d} {self.tag:6s} {_losses(self.shares)}"
        )


HEADER = (
    "  mode            samples/s   bound strict  ×coloc  band    ×pract  train/all ×frag   "
    "where lane time goes that is neither generating nor training"
)


def main() -> None:
    started = time.monotonic()
    cases: list[tuple[str, str, list[Row]]] = []
    for testbed in TESTBEDS:
        for name, work in WORK.items():
            rows = list(_rows(testbed, work))
            print(f"\n{testbed.name} · {name}\n{HEADER}", flush=True)
            for row in rows:
                print(row.line(), flush=True)
            cases.append((testbed.name, name, rows))
    report = {
        "published_speed_up": PUBLISHED,
        "targets": _targets(cases),
        "planning_seconds": planning_seconds(),
        "cases": [
            {"testbed": testbed, "model": model, "rows": [asdict(row) for row in rows]}
            for testbed, model, rows in cases
        ],
    }
    print(f"\n{json.dumps(report['targets'], indent=1)}\nplanning: {report['planning_seconds']} s")
    print(f"published for comparison: {PUBLISHED[0]}–{PUBLISHED[1]}×; {time.monotonic() - started:.0f} s in all")
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(report, indent=1) + "\n")


def _rows(testbed: Testbed, work: Workload) -> Iterator[Row]:
    costs = AS_WRITTEN.costs(work, testbed)
    plan = make_plan(_question(testbed, work, costs))
    found = {name: choice.split_result.candidate for name, choice in plan.by_mode.items()}
    played = {name: _play(work, costs, candidate) for name, candidate in found.items()}
    practised = _play(work, AS_WRITTEN.costs(replace(work, weight_transfer=AS_PRACTISED), testbed), found["colocated"])
    colocated = played["colocated"].batch_seconds
    strictly = min((name for name in found if name != "stale"), key=lambda name: played[name].batch_seconds)
    at_all = min(found, key=lambda name: played[name].batch_seconds)
    reported = {name: name for name in found} | {"auto, strict": strictly, "auto": at_all}
    for label, name in reported.items():
        seconds = played[name].batch_seconds
        yield Row(
            mode=label,
            samples_per_second=work.algebra.num_trajectories / seconds,
            batch_seconds=seconds,
            bound_share=plan.bound_seconds / seconds,
            strict_bound_share=None if found[name].pipeline.max_staleness else plan.strict_bound_seconds / seconds,
            to_colocated=colocated / seconds,
            to_practised=practised.batch_seconds / seconds,
            num_trainer=len(found[name].trainers),
            num_lanes=len(testbed.devices),
            fragment_size=found[name].fragment_size,
            tag=str(found[name].pipeline.tag),
            shares={_class_name(span_class): share for span_class, share in played[name].shares.items()},
            band=_band(testbed, work, plan, name) if label.startswith("auto") else None,
        )


def _question(testbed: Testbed, work: Workload, costs: PoolCosts) -> PlanRequest:
    return PlanRequest(work=work, devices=testbed.devices, costs=costs, fragment_sizes=fragment_sizes(work))


def _play(work: Workload, costs: PoolCosts, candidate: Candidate, num_batches: int = NUM_BATCHES) -> CandidateResult:
    number = num_batches if candidate.pipeline.max_staleness else 1
    return simulate_candidate(work, costs, candidate, advantage_std="group", num_batches=number)


def _band(testbed: Testbed, work: Workload, plan: Plan, mode: str) -> tuple[float, float]:
    """The ratio to colocated where inputs are at the ends of their ranges. There, the choice is between what was chosen
    as written, the same with a number of trainers that follows the limit, and colocated."""
    chosen, colocated = (plan.by_mode[name].split_result.candidate for name in (mode, "colocated"))
    ratios: list[float] = []
    for variation in variations():
        costs = variation.costs(work, testbed)
        candidates = {colocated, chosen, _retuned(work, costs, chosen, mode)}
        seconds = {candidate: _play(work, costs, candidate, 3).batch_seconds for candidate in candidates}
        ratios.append(seconds[colocated] / min(seconds.values()))
    return min(ratios), max(ratios)


def _retuned(work: Workload, costs: PoolCosts, candidate: Candidate, mode: str) -> Candidate:
    """The number of trainers with the smallest limit, in the candidate's order of lanes."""
    limit = next(known.limit for known in MODES if known.name == mode)
    num_lanes = len(costs.lanes)
    if len(candidate.trainers) == num_lanes:
        return candidate
    others = [place for place in range(num_lanes) if place not in candidate.trainers]
    order = [*candidate.trainers, *others]
    kinds = LaneKinds.of(costs, candidate.fragment_size)
    of_lane = np.eye(kinds.number.size, dtype=np.int64)[[kinds.of_lane[place] for place in order]]
    algebra = work.with_fragment_size(candidate.fragment_size).algebra
    limits = batch_limits(algebra, costs, kinds, np.cumsum(of_lane, axis=0)[:-1], limit)
    return replace(candidate, trainers=tuple(sorted(order[: int(np.argmin(limits)) + 1])))


def _class_name(span_class: SpanClass) -> str:
    kind, cause = span_class
    return str(kind) if cause is None else f"idle: {cause}"


_WORK = {str(SpanKind.GENERATE), str(SpanKind.LENT_GENERATE), str(SpanKind.TRAIN)}


def _losses(shares: dict[str, float]) -> str:
    lost = sorted(((share, name) for name, share in shares.items() if name not in _WORK), reverse=True)
    return ", ".join(f"{name.removeprefix('idle: ')} {share:.1%}" for share, name in lost if share >= 0.002)


def _targets(cases: Sequence[tuple[str, str, list[Row]]]) -> dict[str, object]:
    """What was aimed at, what was reached at worst, and where."""
    reached: dict[str, tuple[float, str]] = {}
    for testbed, model, rows in cases:
        of = {row.mode: row for row in rows}
        others = max(row.samples_per_second for row in rows if not row.mode.startswith("auto"))
        for name, value in (
            ("auto: share of the bound (≥ 0.97)", of["auto"].bound_share),
            ("auto, strict: share of the strict bound (≥ 0.95)", of["auto, strict"].strict_bound_share or 0.0),
            ("auto: times the best other mode (≥ 1)", of["auto"].samples_per_second / others),
        ):
            reached[name] = min(reached.get(name, (math.inf, "")), (value, f"{testbed} · {model}"))
    return {name: {"least": round(value, 4), "where": where} for name, (value, where) in reached.items()}


if __name__ == "__main__":
    main()
