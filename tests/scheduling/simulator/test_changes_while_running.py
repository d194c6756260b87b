"""A run that changes while it works: lending at once, `gap` in batches to come, the gang at a batch boundary, placement
and staleness once it is drained."""

from collections.abc import Sequence

import pytest

from tests.scheduling.manual_executor import ManualExecutor
from tests.scheduling.planning.synthetic_pools import ALIKE, pool, request_for
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.contracts.spans import Span, SpanKind
from worker.scheduling.core.messages import AdmissionClosed, AdmissionOpened, Event, LaneJoined, Published, Snapshotted
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.planning.cost_estimates import lane_name, reward_lane_name
from worker.scheduling.replay.log_replay import differences
from worker.scheduling.replay.recorded_scheduler import RecordedScheduler
from worker.scheduling.replay.schedule_log import Line, Revised, ScheduleStart, dump_line, parse_line
from worker.scheduling.simulator.gang_change import GangChange
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator

OFF = PipelineSpec.model_validate({"placement": "disaggregated", "gap": False, "tag": "off"})
GREEDY = OFF.model_copy(update={"tag": TrainerAssist.GREEDY, "gap": True})
REQUEST = request_for(pool(ALIKE, [4]), num_prompts=8)
NUM_BATCHES = 5


def run(
    revise_after: int, to: PipelineSpec, written: list[Line] | None = None, *, begins: PipelineSpec = OFF, size: int = 1
) -> tuple[list[float], list[Span]]:
    """When each batch was published, and the spans, of a run with two trainer lanes of four.

    Args:
        revise_after: batches complete when the run goes on with the switches `to` and fragments of `size`.
        begins: the switches until then, with fragments of 1.
    """
    work, costs, spans, published = REQUEST.work, REQUEST.costs, list[Span](), list[float]()
    start = ScheduleStart(algebra=work.algebra, pipeline=begins, advantage_std="group", num_batches=NUM_BATCHES)
    scheduler: Scheduler = RecordedScheduler(start, (lambda line: None) if written is None else written.append)

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published.append(at)
            if len(published) == revise_after:
                scheduler.revise(to, size, lending_policy(to))

    roles = [LaneRole.TRAINER, LaneRole.TRAINER, LaneRole.ROLLOUT, LaneRole.ROLLOUT]
    lanes = [SimulatedLane(lane=lane_name(index), role=role) for index, role in enumerate(roles)]
    lanes.append(SimulatedLane(lane=reward_lane_name(0), role=LaneRole.REWARD))
    Simulator(scheduler, lanes, costs.cost_table((0, 1)), spans.append, observe=observe).run()
    return published, spans


def lent(spans: Sequence[Span]) -> set[int | None]:
    return {span.batch for span in spans if span.kind is SpanKind.LENT_GENERATE}


def test_lanes_are_lent_from_the_revision_on_and_batches_become_shorter() -> None:
    published, spans = run(2, GREEDY)
    assert lent(spans) == {2, 3, 4}
    before, after = published[1] - published[0], published[4] - published[3]
    assert after < 0.9 * before


def test_training_begins_before_all_is_generated_only_in_batches_that_begin_after_the_revision() -> None:
    _, spans = run(2, OFF.model_copy(update={"gap": True}))
    for batch in range(NUM_BATCHES):
        generated = max(span.end for span in spans if span.kind is SpanKind.GENERATE and span.batch == batch)
        trained = min(span.start for span in spans if span.kind is SpanKind.TRAIN and span.batch == batch)
        assert (trained < generated) == (batch >= 2)


@pytest.mark.parametrize(
    "change", [{"tsp": False}, {"max_staleness": 1}, {"deterministic": True}, {"placement": "colocated"}], ids=str
)
def test_switches_that_open_work_depends_on_cannot_change_while_a_batch_is_open(change: dict[str, object]) -> None:
    scheduler = ManualExecutor(REQUEST.work.algebra).scheduler
    to = PipelineSpec.model_validate(PipelineSpec(placement=Placement.DISAGGREGATED).model_dump() | change)
    with pytest.raises(ValueError, match=r"`gap` and `tag` alone while a batch is open.* close admission"):
        scheduler.revise(to, 1, lending_policy(to))


def test_a_revision_is_in_the_schedule_log_and_is_replayed() -> None:
    written: list[Line] = []
    run(2, GREEDY, written, size=4)
    lines = [parse_line(dump_line(line)) for line in written]
    assert lines == written
    assert [line for line in lines if isinstance(line, Revised)] == [Revised(GREEDY, 4)]
    assert not list(differences(lines))


@pytest.mark.parametrize("max_staleness", [0, 1])
@pytest.mark.parametrize("tag", ["off", "greedy", "search"])
def test_batches_that_begin_after_a_revision_are_cut_anew_and_open_ones_stay(max_staleness: int, tag: str) -> None:
    pipeline = PipelineSpec.model_validate(OFF.model_dump() | {"max_staleness": max_staleness, "tag": tag})
    _, spans = run(2, pipeline, begins=pipeline, size=4)
    generated = [span for span in spans if span.kind in (SpanKind.GENERATE, SpanKind.LENT_GENERATE)]
    for batch in range(NUM_BATCHES):
        of_batch = [span for span in generated if span.batch == batch]
        # One batch is ahead of the one that was published last.
        assert {span.num_samples for span in of_batch} == ({1} if batch < 2 + max_staleness else {4})
        assert sum(span.num_samples for span in of_batch) == REQUEST.work.algebra.num_trajectories
        assert len({(span.group, span.fragment) for span in of_batch}) == len(of_batch)


def test_a_size_that_does_not_divide_a_group_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`fragment_size` must divide group_size \(8\), got 3: use 2 or 4"):
        run(1, OFF, size=3)


def test_equal_revisions_change_nothing() -> None:
    assert run(2, OFF) == run(NUM_BATCHES + 1, OFF)


def test_the_gang_of_a_simulated_run_changes_at_a_batch_boundary() -> None:
    work, costs, published, changed = REQUEST.work, REQUEST.costs, list[float](), list[float]()
    scheduler = Scheduler(
        work.algebra, OFF, advantage_std="group", first_batch=0, num_batches=NUM_BATCHES, policy_version=0
    )
    spans: list[Span] = []
    table = dict(costs.cost_table((0,))) | costs.cost_table((0, 1))
    simulator: Simulator

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published.append(at)
        if isinstance(event, Snapshotted) and len(published) == 1:
            trainers = (lane_name(0), lane_name(1))
            change = GangChange(trainers=trainers, save_seconds=5.0, start_seconds=60.0, restore_seconds=5.0)
            changed.append(at)
            simulator.change_gang(change, at)
        if isinstance(event, LaneJoined) and event.lane == lane_name(1) and event.role is LaneRole.TRAINER:
            changed.append(at)

    roles = [LaneRole.TRAINER, LaneRole.ROLLOUT, LaneRole.ROLLOUT, LaneRole.ROLLOUT]
    lanes = [SimulatedLane(lane=lane_name(index), role=role) for index, role in enumerate(roles)]
    lanes.append(SimulatedLane(lane=reward_lane_name(0), role=LaneRole.REWARD))
    simulator = Simulator(scheduler, lanes, table, spans.append, observe=observe)
    simulator.run()
    trained = {(span.lane, span.batch) for span in spans if span.kind is SpanKind.TRAIN and span.num_units}
    assert {lane for lane, batch in trained if batch is not None and batch < 2} == {lane_name(0)}
    assert {lane for lane, batch in trained if batch is not None and batch >= 2} == {lane_name(0), lane_name(1)}
    reserved, joined = changed
    assert joined - reserved == pytest.approx(70.0)


COLOCATED = PipelineSpec(placement=Placement.COLOCATED)
STALE = GREEDY.model_copy(update={"max_staleness": 1})
WAYS = {"colocated": COLOCATED, "on_policy": GREEDY, "stale": STALE}


def trainers_of(pipeline: PipelineSpec) -> tuple[str, ...]:
    """Four lanes if colocated, else two."""
    return tuple(lane_name(index) for index in range(4 if pipeline.placement is Placement.COLOCATED else 2))


def run_drained(before: PipelineSpec, after: PipelineSpec, written: list[Line]) -> tuple[list[Span], int]:
    """The spans of a run that is drained once its first batch is published, at staleness 0 of the batch that begins
    then, and goes on with other switches and their gang; and the first batch that does."""
    work, spans, published = REQUEST.work, list[Span](), list[float]()
    start = ScheduleStart(algebra=work.algebra, pipeline=before, advantage_std="group", num_batches=NUM_BATCHES)
    scheduler = RecordedScheduler(start, written.append)
    first: int | None = None
    simulator: Simulator

    def observe(event: Event, at: float) -> None:
        nonlocal first
        if isinstance(event, Published):
            published.append(at)
            if len(published) == 1 and scheduler.state.has_open_batch:
                scheduler.apply(AdmissionClosed(), at)
        if isinstance(event, Snapshotted) and published and not scheduler.state.has_open_batch and first is None:
            first = len(published) + 1
            scheduler.revise(after, 1, lending_policy(after))
            scheduler.apply(AdmissionOpened(), at)
            simulator.change_gang(GangChange(trainers=trainers_of(after), start_seconds=60.0), at)

    trainers = trainers_of(before)
    roles = {lane_name(index): LaneRole.ROLLOUT for index in range(4)} | dict.fromkeys(trainers, LaneRole.TRAINER)
    lanes = [SimulatedLane(lane=lane, role=role) for lane, role in roles.items()]
    lanes.append(SimulatedLane(lane=reward_lane_name(0), role=LaneRole.REWARD))
    table = dict(REQUEST.costs.cost_table((0, 1))) | REQUEST.costs.cost_table((0, 1, 2, 3))
    simulator = Simulator(scheduler, lanes, table, spans.append, observe=observe)
    simulator.run()
    assert first is not None
    return spans, first


@pytest.mark.parametrize("after", WAYS)
@pytest.mark.parametrize("before", WAYS)
def test_a_drained_run_goes_on_in_any_placement_and_staleness(before: str, after: str) -> None:
    written: list[Line] = []
    spans, first = run_drained(WAYS[before], WAYS[after], written)
    assert first < NUM_BATCHES - 1
    trained = [span for span in spans if span.kind is SpanKind.TRAIN and span.num_units]
    generated = [span for span in spans if span.kind in (SpanKind.GENERATE, SpanKind.LENT_GENERATE)]
    for batch in range(NUM_BATCHES):
        way = WAYS[before] if batch < first else WAYS[after]
        assert {span.lane for span in trained if span.batch == batch} == set(trainers_of(way))
        of_batch = [span for span in generated if span.batch == batch]
        assert sum(span.num_samples or 0 for span in of_batch) == REQUEST.work.algebra.num_trajectories
        (staleness,) = {batch - (span.policy_version or 0) for span in of_batch}
        # The first batch of either way of working has none before it that it could overlap with.
        assert staleness == way.max_staleness or (batch in (0, first) and staleness == 0)
    assert not list(differences([parse_line(dump_line(line)) for line in written]))
