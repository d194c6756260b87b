"""`make bench-pipeline`: every mode on testbeds as large as published ones, simulated; a table, and
`var/bench/pipeline.json`, from which `make bench-tables` writes the tables of the docs. It fails where a plan takes
longer than it may, or a large pool's prediction is off.

The scheduler is the real one; its lanes only take time. The inputs are in `pipeline_inputs.py`, what they may truly be
in `true_costs.py`, and the reasons for them in `deploy/docs/reports/pipeline.md`.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tests.bench import any_pool, large_pools
from tests.bench.pipeline_inputs import (
    CASE_KINDS,
    Case,
    Testbed,
    cases,
    costs_as_written,
    costs_on_slow_network,
    fragment_sizes,
)
from tests.bench.planning_scale import planning_seconds
from tests.bench.true_costs import TRUTHS
from worker.contracts.spans import SpanKind
from worker.scheduling.planning.candidate_simulation import Candidate, CandidateResult, simulate_candidate
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.planner import ModeChoice, Plan, PlanRequest, make_plan
from worker.scheduling.planning.workload import Workload
from worker.scheduling.timeline.bubble_ledger import SpanClass

NUM_BATCHES = 16
"""Batches measured for each figure at staleness 1, where they take different times; at staleness 0 one is enough."""
TRUE_NUM_BATCHES = 4
"""The same for each truth of a band: two windows of two batches. Fewer, because every case simulates many truths."""
PUBLISHED = (1.56, 2.10)
"""DigenRL's speed-up over veRL-Omni and GenRL, as an editor's summary of the paper gives it: for comparison and no
target."""
BASELINES = ("disaggregated", "colocated", "sharded")
"""What throughput is compared with: separate lanes without any pipelining, Tandem's own colocated placement, and
colocated placement with sharded weights as others run it."""
SLOW_NETWORK = "sharded, slow network"
"""The last baseline where the published network rate is that of a whole node: a ratio without a band."""
FILE = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "pipeline.json"
"""Where the report is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A ratio over all truths, with the plan made on the costs as written."""

    least: float
    largest: float
    by_truth: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One mode of one case."""

    mode: str
    chosen_mode: str
    """The mode that `auto` stands for; of other rows the mode itself."""
    samples_per_second: float
    batch_seconds: float
    bound_share: float
    """Share of the throughput of the bound at staleness 1, which holds for every schedule."""
    own_bound_share: float
    """The same of the bound at the mode's own staleness."""
    lock_step_share: float | None
    """The same of the lock-step bound; `None` at staleness 1."""
    ratios: Mapping[str, float]
    """By baseline: throughput as a multiple of the baseline's."""
    num_trainer: int
    num_lanes: int
    fragment_size: int
    tag: str
    shares: Mapping[str, float]
    """By span class: the share of lane time."""
    bands: Mapping[str, Band] = field(default_factory=dict)
    """By baseline: the band of the ratio; for `auto` and `auto, strict`."""

    def line(self) -> str:
        """The row as one line under `HEADER`."""
        lock_step = "      " if self.lock_step_share is None else f"{self.lock_step_share:6.1%}"
        ratios = " ".join(f"{self._ratio(baseline):16s}" for baseline in BASELINES)
        return (
            f"  {self.mode:13s} {self.samples_per_second:8.3f} {self.bound_share:6.1%} {self.own_bound_share:6.1%} "
            f"{lock_step} {ratios} {self.num_trainer:2d}/{self.num_lanes:2d} ×{self.fragment_size:<2d} "
            f"{self.tag:6s} {_losses(self.shares)}"
        )

    def _ratio(self, baseline: str) -> str:
        if baseline not in self.ratios:
            return ""
        band = self.bands.get(baseline)
        return f"{self.ratios[baseline]:.2f}" + ("" if band is None else f" ({band.least:.2f}–{band.largest:.2f})")


HEADER = (
    "  mode          samples/s  bound    own lock-st ×disaggregated   ×colocated       ×sharded         train ×frag   "
    "where lane time goes that is neither generating nor training"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """All modes of one case."""

    kind: str
    testbed: str
    cards: str
    model: str
    micro_batch_size: int
    rows: tuple[Row, ...]
    """Empty where the model does not fit the cards."""
    refusal: str = ""
    """Why it does not."""
    cpu_seconds: float

    def lines(self) -> Iterator[str]:
        yield f"\n{self.testbed} ({self.cards} assumed) · {self.model} · {CASE_KINDS[self.kind]}"
        yield from [HEADER, *(row.line() for row in self.rows)] if self.rows else [f"  {self.refusal}"]


def case_result(case: Case) -> CaseResult:
    """Plan and simulate one case."""
    started = time.process_time()
    costs = costs_as_written(case.work, case.testbed)
    request = PlanRequest(
        work=case.work, devices=case.testbed.devices, costs=costs, fragment_sizes=fragment_sizes(case.work)
    )
    rows: tuple[Row, ...] = ()
    refusal = ""
    try:
        rows = tuple(_rows(case, make_plan(request)))
    except ValueError as error:
        refusal = str(error)
    return CaseResult(
        kind=case.kind,
        testbed=case.testbed.name,
        cards=case.testbed.cards,
        model=case.model,
        micro_batch_size=case.work.algebra.micro_batch_size,
        rows=rows,
        refusal=refusal,
        cpu_seconds=time.process_time() - started,
    )


def _rows(case: Case, plan: Plan) -> Iterator[Row]:
    work, costs, by_mode = case.work, plan.request.costs, plan.by_mode
    found = {name: choice.split_result.candidate for name, choice in by_mode.items()}
    results = {name: _simulate(work, costs, candidate) for name, candidate in found.items()}
    seconds = {name: result.batch_seconds for name, result in results.items()}
    baselines = _baselines(case, found)
    baseline_seconds = {name: baseline(costs_as_written) for name, baseline in baselines.items()}
    if "sharded" in baselines:
        baseline_seconds[SLOW_NETWORK] = baselines["sharded"](costs_on_slow_network)
    strict = min((name for name in found if name != "stale"), key=seconds.__getitem__)
    reported = {name: name for name in found} | {"auto, strict": strict, "auto": min(found, key=seconds.__getitem__)}
    bands = {name: _bands(case, found[name], baselines) for name in {reported["auto, strict"], reported["auto"]}}
    for label, name in reported.items():
        choice, candidate = by_mode[name], found[name]
        yield Row(
            mode=label,
            chosen_mode=name,
            samples_per_second=work.algebra.num_trajectories / seconds[name],
            batch_seconds=seconds[name],
            bound_share=plan.bound_seconds / seconds[name],
            own_bound_share=_own_bound(plan, choice) / seconds[name],
            lock_step_share=None if name == "stale" else plan.lock_step_bound_seconds / seconds[name],
            ratios={baseline: least / seconds[name] for baseline, least in baseline_seconds.items()},
            num_trainer=len(candidate.trainers),
            num_lanes=len(costs.lanes),
            fragment_size=candidate.fragment_size,
            tag=str(candidate.pipeline.tag),
            shares={_class_name(span_class): share for span_class, share in results[name].shares.items()},
            bands=bands[name] if label.startswith("auto") else {},
        )


def _own_bound(plan: Plan, choice: ModeChoice) -> float:
    is_ahead = choice.split_result.candidate.pipeline.max_staleness
    return plan.bound_seconds if is_ahead else plan.on_policy_bound_seconds


CostsOf = Callable[[Workload, Testbed], PoolCosts]
"""The costs of some work on a testbed, as written or by one of the truths."""
SecondsOf = Callable[[CostsOf], float]
"""The seconds of a batch at such costs."""


def _baselines(case: Case, found: Mapping[str, Candidate]) -> dict[str, SecondsOf]:
    """By name: the seconds of a batch of a baseline that this case has, as a function of what gives the costs."""
    baselines = {}
    works = {"disaggregated": case.work, "colocated": case.work, "sharded": case.sharded_work}
    for name, work in works.items():
        candidate = found.get("colocated" if name == "sharded" else name)
        if work is not None and candidate is not None:
            own = _with_best_fragments(case, work, candidate) if name == "sharded" else candidate
            baselines[name] = _seconds_of(case, work, own)
    return baselines


def _with_best_fragments(case: Case, work: Workload, candidate: Candidate) -> Candidate:
    """`candidate` with the fragment size that is fastest for `work`, of which it was not planned."""
    costs = costs_as_written(work, case.testbed)
    of_sizes = [replace(candidate, fragment_size=size) for size in fragment_sizes(work)]
    return min(of_sizes, key=lambda each: _simulate(work, costs, each).batch_seconds)


def _seconds_of(case: Case, work: Workload, candidate: Candidate) -> SecondsOf:
    def seconds(costs_of: CostsOf) -> float:
        costs = costs_of(work, case.testbed)
        return _simulate(work, costs, candidate, TRUE_NUM_BATCHES).batch_seconds

    return seconds


def _bands(case: Case, candidate: Candidate, baselines: Mapping[str, SecondsOf]) -> dict[str, Band]:
    """By baseline: the ratio to it by each truth, both planned on the costs as written."""
    own = _seconds_of(case, case.work, candidate)
    by_truth: dict[str, dict[str, float]] = {name: {} for name in baselines}
    for truth in TRUTHS:
        seconds = own(truth.costs)
        for name, baseline in baselines.items():
            by_truth[name][truth.name] = baseline(truth.costs) / seconds
    return {
        name: Band(least=min(ratios.values()), largest=max(ratios.values()), by_truth=ratios)
        for name, ratios in by_truth.items()
    }


def _simulate(
    work: Workload, costs: PoolCosts, candidate: Candidate, num_batches: int = NUM_BATCHES
) -> CandidateResult:
    number = num_batches if candidate.pipeline.max_staleness else 1
    with_shares = num_batches == NUM_BATCHES
    return simulate_candidate(
        work, costs, candidate, advantage_std="group", num_batches=number, with_shares=with_shares
    )


def _class_name(span_class: SpanClass) -> str:
    kind, cause = span_class
    return str(kind) if cause is None else f"idle: {cause}"


_WORK = {str(SpanKind.GENERATE), str(SpanKind.LENT_GENERATE), str(SpanKind.TRAIN)}
"""The span kinds that are no loss."""
_LEAST_SHARE_SHOWN = 0.002
"""Smaller losses would be shown as 0.1 % or less."""


def _losses(shares: Mapping[str, float]) -> str:
    """The classes of lane time that are neither generating nor training, the largest first."""
    lost = sorted(((share, name) for name, share in shares.items() if name not in _WORK), reverse=True)
    shown = [(share, name) for share, name in lost if share >= _LEAST_SHARE_SHOWN]
    return ", ".join(f"{name.removeprefix('idle: ')} {share:.1%}" for share, name in shown)


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate every mode on the testbeds.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one for each core)")
    parser.add_argument("--kind", choices=list(CASE_KINDS), action="append", help="only these kinds of cases")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    started = time.monotonic()
    found, pools, rows_of_large = _all_results(options.kind or list(CASE_KINDS), options.jobs)
    order = {case_key(case.kind, case.testbed.name, case.model): index for index, case in enumerate(cases())}
    found.sort(key=lambda result: order[case_key(result.kind, result.testbed, result.model)])
    for result in found:
        print(*result.lines(), sep="\n", flush=True)
    print("\nany pool", *(row.line() for row in pools), sep="\n  ")
    print("\nlarge pools", *(row.line() for row in rows_of_large), sep="\n  ", flush=True)
    report = {
        "published_speed_up": PUBLISHED,
        "planning_seconds": planning_seconds(),
        "any_pool": [asdict(row) for row in pools],
        "large_pools": [asdict(row) for row in rows_of_large],
        "cases": [asdict(result) for result in found],
    }
    cpu = time.process_time() + sum(result.cpu_seconds for result in found)
    print(f"\nplanning: {report['planning_seconds']} s")
    print(f"{time.monotonic() - started:.0f} s in all, {cpu:.0f} s of a core without those of large pools")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit("\n".join([*any_pool.broken(pools), *large_pools.broken(rows_of_large)]) or 0)


def _all_results(
    kinds: Sequence[str], num_processes: int | None
) -> tuple[list[CaseResult], list[any_pool.Row], list[large_pools.Row]]:
    """Of the cases of these kinds, in no order, of `any_pool` and of `large_pools`."""
    # Their seconds are compared with what is allowed, so nothing runs beside them.
    of_pools = {name: any_pool.rows(name) for name in any_pool.ALLOWED_SECONDS}
    # The longest come first, so that no process ends long after the others.
    chosen = sorted((case for case in cases() if case.kind in kinds), key=lambda case: -len(case.testbed.devices))
    others = [name for name in any_pool.REQUESTS if name not in any_pool.ALLOWED_SECONDS]
    with ProcessPoolExecutor(num_processes) as processes:
        running = [processes.submit(case_result, case) for case in chosen]
        large = [processes.submit(_large_pool_rows, pool) for pool in large_pools.POOLS]
        of_others = {name: processes.submit(any_pool.rows, name) for name in reversed(others)}
        found = [each.result() for each in running]
        rows_of_large = [row for each in large for row in each.result()]
        of_pools |= {name: each.result() for name, each in of_others.items()}
    return found, [row for name in any_pool.REQUESTS for row in of_pools[name]], rows_of_large


def _large_pool_rows(pool: str) -> list[large_pools.Row]:
    return list(large_pools.rows(pool))


def case_key(kind: str, testbed: str, model: str) -> tuple[str, str, str]:
    return kind, testbed, model


if __name__ == "__main__":
    main()
