"""Re-planning within the driver, on fakes; `tests/engine/emulated/test_replanning.py` has cluster and planner."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from tests.engine.control.four_lanes import ROLES
from worker.contracts.lane_events import SlowLanesEvent
from worker.contracts.names import LaneRole
from worker.contracts.replanning import ReplanBasis
from worker.contracts.resizing import Resize, ResizeCause, ResizeReport, ResizeState, TrainerChangeSeconds
from worker.contracts.run_spec import RunSpec
from worker.engine.control import replanner as replanner_module
from worker.engine.control.replanner import Replanner
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.spread_share import SpreadShare
from worker.scheduling.replanning.question import ReplanAnswer, ReplanQuestion


class FakeProcess:
    """Takes the place of `ReplanningProcess`: always wants lending, and unless told otherwise `rollout-1` to train."""

    is_busy = False
    cpu_seconds = 0.0

    def __init__(self) -> None:
        self.questions: list[ReplanQuestion] = []
        self.roles = ROLES | {"rollout-1": LaneRole.TRAINER}
        self.is_change = True
        self.slow: dict[str, float] = {}
        self.drains = False
        self.is_answered = True
        self._answered = 0

    def close(self) -> None:
        self._answered = len(self.questions)

    def ask(self, question: ReplanQuestion) -> None:
        self.questions.append(question)

    def take_answer(self) -> ReplanAnswer | None:
        if not self.is_answered or self._answered == len(self.questions):
            return None
        self._answered += 1
        return ReplanAnswer(
            is_change=self.is_change,
            roles=self.roles,
            slow=self.slow,
            renews_gang=True,
            drains=self.drains,
            pipeline=self.questions[-1].pipeline.model_copy(update={"tag": "greedy"}),
            fragment_size=self.questions[-1].fragment_size,
            seconds_before=10.0,
            batch_seconds=8.0,
            bound_seconds=7.0,
            move_seconds=60.0,
            reason="more trains",
        )


class FakeResizer:
    """Takes the place of `Resizer`: ends every resize as it is told to."""

    is_busy = False

    def __init__(self) -> None:
        self.reported: ResizeReport | None = None
        self.resizes: list[Resize] = []
        self.drained: list[bool] = []
        self.state = ResizeState.FAILED
        self.trainer_seconds: TrainerChangeSeconds | None = None
        self.then: Callable[[], object] = lambda: None
        """Called once lanes are in their places."""

    def start(self, resize_id: str, resize: Resize, *, drains: bool = False) -> None:
        self.resizes.append(resize)
        self.drained.append(drains)
        self.reported = ResizeReport(
            id=resize_id, cause=ResizeCause.PLAN, state=self.state, trainer_seconds=self.trainer_seconds
        )
        self.then()


class Setup:
    """A replanner with all that it works with."""

    def __init__(self, spec: RunSpec, asked: RunSpec, client: Any) -> None:
        self.roles, self.profiles = dict(ROLES), dict[str, str]()
        components: Any = SimpleNamespace(
            answer=SimpleNamespace(spec=spec, replan=ReplanBasis(asked=asked)),
            lanes=SimpleNamespace(own_roles=lambda: dict(self.roles), profiles=lambda: dict(self.profiles)),
            clock=SimpleNamespace(now=lambda: 0.0),
            telemetry=SimpleNamespace(client=client),
        )
        self.supervisor = SimpleNamespace(pipeline=spec.pipeline, gang_pipeline=spec.pipeline)
        self.resizer = FakeResizer()
        supervisor: Any = self.supervisor
        resizer: Any = self.resizer
        self.replanner = Replanner(components, supervisor, resizer)
        self.process: Any = self.replanner._process

    def begin(self, batch: int) -> None:
        """A scheduler begins after `batch` complete batches."""
        self.costs, self.spread = CostModel(), SpreadShare()
        work = SimpleNamespace(spread=self.spread)
        self.state = SimpleNamespace(batches_completed=batch, costs=self.costs, work=work)
        scheduler: Any = SimpleNamespace(state=self.state, revise=lambda *switches: None)
        self.replanner.begin(scheduler)

    def complete(self, batch: int, *, is_rewound: bool = False) -> None:
        """The run has `batch` complete batches, and goes on until every answer is carried out."""
        if is_rewound:
            self.replanner.rewind()
        if batch == 1 or is_rewound:
            self.begin(batch - 1)
        self.state.batches_completed = batch
        self.replanner.batch_complete()
        for _ in range(2):
            self.replanner.step()


@pytest.fixture
def setup(make_spec: Callable[..., RunSpec], client: Any, monkeypatch: pytest.MonkeyPatch) -> Setup:
    monkeypatch.setattr(replanner_module, "ReplanningProcess", FakeProcess)
    spec = make_spec(num_batches=50, lanes={"num_rollout": 2})
    return Setup(spec, make_spec(num_batches=50, lanes={"num_rollout": 2}, pipeline={"placement": "auto"}), client)


def test_a_gang_that_cannot_be_replaced_is_tried_ever_more_rarely(setup: Setup) -> None:
    """Each try sends the run back to its checkpoint, so it begins again with a new scheduler."""
    tried: list[int] = []
    for batch in range(1, 40):
        before = len(setup.resizer.resizes)
        setup.complete(batch, is_rewound=bool(tried) and tried[-1] == batch - 1)
        if len(setup.resizer.resizes) > before:
            tried.append(batch)
    assert tried == [1, 3, 7, 15, 31]
    assert [question.num_changes for question in setup.process.questions] == [0, 1, 2, 3, 4]


def test_lanes_that_are_loaded_from_now_on_get_the_present_switches_again(setup: Setup) -> None:
    setup.complete(1)
    assert setup.supervisor.pipeline == setup.replanner.pipeline
    assert setup.replanner.pipeline.tag == "off"


@pytest.mark.parametrize("state", [ResizeState.ACCEPTED, ResizeState.FAILED])
def test_a_gang_that_was_replaced_works_by_the_plan_whatever_becomes_of_other_lanes(
    setup: Setup, state: ResizeState
) -> None:
    """One that is not to be lent any more holds nothing to generate with."""
    setup.resizer.state = state
    setup.resizer.trainer_seconds = TrainerChangeSeconds(checkpoint=1.0, start=1.0, restore=1.0)
    setup.complete(1)
    assert setup.replanner.pipeline.tag == "greedy"


def test_trainer_lanes_can_be_lent_where_they_were_loaded_for_it(setup: Setup) -> None:
    setup.supervisor.gang_pipeline = setup.supervisor.pipeline.model_copy(update={"tag": "greedy"})
    setup.complete(1)
    assert [question.can_lend for question in setup.process.questions] == [True]


def test_a_question_names_the_devices_of_lanes_that_have_joined(setup: Setup) -> None:
    setup.profiles["rollout-7"] = "l40s"
    setup.complete(1)
    assert [question.joined for question in setup.process.questions] == [{"rollout-7": "l40s"}]


def test_the_same_trainer_lanes_are_loaded_anew_where_they_are_to_be_lent_first(setup: Setup) -> None:
    setup.process.roles = ROLES
    setup.complete(1)
    (asked,) = setup.resizer.resizes
    trainers = {lane for lane, role in ROLES.items() if role is LaneRole.TRAINER}
    assert {change.lane: change.role for change in asked.change} == dict.fromkeys(trainers, LaneRole.TRAINER)
    assert asked.cause is ResizeCause.PLAN


def test_the_run_is_drained_for_a_plan_that_open_batches_rule_out_until_it_is_carried_out(setup: Setup) -> None:
    setup.process.drains = True
    setup.resizer.state = ResizeState.ACCEPTED
    setup.complete(1)
    assert (setup.resizer.drained, setup.replanner.drains) == ([True], True)
    setup.replanner.rewind()
    setup.begin(0)
    assert setup.replanner.drains, "the plan is still to be carried out"
    setup.resizer.reported = ResizeReport(
        id=setup.resizer.reported.id if setup.resizer.reported else "", cause=ResizeCause.PLAN, state=ResizeState.DONE
    )
    setup.replanner.step()
    assert not setup.replanner.drains


def test_the_run_is_not_drained_for_other_plans_or_for_one_that_came_to_nothing(setup: Setup) -> None:
    setup.resizer.state = ResizeState.ACCEPTED
    setup.complete(1)
    assert (setup.resizer.drained, setup.replanner.drains) == ([False], False)
    setup.process.drains, setup.resizer.state = True, ResizeState.FAILED
    setup.complete(4, is_rewound=True)
    assert not setup.replanner.drains


def test_a_gang_that_starts_again_is_loaded_for_the_switches_it_goes_on_with(setup: Setup) -> None:
    """A scheduler that lends as before would else ask a gang to generate that was loaded for a plan without lending."""
    setup.resizer.state = ResizeState.ACCEPTED
    setup.complete(1)
    assert setup.supervisor.pipeline.tag == "greedy"
    setup.replanner.rewind()
    assert setup.supervisor.pipeline.tag == "off"
    setup.begin(0)
    assert setup.supervisor.pipeline.tag == "greedy", "the plan is still to be carried out"


def test_a_gang_is_loaded_for_a_plan_that_was_carried_out_just_before(setup: Setup) -> None:
    setup.resizer.state = ResizeState.DONE
    setup.begin(0)
    setup.state.batches_completed = 1
    setup.replanner.batch_complete()
    setup.replanner.step()
    setup.replanner.rewind()
    setup.begin(0)
    assert (setup.supervisor.pipeline.tag, setup.replanner.pipeline.tag) == ("greedy", "greedy")


def test_an_answer_that_was_asked_for_before_a_rewind_is_dropped(setup: Setup) -> None:
    setup.process.is_answered = False
    setup.complete(1)
    setup.replanner.rewind()
    setup.begin(0)
    setup.process.is_answered = True
    setup.replanner.step()
    assert setup.resizer.resizes == []


def test_a_question_carries_the_share_of_groups_without_spread_that_the_run_has_measured(setup: Setup) -> None:
    setup.begin(0)
    for number in range(400):
        setup.spread.observe(has_spread=number % 2 == 0)
    setup.state.batches_completed = 1
    setup.replanner.batch_complete()
    (question,) = setup.process.questions
    assert question.share_without_spread == pytest.approx(0.5, abs=0.05)


def test_a_question_waits_a_batch_for_the_call_that_tells_whether_a_lane_turned_slow(setup: Setup) -> None:
    setup.begin(0)
    for seconds in (*[10.0] * 8, 50.0):
        setup.costs.observe("rollout-0", CostKind.GENERATE, seconds)
    num_questions = []
    for batch in (1, 2):
        setup.state.batches_completed = batch
        setup.replanner.batch_complete()
        num_questions.append(len(setup.process.questions))
    assert num_questions == [0, 1]


def slow_lanes_told(client: Any) -> list[tuple[int, dict[str, float]]]:
    return [(event.batch, event.lanes) for event in client.events if isinstance(event, SlowLanesEvent)]


def test_a_lane_far_slower_than_its_kind_is_named_although_nothing_changes_and_only_once(
    setup: Setup, client: Any
) -> None:
    setup.process.is_change, setup.process.slow = False, {"rollout-1": 2.0}
    for batch in range(1, 40):
        setup.complete(batch)
    assert len(setup.process.questions) > 3
    assert slow_lanes_told(client) == [(1, {"rollout-1": 2.0})]


def test_a_slow_lane_is_named_anew_where_it_became_slower_and_taken_back_where_it_is_not_any_more(
    setup: Setup, client: Any
) -> None:
    setup.process.is_change = False
    for batch, factor in enumerate((1.6, 1.7, 3.0), start=1):
        setup.process.slow = {"rollout-1": factor}
        ask_after(setup, batch)
    setup.process.slow = {}
    ask_after(setup, 4)
    assert slow_lanes_told(client) == [(1, {"rollout-1": 1.6}), (3, {"rollout-1": 3.0}), (4, {})]


def test_a_slow_lane_that_was_given_back_is_no_longer_named(setup: Setup, client: Any) -> None:
    setup.process.roles = {lane: role for lane, role in ROLES.items() if lane != "rollout-1"}
    setup.process.slow = {"rollout-1": 2.0}
    setup.resizer.state = ResizeState.DONE
    setup.resizer.then = partial(setup.roles.pop, "rollout-1")
    setup.complete(1)
    assert slow_lanes_told(client) == [(1, {"rollout-1": 2.0}), (1, {})]


def ask_after(setup: Setup, batch: int) -> None:
    """The run asks after `batch` complete batches, be it due or not."""
    setup.replanner._cadence.restart(batch - 1)
    setup.complete(batch)
