"""Events that an executor must not apply, and the errors that say so."""

import math

import pytest

from tests.scheduling.manual_executor import ManualExecutor
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, Placement
from worker.scheduling.core.fragment_queue import split_into_fragments
from worker.scheduling.core.group_assembler import GroupAssembler
from worker.scheduling.core.messages import (
    Accumulate,
    Accumulated,
    Commit,
    EvaluationRequested,
    FragmentKey,
    Generate,
    Generated,
    LaneJoined,
    LaneLost,
    MicroBatchKey,
    Published,
    Pulled,
    Purpose,
    Score,
    Scored,
    TrainerReleased,
    TrainerReserved,
)
from worker.scheduling.core.protocol import ProtocolError

FIRST = FragmentKey(Purpose.TRAIN, 0, 0, 0)


def begun() -> ManualExecutor:
    return ManualExecutor(algebra_of(groups_per_minibatch=2, fragments=(2, 2)))


def test_a_fragment_never_begun_cannot_be_generated() -> None:
    run = begun()
    with pytest.raises(ProtocolError, match="expected to answer"):
        run.apply(Generated("g", (FragmentKey(Purpose.TRAIN, 7, 0, 0),)))


def test_a_fragment_is_generated_once() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(1, 2)))
    run.finish(Generate)
    with pytest.raises(ProtocolError, match="nothing under way"):
        run.apply(Generated("g", (FIRST,)))


def test_a_fragment_is_scored_after_it_is_generated() -> None:
    run = begun()
    with pytest.raises(ProtocolError, match="lane `s` has nothing under way"):
        run.apply(Scored("s", FIRST, (1.0, 1.0)))


def test_a_fragment_is_scored_once() -> None:
    run = begun()
    run.finish(Generate)
    run.finish(Score)
    with pytest.raises(ProtocolError, match="answers nothing"):
        run.apply(Scored("s", FIRST, (1.0, 1.0)))


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
def test_a_reward_that_is_not_finite_is_refused(reward: float) -> None:
    run = begun()
    run.finish(Generate)
    with pytest.raises(ProtocolError, match=r"must be finite, got .* for member 1"):
        run.apply(Scored("s", FIRST, (0.5, reward)))


def test_rewards_must_be_one_for_each_member() -> None:
    run = begun()
    run.finish(Generate)
    with pytest.raises(ProtocolError, match="one for each of 2 members"):
        run.apply(Scored("s", FIRST, (0.5,)))


def test_the_assembler_alone_refuses_what_is_unknown_double_or_early() -> None:
    fragments = split_into_fragments(
        purpose=Purpose.TRAIN, batch=0, num_groups=1, group_size=4, fragment_size=2, policy_version=0
    )
    assembler = GroupAssembler(fragments)
    with pytest.raises(ProtocolError, match="must be among the 2 fragments"):
        assembler.generated(FragmentKey(Purpose.TRAIN, 0, 0, 2))
    with pytest.raises(ProtocolError, match="expected `Generated` first"):
        assembler.scored(FIRST, (1.0, 1.0))
    assembler.generated(FIRST)
    with pytest.raises(ProtocolError, match="generated before"):
        assembler.generated(FIRST)
    assembler.scored(FIRST, (1.0, 1.0))
    with pytest.raises(ProtocolError, match="scored before"):
        assembler.scored(FIRST, (1.0, 1.0))
    with pytest.raises(ProtocolError, match="1 of 2 fragments"):
        assembler.group_rewards(0)


def test_a_lane_pulls_the_version_of_its_action() -> None:
    run = ManualExecutor(algebra_of(), lanes=(("t", LaneRole.TRAINER),))
    run.apply(LaneJoined("g", LaneRole.ROLLOUT, None))
    with pytest.raises(ProtocolError, match="policy_version=0"):
        run.apply(Pulled("g", 1))


def test_an_accumulation_is_answered_with_its_own_micro_batches() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1))
    run.finish_all(Generate, Score)
    with pytest.raises(ProtocolError, match=r"MicroBatchKey\(group=0, index=0\)"):
        run.apply(Accumulated("t", 0, 0, 0, (MicroBatchKey(1, 0),)))


def test_only_a_publish_under_way_is_published() -> None:
    with pytest.raises(ProtocolError, match="answer the publish under way, which is None"):
        begun().apply(Published(1))


def test_lanes_join_before_they_are_named_and_only_once() -> None:
    run = begun()
    with pytest.raises(ProtocolError, match="`x` is not part"):
        run.apply(LaneLost("x"))
    with pytest.raises(ProtocolError, match="joined already"):
        run.apply(LaneJoined("g", LaneRole.ROLLOUT, 0))


def test_a_trainer_lane_does_not_join_upon_open_gradients() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=2, fragments=(1, 2)))
    run.finish(Generate)
    run.finish(Score)
    run.finish(Accumulate)
    with pytest.raises(ProtocolError, match="between optimizer steps"):
        run.apply(LaneJoined("t2", LaneRole.TRAINER, None))


def test_a_busy_trainer_gang_cannot_be_reserved() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1))
    run.finish_all(Generate, Score, Accumulate)
    assert isinstance(run.actions[0], Commit)
    with pytest.raises(ProtocolError, match="must be free"):
        run.apply(TrainerReserved())


def test_the_trainer_gang_is_reserved_once_and_then_released_once() -> None:
    run = begun()
    with pytest.raises(ProtocolError, match="`TrainerReserved` first"):
        run.apply(TrainerReleased())
    run.apply(TrainerReserved())
    with pytest.raises(ProtocolError, match="reserved already"):
        run.apply(TrainerReserved())


def test_evaluations_are_of_the_version_published_last_and_one_at_a_time() -> None:
    run = begun()
    with pytest.raises(ProtocolError, match="`policy_version` must be 0"):
        run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 1))
    with pytest.raises(ProtocolError, match="batches begin by admission"):
        run.apply(EvaluationRequested(Purpose.TRAIN, 0, 1, 2, 0))
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    with pytest.raises(ProtocolError, match="is under way"):
        run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))


def test_a_run_cannot_begin_after_its_end() -> None:
    with pytest.raises(ValueError, match="`first_batch` must be within 0 to 2"):
        Settings(algebra=algebra_of(), first_batch=3, num_batches=2).scheduler()


def test_the_planner_resolves_a_placement_before_the_scheduler_sees_it() -> None:
    with pytest.raises(ValueError, match="let the planner resolve it"):
        Settings(algebra=algebra_of(), placement=Placement.AUTO).scheduler()
