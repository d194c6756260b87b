"""Single moments of a lent trainer lane: when it is lent, what it generates, when it returns."""

from collections.abc import Sequence

import pytest

from tests.scheduling.manual_executor import ManualExecutor, colocated, whole_groups
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.fragment_queue import split_into_fragments
from worker.scheduling.core.lane_table import Lane, LaneTable
from worker.scheduling.core.lending import Allowance, Lending
from worker.scheduling.core.messages import (
    Accumulate,
    Action,
    Commit,
    EvaluationRequested,
    Generate,
    Generated,
    LaneJoined,
    Lend,
    Publish,
    Pull,
    Purpose,
    Score,
    Snapshot,
    Switch,
    Switched,
    TrainerReleased,
    TrainerReserved,
)
from worker.scheduling.core.protocol import ProtocolError
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.core.state import SchedulerState

GREEDY = TrainerAssist.GREEDY
TWO_GROUPS = algebra_of(groups_per_minibatch=2, fragments=(1, 2))
THREE_GROUPS = algebra_of(groups_per_minibatch=3, fragments=(1, 2))
FIVE_GROUPS = algebra_of(groups_per_minibatch=5, fragments=(1, 2))
TWO_TRAINERS = (("t", LaneRole.TRAINER), ("t2", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))


def of_lane(actions: list[Action], lane: str) -> list[Action]:
    return [action for action in actions if getattr(action, "lane", None) == lane]


def test_off_means_that_trainer_lanes_only_train() -> None:
    run = ManualExecutor(FIVE_GROUPS, tag=TrainerAssist.OFF)
    assert of_lane(run.actions, "t") == []


def test_an_idle_trainer_lane_switches_pulls_and_takes_the_next_fragment() -> None:
    run = ManualExecutor(FIVE_GROUPS, tag=GREEDY)
    assert Lend(1, 0, ("t",), 1, None) in run.actions
    assert of_lane(run.actions, "t") == [Switch("t", LaneRole.ROLLOUT)]
    assert of_lane(run.finish(Switch), "t") == [Pull("t", 0)]
    (generate,) = of_lane(run.finish(Pull), "t")
    assert isinstance(generate, Generate)
    assert (generate.fragments[0].key.group, generate.fragments[0].policy_version) == (1, 0)


def test_a_lent_lane_goes_on_without_a_switch_while_there_is_nothing_to_train() -> None:
    run = ManualExecutor(FIVE_GROUPS, tag=GREEDY)
    run.finish(Switch)
    run.finish(Pull)
    assert [type(action) for action in run.finish(Generate, "t")] == [Generate, Score]


def test_with_training_work_ready_a_lent_lane_finishes_its_fragment_and_returns() -> None:
    run = ManualExecutor(FIVE_GROUPS, tag=GREEDY)
    run.finish(Switch)
    run.finish(Pull)
    run.finish(Generate, "g")
    assert run.finish(Score) == [], "a lane of the gang is lent"
    assert of_lane(run.finish(Generate, "t"), "t") == [Switch("t", LaneRole.TRAINER)]
    assert run.finish(Switch) == [whole_groups("t", FIVE_GROUPS, 0)]


@pytest.mark.parametrize("under_way", [Switch, Pull])
def test_a_lane_still_being_lent_returns_once_training_work_is_ready(under_way: type[Action]) -> None:
    run = ManualExecutor(FIVE_GROUPS, tag=GREEDY)
    if under_way is Pull:
        run.finish(Switch)
    run.finish(Generate, "g")
    run.finish(Score)
    assert run.finish(under_way, "t") == [Switch("t", LaneRole.TRAINER)]


def test_without_fragments_left_a_lent_lane_returns() -> None:
    run = ManualExecutor(TWO_GROUPS, tag=GREEDY)
    run.finish(Switch)
    run.finish(Pull)
    assert of_lane(run.finish(Generate, "t"), "t") == [Switch("t", LaneRole.TRAINER)]


def test_a_lent_lane_that_finds_no_fragment_returns_without_a_pull() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=3, fragments=(1, 2)), tag=GREEDY)
    run.finish(Generate, "g")
    (last_but_one,) = (action for action in of_lane(run.actions, "g") if isinstance(action, Generate))
    # Both lanes are free at once, and the other one is asked first.
    run.scheduler.apply(Generated("g", (last_but_one.fragments[0].key,)), run.at)
    assert of_lane(run.finish(Switch), "t") == [Switch("t", LaneRole.TRAINER)]


def test_no_more_lanes_are_lent_than_fragments_wait() -> None:
    run = ManualExecutor(TWO_GROUPS, tag=GREEDY, lanes=TWO_TRAINERS)
    assert [action.lane for action in run.actions if isinstance(action, Switch)] == ["t"]


def test_lanes_that_are_lent_together_return_together() -> None:
    run = ManualExecutor(FIVE_GROUPS, tag=GREEDY, lanes=TWO_TRAINERS, lends_together=True, equal_counts=True)
    assert of_lane(run.actions, "t") == [Switch("t", LaneRole.ROLLOUT)]
    assert of_lane(run.actions, "t2") == [Switch("t2", LaneRole.ROLLOUT)]
    run.finish_all(Switch, Pull)
    run.finish(Generate, "g")
    run.finish(Score)
    assert of_lane(run.finish(Generate, "t"), "t") == [], "it waits for the other lane"
    assert run.finish(Generate, "t2")[:2] == [Switch("t", LaneRole.TRAINER), Switch("t2", LaneRole.TRAINER)]
    run.finish(Switch, "t")
    # The group is a single micro-batch, so the second rank only keeps in step.
    shares = [whole_groups("t", FIVE_GROUPS, 0), Accumulate("t2", 0, 0, 0, (), num_padding=1)]
    assert run.finish(Switch, "t2")[:2] == shares


def test_a_returned_lane_trains_while_another_is_lent_and_the_commit_waits_for_both() -> None:
    run = ManualExecutor(THREE_GROUPS, tag=GREEDY, lanes=TWO_TRAINERS)
    run.finish_all(Switch, Pull)
    run.finish(Generate, "g")
    run.finish(Score)
    run.finish(Generate, "t2")
    run.finish(Score)
    shares = [action for action in run.finish(Switch, "t2") if isinstance(action, Accumulate)]
    assert [share.lane for share in shares] == ["t2"]
    run.finish_all(Accumulate, Score)
    assert not any(isinstance(action, Commit) for action in run.actions), "the third group is being generated"
    run.finish(Generate, "t")
    run.finish(Score)
    run.finish_all(Accumulate)
    assert not any(isinstance(action, Commit) for action in run.actions), "a lane is still lent"
    run.finish(Switch, "t")
    assert any(isinstance(action, Commit) for action in run.actions)


def test_a_lane_waiting_for_the_others_begins_nothing_once_training_is_ready() -> None:
    """Of two lanes lent together, one is still switching when the first group is ready."""
    run = ManualExecutor(FIVE_GROUPS, tag=GREEDY, lanes=TWO_TRAINERS, lends_together=True)
    run.finish(Switch, "t")
    run.finish(Generate, "g")
    run.finish(Score)
    assert run.finish(Pull, "t") == []
    assert run.finish(Switch, "t2") == [Switch("t", LaneRole.TRAINER), Switch("t2", LaneRole.TRAINER)]


def test_a_trainer_lane_that_joins_while_the_others_are_lent_together_does_not_delay_their_return() -> None:
    run = ManualExecutor(TWO_GROUPS, tag=GREEDY, lends_together=True)
    run.apply(LaneJoined("late", LaneRole.TRAINER, None))
    run.finish(Switch)
    run.finish(Pull)
    run.finish(Generate, "g")
    assert Switch("t", LaneRole.TRAINER) in run.finish(Generate, "t")


def test_the_fragment_assigned_to_a_recalled_lane_goes_to_another() -> None:
    """The run resumes with a batch of version 2 while version 3 is published: a lane that pulls version 2 has a
    fragment assigned to it."""
    run = ManualExecutor(
        FIVE_GROUPS, tag=GREEDY, max_staleness=1, first_batch=3, first_batch_is_stale=True, num_batches=4
    )
    run.finish(Pull, "g")
    assert of_lane(run.finish(Switch), "t") == [Pull("t", 2)]
    assert run.scheduler.state.queues()["fragments_to_generate"] == 4, "the assigned one counts as waiting"
    run.finish(Generate, "g")
    run.finish(Score)
    assert run.finish(Pull, "t") == [Switch("t", LaneRole.TRAINER)]
    groups = []
    while of_g := [action for action in of_lane(run.actions, "g") if isinstance(action, Generate)]:
        groups.append(of_g[0].fragments[0].key.group)
        run.finish(Generate, "g")
        run.finish_all(Score)
    assert groups == [2, 1, 3, 4]


def test_a_reserved_trainer_lane_is_not_lent() -> None:
    run = ManualExecutor(TWO_GROUPS, tag=GREEDY, lanes=(("t", LaneRole.TRAINER), ("s", LaneRole.REWARD)))
    run.finish(Switch)
    run.finish(Pull)
    with pytest.raises(ProtocolError, match="must have all its lanes to be reserved, got t lent"):
        run.apply(TrainerReserved())
    run.finish_all(Generate, Switch)
    run.scheduler.apply(TrainerReserved(), run.at)
    run.apply(EvaluationRequested(Purpose.REQUEST, 0, 1, 2, 0))
    assert of_lane(run.actions, "t") == []
    run.finish_all(Score)
    assert run.apply(TrainerReleased()) == [whole_groups("t", TWO_GROUPS, 0, 1)]


def test_lent_lanes_serve_requests_too() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(1, 2)), tag=GREEDY)
    assert of_lane(run.actions, "t") == [], "the one fragment is taken"
    run.apply(EvaluationRequested(Purpose.REQUEST, 0, 1, 2, 0))
    run.finish(Switch)
    (generate,) = of_lane(run.finish(Pull), "t")
    assert isinstance(generate, Generate)
    assert generate.fragments[0].key.purpose is Purpose.REQUEST


class TwoFragmentsOnce:
    """Grants two fragments per lane the first time, and nothing later."""

    def __init__(self) -> None:
        self.num_asked = 0

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        self.num_asked += 1
        return Allowance(num_fragments=2) if self.num_asked == 1 else None


def test_a_lane_begins_no_more_fragments_than_it_was_allowed() -> None:
    policy = TwoFragmentsOnce()
    state = Scheduler(
        algebra_of(groups_per_minibatch=1, fragments=(1, 2)),
        PipelineSpec(tag=TrainerAssist.GREEDY),
        advantage_std="group",
        first_batch=0,
        num_batches=1,
        policy_version=0,
        lending_policy=policy,
    ).state
    lanes, generation, lending = state.lanes, state.generation, Lending(state, policy)
    lanes.join(LaneJoined("t", LaneRole.TRAINER, 0))
    fragments = split_into_fragments(
        purpose=Purpose.TRAIN, batch=0, num_groups=5, group_size=2, fragment_size=2, policy_version=0
    )
    generation.enqueue(fragments)
    assert list(lending.lend((0,), 0.0)) == [Lend(1, 0, ("t",), 2, None), Switch("t", LaneRole.ROLLOUT)]
    lanes.finish("t", Switched("t", LaneRole.ROLLOUT))
    for group in range(2):
        (generate,) = generation.next_actions(0, 0.0)
        assert isinstance(generate, Generate)
        assert generate.fragments[0].key.group == group
        assert list(lending.reclaim(training_waits=False, at=0.0)) == []
        lanes.finish("t", Generated("t", (generate.fragments[0].key,)))
    assert list(generation.next_actions(0, 0.0)) == []
    assert list(lending.lend((0,), 0.0)) == []
    assert policy.num_asked == 2, "asked again once the allowance is exhausted"
    assert list(lending.reclaim(training_waits=False, at=0.0)) == [Switch("t", LaneRole.TRAINER)]


def test_a_lent_lane_that_is_lost_is_no_longer_counted_as_lent() -> None:
    lanes = LaneTable()
    lanes.join(LaneJoined("t", LaneRole.TRAINER, None))
    lanes.allow(lanes["t"], 1)
    lanes.start(lanes["t"], Switch("t", LaneRole.ROLLOUT), 0.0)
    assert (lanes.num_lent_lanes, [lane.name for lane in lanes.with_allowance]) == (1, ["t"])
    lanes.lose("t")
    assert (lanes.num_lent_lanes, lanes.with_allowance, lanes.nothing_under_way) == (0, [], True)


# --- colocated --------------------------------------------------------------------------------------------------------


def with_all_fragments_begun() -> ManualExecutor:
    """Colocated lanes of which `t` has generated four of five fragments, and `t2` generates the other."""
    run = colocated(FIVE_GROUPS, "t", "t2")
    run.finish_all(Switch, Pull)
    for _ in range(4):
        run.finish(Generate, "t")
    return run


def test_without_gap_colocated_lanes_all_generate_then_all_train() -> None:
    run = colocated(FIVE_GROUPS, "t", "t2", gap=False)
    assert run.actions == [Switch("t", LaneRole.ROLLOUT), Switch("t2", LaneRole.ROLLOUT)], "no decision is reported"
    run.finish_all(Switch, Pull)
    while any(isinstance(action, Generate) for action in run.actions):
        assert not any(isinstance(action, Accumulate) for action in run.actions)
        run.finish_all(Score)
        run.finish(Generate)
    run.finish_all(Switch)
    run.finish_all(Score)
    # Of a share of three the first lane takes half, of two the second takes both: one would be less than half of 2.5.
    assert run.actions == [whole_groups("t", FIVE_GROUPS, 0, 1), whole_groups("t2", FIVE_GROUPS, 2, 3)]
    run.finish_all(Accumulate, Commit)
    run.finish(Snapshot)
    assert set(run.finish(Publish)) == {Switch("t", LaneRole.ROLLOUT), Switch("t2", LaneRole.ROLLOUT)}


def test_a_colocated_lane_without_a_fragment_trains_what_is_scored_while_others_generate() -> None:
    run = with_all_fragments_begun()
    run.finish_all(Score)
    assert not any(isinstance(action, Accumulate) for action in run.actions), "while fragments wait, lanes generate"
    (trained,) = of_lane(run.finish(Switch, "t"), "t")
    assert isinstance(trained, Accumulate)
    assert {key.group for key in trained.micro_batches} <= {0, 1, 2, 3}
    assert any(isinstance(action, Generate) for action in of_lane(run.actions, "t2"))


def test_colocated_ranks_in_step_wait_for_the_whole_batch() -> None:
    run = colocated(FIVE_GROUPS, "t", "t2", equal_counts=True)
    run.finish_all(Switch, Pull, Generate)
    for _ in range(FIVE_GROUPS.num_fragments):
        assert not any(isinstance(action, Accumulate) for action in run.actions)
        run.finish(Score)
    assert len([action for action in run.actions if isinstance(action, Accumulate)]) == 2


def test_a_colocated_lane_without_a_fragment_switches_back_before_the_others() -> None:
    run = colocated(FIVE_GROUPS, "t", "t2")
    run.finish_all(Switch, Pull)
    for _ in range(3):
        run.finish(Generate, "t")
    assert of_lane(run.finish(Generate, "t"), "t") == [Switch("t", LaneRole.TRAINER)]
    assert of_lane(run.actions, "t2")[0] == run.actions[0]


def test_a_lane_that_switched_back_generates_again_when_a_request_comes() -> None:
    run = with_all_fragments_begun()
    run.finish(Switch)
    assert Switch("t", LaneRole.ROLLOUT) in run.apply(EvaluationRequested(Purpose.REQUEST, 0, 1, 2, 0))
