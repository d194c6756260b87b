"""`make bench-pipeline`: every mode on the published testbeds, simulated; a table, and `var/bench/pipeline.json`.

The scheduler is the real one; its lanes only take time. The inputs are in `pipeline_inputs.py`, and the reasons for
them in `deploy/docs/reports/pipeline.md`.
"""

import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from tests.bench import any_pool
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
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.limits import ScheduleRules, batch_limits
from worker.scheduling.planning.planner import Plan, PlanRequest, make_plan
from worker.scheduling.planning.workload import Workload
from worker.scheduling.timeline.bubble_ledger import SpanClass

NUM_BATCHES = 16
"""Batches measured for each figure at staleness 1, where they take different times; at staleness 0 one is enough."""
BAND_NUM_BATCHES = 3
"""The same for each variation of a band; fewer, because every case simulates 14 of them for up to 3 candidates."""
PUBLISHED = (1.56, 2.10)
"""DigenRL's speed-up over other systems, for comparison and not as a target."""
FILE = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "pipeline.json"
"""Where the report is written."""


@dataclass(frozen=True, slots=True)
class Row:
    """One mode on one testbed with one model."""

    mode: str
    samples_per_second: float
    batch_seconds: float
    bound_share: float
    strict_bound_share: float | None
    to_colocated: float
    """Throughput, as a multiple of colocated placement's."""
    to_practised: float
    """Throughput, as a multiple of colocated placement's as others run it (`AS_PRACTISED`)."""
    num_trainer: int
    num_lanes: int
    fragment_size: int
    tag: str
    shares: dict[str, float]
    """By span class: the share of lane time."""
    band: tuple[float, float] | None = None
    """The least and largest `to_colocated` over the variations of uncertain inputs."""

    def line(self) -> str:
        """The row as one line under `HEADER`."""
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
    pools = list(any_pool.rows())
    print("\nany pool", *(row.line() for row in pools), sep="\n  ", flush=True)
    report = {
        "published_speed_up": PUBLISHED,
        "targets": _targets(cases),
        "planning_seconds": planning_seconds(),
        "any_pool": [asdict(row) for row in pools],
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
    plan = make_plan(_plan_request(testbed, work, costs))
    found = {name: choice.split_result.candidate for name, choice in plan.by_mode.items()}
    results = {name: _simulate(work, costs, candidate) for name, candidate in found.items()}
    practised_costs = AS_WRITTEN.costs(replace(work, weight_transfer=AS_PRACTISED), testbed)
    practised = _simulate(work, practised_costs, found["colocated"])
    colocated = results["colocated"].batch_seconds
    best_strict = min((name for name in found if name != "stale"), key=lambda name: results[name].batch_seconds)
    best = min(found, key=lambda name: results[name].batch_seconds)
    reported = {name: name for name in found} | {"auto, strict": best_strict, "auto": best}
    for label, name in reported.items():
        seconds = results[name].batch_seconds
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
            shares={_class_name(span_class): share for span_class, share in results[name].shares.items()},
            band=_band(testbed, work, plan, name) if label.startswith("auto") else None,
        )


def _plan_request(testbed: Testbed, work: Workload, costs: PoolCosts) -> PlanRequest:
    return PlanRequest(work=work, devices=testbed.devices, costs=costs, fragment_sizes=fragment_sizes(work))


def _simulate(
    work: Workload, costs: PoolCosts, candidate: Candidate, num_batches: int = NUM_BATCHES
) -> CandidateResult:
    number = num_batches if candidate.pipeline.max_staleness else 1
    return simulate_candidate(work, costs, candidate, advantage_std="group", num_batches=number)


def _band(testbed: Testbed, work: Workload, plan: Plan, mode: str) -> tuple[float, float]:
    """The least and largest ratio to colocated with each uncertain input at each end of its range. There the choice is
    between the candidate chosen for the inputs as written, the same with the number of trainers of the least limit, and
    colocated placement."""
    chosen, colocated = (plan.by_mode[name].split_result.candidate for name in (mode, "colocated"))
    ratios: list[float] = []
    for variation in variations():
        costs = variation.costs(work, testbed)
        candidates = {colocated, chosen, _retuned(work, costs, chosen)}
        seconds = {
            candidate: _simulate(work, costs, candidate, BAND_NUM_BATCHES).batch_seconds for candidate in candidates
        }
        ratios.append(seconds[colocated] / min(seconds.values()))
    return min(ratios), max(ratios)


def _retuned(work: Workload, costs: PoolCosts, candidate: Candidate) -> Candidate:
    """The candidate with the number of trainers of the least limit, in its own order of lanes."""
    rules = ScheduleRules.of(candidate.pipeline, "group")
    num_lanes = len(costs.lanes)
    if len(candidate.trainers) == num_lanes:
        return candidate
    others = [index for index in range(num_lanes) if index not in candidate.trainers]
    order = [*candidate.trainers, *others]
    kinds = LaneKinds.of(costs, candidate.fragment_size)
    of_lane = np.eye(kinds.number.size, dtype=np.int64)[[kinds.of_lane[index] for index in order]]
    algebra = work.with_fragment_size(candidate.fragment_size).algebra
    limits = batch_limits(algebra, costs, kinds, np.cumsum(of_lane, axis=0)[:-1], rules)
    return replace(candidate, trainers=tuple(sorted(order[: int(np.argmin(limits)) + 1])))


def _class_name(span_class: SpanClass) -> str:
    kind, cause = span_class
    return str(kind) if cause is None else f"idle: {cause}"


_WORK = {str(SpanKind.GENERATE), str(SpanKind.LENT_GENERATE), str(SpanKind.TRAIN)}
"""The span kinds that are no loss."""
_LEAST_SHARE_SHOWN = 0.002
"""Smaller losses would be shown as 0.1 % or less."""


def _losses(shares: dict[str, float]) -> str:
    """The classes of lane time that are neither generating nor training, the largest first."""
    lost = sorted(((share, name) for name, share in shares.items() if name not in _WORK), reverse=True)
    shown = [(share, name) for share, name in lost if share >= _LEAST_SHARE_SHOWN]
    return ", ".join(f"{name.removeprefix('idle: ')} {share:.1%}" for share, name in shown)


def _targets(cases: Sequence[tuple[str, str, list[Row]]]) -> dict[str, object]:
    """By target: the least value reached over all cases, and in which case."""
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
