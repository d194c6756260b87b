"""Costs that runs have measured, kept with the sizes they were measured at: what later plans make of them."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from fleet.lane_layout import ensure_local_lanes
from fleet.selectors import grants_of
from fleet.services import allocate
from runs.attempts.bootstrap import trade_code
from runs.attempts.launch import launch
from runs.models import MeasuredCosts, Run
from runs.planning.auto_placement import choose
from runs.planning.cost_history import MIN_BATCHES, measured_costs, record_costs, workload_of
from runs.queue.dispatch import start_attempt
from tests.engine.driving import grants
from tests.engine.prediction import simulated
from tests.web.lane_holders import held_by
from worker.contracts.events import CostsEvent
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost, dump_costs
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.planning.measured_work import observed_sizes
from worker.scheduling.planning.planner import resolve
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator

pytestmark = pytest.mark.django_db
MakeSpec = Callable[..., RunSpec]

GROUP_SIZE = 8
LANES = {"num_rollout": 2, "num_trainer": 1, "num_reward": 1}
AUTO = {"placement": "auto", "max_staleness": 1}
DEVICES = ("cpu",) * 3


@pytest.fixture
def work(make_spec: MakeSpec) -> Callable[..., RunSpec]:
    """A spec of one workload with any fragment size and placement."""

    def make(fragment_size: int | None = None, pipeline: dict[str, Any] | None = None) -> RunSpec:
        batch = {"num_prompts_per_batch": 3, "group_size": GROUP_SIZE, "fragment_size": fragment_size}
        return make_spec(batch=batch, lanes=LANES, pipeline=pipeline or {}, num_batches=MIN_BATCHES + 3)

    return make


def true_costs(spec: RunSpec, generate: Cost) -> dict[tuple[str, CostKind], Cost]:
    """What everything costs on the lanes that the spec is granted."""
    of_lane = {
        CostKind.GENERATE: generate,
        CostKind.PULL: Cost(0.015),
        CostKind.LEND: Cost(0.02),
        CostKind.RECLAIM: Cost(0.01),
        CostKind.ACCUMULATE: Cost(0.008, 0.03),
    }
    costs: dict[tuple[str, CostKind], Cost] = {
        (GANG, CostKind.COMMIT): Cost(0.006),
        (GANG, CostKind.SNAPSHOT): Cost(0.004),
        (GANG, CostKind.PUBLISH): Cost(0.01),
    }
    for grant in grants(spec):
        own = {CostKind.SCORE: Cost(0.008, 0.0005)} if grant.role is LaneRole.REWARD else of_lane
        costs |= {(grant.lane, kind): cost for kind, cost in own.items()}
    return costs


def measure(make_run: Callable[..., Run], spec: RunSpec, generate: Cost) -> Run:
    """A run of `spec` on lanes of these costs, up to its last report of measured costs."""
    run = make_run(spec=spec)
    allocate(holder=held_by(run.pk, 1), wanted=spec.granted_lanes)
    scheduler = Scheduler(
        spec.algebra,
        spec.pipeline,
        advantage_std=spec.algorithm.advantage_std,
        first_batch=0,
        lending_policy=lending_policy(spec.pipeline),
        num_batches=MIN_BATCHES,
        policy_version=0,
    )
    lanes = [SimulatedLane(lane=grant.lane, role=grant.role) for grant in grants(spec)]
    Simulator(scheduler, lanes, true_costs(spec, generate), None).run()
    event = CostsEvent(seq=1, at=0.0, batch=MIN_BATCHES, costs=dump_costs(scheduler.state.costs.measured()))
    record_costs(run.pk, 1, CostsEvent.model_validate_json(event.model_dump_json()))
    return run


def true_batch_seconds(spec: RunSpec, generate: Cost) -> float:
    reported = simulated(spec, true_costs(spec, generate))
    return reported.mean_seconds(range(2, spec.num_batches))


@pytest.mark.parametrize("fragment_size", [2, GROUP_SIZE])
@pytest.mark.parametrize("generate", [Cost(0.04, 0.003), Cost(0.03, 0.006)], ids=["fixed", "half"])
def test_a_plan_from_costs_of_one_size_is_no_slower_than_the_best_at_that_size(
    work: Callable[..., RunSpec], make_run: Callable[..., Run], generate: Cost, fragment_size: int
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    measure(make_run, work(fragment_size), generate)
    chosen = choose(make_run(spec=work(pipeline=AUTO)), Counter(DEVICES))
    assert chosen is not None
    assert chosen.plan is not None
    assert chosen.plan["fragment_sizes_measured"] == [fragment_size]
    at_that_size = choose(make_run(spec=work(fragment_size, pipeline=AUTO)), Counter(DEVICES))
    assert at_that_size is not None
    assert at_that_size.spec.batch.fragment_size == fragment_size
    assert true_batch_seconds(chosen.spec, generate) <= 1.02 * true_batch_seconds(at_that_size.spec, generate)


def test_runs_of_several_sizes_are_put_together(work: Callable[..., RunSpec], make_run: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=12)
    generate = Cost(0.04, 0.003)
    for size in (2, 4, 2):
        measure(make_run, work(size), generate)
    history = measured_costs(work(), DEVICES)
    assert [observed_sizes([table]) for table in history.tables] == [(2,), (4,)]
    asked = work(pipeline=AUTO)
    chosen = resolve(asked, devices=DEVICES, history=history.tables)
    by_size = [
        resolve(work(size, pipeline=AUTO), devices=DEVICES, history=history.tables) for size in (1, 2, 4, GROUP_SIZE)
    ]
    best = min(true_batch_seconds(spec, generate) for spec in by_size)
    assert true_batch_seconds(chosen, generate) <= 1.02 * best


def test_costs_that_were_not_observed_are_not_handed_on(
    work: Callable[..., RunSpec], make_run: Callable[..., Run]
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = measure(make_run, work(4), Cost(0.04, 0.003))
    assumed = {"lane": "rollout-0", "kind": "generate", "per_call": 0.0, "per_unit": 0.5}
    observed = {"lane": "gang", "kind": "commit", "per_call": 0.0, "per_unit": 0.125, "observed_units": [1, 1]}
    MeasuredCosts.objects.filter(run=run).update(costs=[assumed, observed])
    (table,) = measured_costs(work(), DEVICES).tables
    assert table == {(GANG, CostKind.COMMIT): MeasuredCost(Cost(0.0, 0.125), 1, 1, math.inf)}


def test_a_batch_that_the_proximal_policy_replays_is_work_of_its_own(make_spec: MakeSpec) -> None:
    def workload(num_minibatches: int, **pipeline: Any) -> str:
        batch = {"num_prompts_per_batch": 2, "num_minibatches": num_minibatches}
        return workload_of(make_spec(batch=batch, pipeline=pipeline))

    one, several = ([workload(number), workload(number, max_staleness=1)] for number in (1, 2))
    assert one[0] == one[1] == several[0] != several[1]
    assert workload(2, max_staleness=1, stale_clip="behaviour") == several[0]


def test_the_driver_gets_the_costs_that_its_plan_assumed(
    work: Callable[..., RunSpec], make_run: Callable[..., Run], cluster: Any
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run(spec=work(pipeline=AUTO))
    attempt = start_attempt(run)
    assert launch(run_id=run.pk, number=1, gateway=cluster)
    answer = trade_code(cluster.envs[attempt.submission_id][BOOTSTRAP_CODE_VARIABLE])
    reported = {(cost.lane, cost.kind): cost for cost in answer.prior_costs}
    lanes = {grant.lane for grant in grants_of(run.pk, 1)}
    assert {lane for lane, _ in reported} == lanes | {GANG}
    assert {(lane, "score" if lane.startswith("reward") else "generate") for lane in lanes} <= set(reported)
    assert {(GANG, kind) for kind in ("commit", "publish")} <= set(reported)
    trainers = {grant.lane for grant in grants_of(run.pk, 1) if grant.role is LaneRole.TRAINER}
    assert {(lane, "accumulate") for lane in trainers} <= set(reported)
    assert all(cost.observed_units is None for cost in reported.values())


def test_a_run_without_a_plan_gets_no_costs(
    work: Callable[..., RunSpec], make_run: Callable[..., Run], cluster: Any
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run(spec=work())
    attempt = start_attempt(run)
    assert launch(run_id=run.pk, number=1, gateway=cluster)
    assert attempt.plan_revision is None
    assert trade_code(cluster.envs[attempt.submission_id][BOOTSTRAP_CODE_VARIABLE]).prior_costs == ()
