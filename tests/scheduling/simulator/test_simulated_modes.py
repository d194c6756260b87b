"""Simulated runs in every mode: how lane time is spent, and what no mode can do."""

from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.pools import Pool, pools_of, simulate, simulate_events
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import settings_of_runs
from tests.slow_params import examples
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.scheduling.core.batching import num_micro_batches
from worker.scheduling.core.costs import GANG, Cost, CostKind
from worker.scheduling.core.messages import Accumulated, FragmentKey, Generated, MicroBatchKey
from worker.scheduling.simulator.simulated_lanes import Arrival, Loss
from worker.scheduling.timeline.bubble_ledger import BubbleLedger

ROUNDING = 1e-9
"""Seconds by which sums of the same durations in another order may differ."""


def lifetime_of(pool: Pool, lane: str, seconds: float) -> tuple[float, float]:
    """When the lane started and stopped."""
    begins = [
        incident.at for incident in pool.incidents if isinstance(incident, Arrival) and incident.lane.lane == lane
    ]
    ends = [incident.at for incident in pool.incidents if isinstance(incident, Loss) and incident.lane == lane]
    return (begins or [0.0])[0], min([*ends, seconds])


@settings(max_examples=examples(50, 150), deadline=None)
@given(run=settings_of_runs(), data=st.data())
def test_every_second_of_every_lane_has_one_class_and_idling_a_cause(run: Settings, data: st.DataObject) -> None:
    pool = data.draw(pools_of(run))
    seconds, spans = simulate(run, pool)
    ledger = BubbleLedger()
    by_lane: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        ledger.add(span)
        by_lane[span.lane].append(span)
    for lane, of_lane in by_lane.items():
        start, end = lifetime_of(pool, lane, seconds)
        edges = [start, *(edge for span in of_lane for edge in (span.start, span.end)), end]
        assert edges[::2] == edges[1::2], "the spans tile the lane's lifetime"
        assert sum(ledger.seconds(lane).values()) == pytest.approx(end - start)
        assert sum(ledger.shares(lane).values()) == pytest.approx(1)
    assert not by_lane or sum(ledger.shares().values()) == pytest.approx(1)
    assert all((kind is SpanKind.IDLE) == (cause is not None) for kind, cause in ledger.seconds())
    assert IdleCause.BACK_PRESSURE not in {cause for _, cause in ledger.seconds()} or run.max_staleness
    assert simulate(run, pool) == (seconds, spans), "the same input gives the same spans"


@settings(max_examples=examples(40, 100), deadline=None)
@given(run=settings_of_runs(), data=st.data())
def test_gap_never_makes_a_run_slower(run: Settings, data: st.DataObject) -> None:
    """This holds where groups together cost as much as they do alone: without a fixed part, and on one rank, which
    needs no padding."""
    strict = replace(
        run,
        placement=Placement.DISAGGREGATED,
        tag=TrainerAssist.OFF,
        max_staleness=0,
        first_batch_is_stale=False,
        num_rollout=max(1, run.num_rollout),
        num_trainer=1,
    )
    pool = data.draw(pools_of(strict, all_at_once=True))
    accumulate = ((key, cost) for key, cost in pool.costs.items() if key[1] is CostKind.ACCUMULATE)
    fair = dict(pool.costs) | {key: Cost(0.0, cost.per_unit) for key, cost in accumulate}
    with_gap, _ = simulate(replace(strict, gap=True), replace(pool, costs=fair))
    without, _ = simulate(replace(strict, gap=False), replace(pool, costs=fair))
    assert with_gap <= without + ROUNDING


@settings(max_examples=60, deadline=None)
@given(run=settings_of_runs().filter(lambda run: run.is_colocated), data=st.data())
def test_colocated_lanes_begin_no_fragment_while_any_of_them_trains(run: Settings, data: st.DataObject) -> None:
    _, spans = simulate(run, data.draw(pools_of(run)))
    generating = [span for span in spans if span.kind is SpanKind.GENERATE]
    training = [span for span in spans if span.kind in (SpanKind.TRAIN, SpanKind.PUBLISH)]
    assert run.algebra.max_resamples or not any(t.start < g.start < t.end for g in generating for t in training)
    if run.waits_for_whole_batch:
        assert not any(g.start < t.end and t.start < g.end for g in generating for t in training)
    assert not any(span.kind is SpanKind.LENT_GENERATE for span in spans), "colocated lanes are not lent"


def training_seconds(run: Settings, pool: Pool) -> float:
    """The least seconds in which a batch is trained: in step if all groups of a mini-batch are bundled, otherwise if
    ranks share the work by speed; with the publish at staleness 0, where the gang waits for it."""
    algebra, costs = run.algebra, pool.costs
    if run.equal_counts:
        units = num_micro_batches(algebra, algebra.num_groups_per_minibatch, world_size=run.num_trainer, tsp=True)
        minibatch = costs[GANG, CostKind.ACCUMULATE].seconds(units)
    else:
        ranks = [costs[lane.lane, CostKind.ACCUMULATE] for lane in pool.lanes if lane.role is LaneRole.TRAINER]
        rates = [1 / cost.per_unit if cost.per_unit else float("inf") for cost in ranks]
        calls = min(cost.per_call for cost in ranks)
        minibatch = calls + algebra.num_micro_batches_per_optimizer_step / sum(rates)
    each = minibatch + costs[GANG, CostKind.COMMIT].seconds()
    snapshot, publish = (costs[GANG, kind].seconds() for kind in (CostKind.SNAPSHOT, CostKind.PUBLISH))
    return each * algebra.num_optimizer_steps_per_batch + snapshot + (0.0 if run.max_staleness else publish)


def rate(pool: Pool, role: LaneRole, kind: CostKind, fragment_size: int) -> float:
    """Trajectories per second on all lanes of a role together."""
    seconds = [pool.costs[lane.lane, kind].seconds(fragment_size) for lane in pool.lanes if lane.role is role]
    return sum(fragment_size / each if each else float("inf") for each in seconds)


def least_seconds(run: Settings, pool: Pool) -> float:
    """The least seconds of the run: all work over the lanes' rates, if trainer lanes that may generate do so whenever
    they do not train, and in step all of them train at once."""
    size = run.algebra.fragment_size
    num = (run.num_batches - run.first_batch) * run.algebra.num_trajectories
    # Without spread a group may cost no training; the snapshots and publishes that are left are too little to claim.
    is_trained = not (run.algebra.filter_groups and run.share_without_spread)
    training = is_trained * (run.num_batches - run.first_batch) * training_seconds(run, pool)
    may_lend = run.is_colocated or run.tag is not TrainerAssist.OFF
    own_rate = rate(pool, LaneRole.ROLLOUT, CostKind.GENERATE, size)
    lent_rate = rate(pool, LaneRole.TRAINER, CostKind.GENERATE, size) if may_lend else 0.0
    together = own_rate + lent_rate
    lost = training * lent_rate if run.equal_counts else 0.0
    generating = 0.0 if together == float("inf") else (num + lost) / together
    return max(training, generating, num / rate(pool, LaneRole.REWARD, CostKind.SCORE, size))


@settings(max_examples=examples(60, 200), deadline=None)
@given(run=settings_of_runs(), data=st.data())
def test_no_mode_beats_all_work_over_all_rates(run: Settings, data: st.DataObject) -> None:
    pool = data.draw(pools_of(run, all_at_once=True))
    seconds, _ = simulate(run, pool)
    assert seconds >= least_seconds(run, pool) - ROUNDING


def work_done(run: Settings, pool: Pool) -> list[FragmentKey | tuple[int, int, int, MicroBatchKey]]:
    """Every fragment generated and every micro-batch accumulated, with repeats."""
    _, _, events = simulate_events(run, pool)
    generated = [key for event, _ in events if isinstance(event, Generated) for key in event.keys]
    accumulated = [
        (event.batch, event.epoch, event.minibatch, key)
        for event, _ in events
        if isinstance(event, Accumulated)
        for key in event.micro_batches
    ]
    return [*sorted(generated), *sorted(accumulated)]


@settings(max_examples=examples(30, 60), deadline=None)
@given(run=settings_of_runs(), data=st.data())
def test_lanes_that_come_and_go_change_nothing_in_what_is_done(run: Settings, data: st.DataObject) -> None:
    pool = data.draw(pools_of(run))
    assert work_done(run, pool) == work_done(run, replace(pool, incidents=()))
