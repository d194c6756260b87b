"""When a run asks how to go on."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.scheduling.core.costs import Cost, CostKind, MeasuredCost, MeasuredCostTable
from worker.scheduling.replanning.cadence import LOST_OVER_WORK, WORK_SHARE, Cadence

ROLES = {"a": "trainer", "b": "rollout"}


def costs(seconds: float, error: float = 0.01) -> dict[tuple[str, CostKind], MeasuredCost]:
    return {("b", CostKind.GENERATE): MeasuredCost(Cost(0.0, seconds), 4, 4, error)}


def asked_after_eight(table: MeasuredCostTable | None = None) -> Cadence:
    """One that has asked after its eighth batch, each of 10 s."""
    cadence = Cadence()
    cadence.completed(8, 80.0)
    cadence.asked(ROLES, table or {})
    return cadence


def test_a_run_asks_after_its_first_batch_then_ever_more_rarely() -> None:
    cadence, asked = Cadence(), []
    for batch in range(1, 40):
        cadence.completed(batch, 10.0 * batch)
        if cadence.is_due(ROLES, {}):
            asked.append(batch)
            cadence.asked(ROLES, {})
    assert asked == [1, 2, 4, 8, 16, 32]


def test_questions_take_no_more_of_the_time_than_their_share_however_short_batches_are() -> None:
    cadence, asked = Cadence(), list[int]()
    for batch in range(1, 400):
        cadence.completed(batch, 1.0 * batch)
        # Each batch takes twice as long as promised, and gives a reason to ask.
        if cadence.is_due(ROLES, {}, 0.5 if asked else 0.0):
            asked.append(batch)
            cadence.asked(ROLES, {})
            cadence.stays(0.5)
    assert asked[:3] == [1, 26, 51]
    assert 0.5 * (len(asked) - 1) <= WORK_SHARE * 400


def test_other_lanes_are_asked_about_at_once_whatever_questions_take() -> None:
    cadence = asked_after_eight()
    cadence.completed(9, 81.0)
    assert cadence.is_due(ROLES | {"c": "rollout"}, {}, 5.0)
    assert not cadence.is_due(ROLES, costs(10.0), 5.0)


def test_a_lane_that_has_nearly_stopped_is_asked_about_once_more_is_lost_than_a_question_costs() -> None:
    """Batches are promised 1 s and take 9, a question takes 2 s of a core: its share would be up 100 s after it."""
    cadence = asked_after_eight(costs(1.0))
    cadence.stays(1.0)
    cadence.completed(9, 89.0)
    assert not cadence.is_due(ROLES, costs(9.0), 2.0)
    cadence.completed(10, 98.0)
    assert cadence.is_due(ROLES, costs(9.0), 2.0)
    assert not cadence.is_due(ROLES, costs(1.0), 2.0), "nothing is known that was not when last asked"
    cadence.asked(ROLES, costs(9.0))
    cadence.stays(9.0)
    cadence.completed(11, 107.0)
    assert not cadence.is_due(ROLES, costs(1.0), 2.0), "nothing is lost against the new promise"


@given(st.floats(0.1, 5.0), st.lists(st.floats(0.2, 5.0), min_size=20, max_size=60))
def test_questions_that_change_nothing_cost_a_fifth_of_what_is_lost_at_most(
    question: float, batches: list[float]
) -> None:
    """Promises are always too short and the costs always others, so all that holds questions back is what they cost."""
    promised, at, asked_at = 0.1, 0.0, list[float]()
    cadence = Cadence()
    for batch, seconds in enumerate(batches, start=1):
        at += seconds
        cadence.completed(batch, at)
        if cadence.is_due(ROLES, costs(1.5**batch), question if asked_at else 0.0):
            asked_at.append(at)
            cadence.asked(ROLES, costs(1.5**batch))
            cadence.stays(promised)
    lost = at - asked_at[0]
    assert question * (len(asked_at) - 1) <= max(1 / LOST_OVER_WORK, WORK_SHARE) * lost


def test_what_a_change_of_the_gang_takes_is_not_lost_against_the_promise() -> None:
    cadence = asked_after_eight(costs(1.0))
    cadence.changed(9, 1.0, only_switches=True)
    cadence.completed(10, 500.0)
    cadence.asked(ROLES, costs(1.0))
    cadence.changed(10, 1.0, only_switches=True)
    cadence.completed(11, 530.0)
    assert not cadence.is_due({}, costs(9.0), 5.0)


def test_a_run_that_is_slower_than_promised_asks_anew() -> None:
    cadence = Cadence()
    cadence.completed(1, 10.0)
    cadence.asked(ROLES, {})
    cadence.changed(1, 10.0, only_switches=True)
    for batch, at in ((8, 80.0), (9, 90.0), (10, 100.0)):
        cadence.completed(batch, at)
    cadence.asked(ROLES, {})
    cadence.completed(11, 112.0)
    assert not cadence.is_due(ROLES, {}), "one batch may be late by chance"
    cadence.completed(12, 124.0)
    assert cadence.is_due(ROLES, {})


def test_other_lanes_are_a_reason_to_ask() -> None:
    cadence = asked_after_eight()
    cadence.completed(9, 90.0)
    assert not cadence.is_due(ROLES, {})
    assert cadence.is_due(ROLES | {"c": "rollout"}, {})


def test_a_lane_that_has_become_slower_is_a_reason_to_ask_once_its_measurements_tell() -> None:
    cadence = asked_after_eight(costs(10.0))
    cadence.completed(9, 90.0)
    assert not cadence.is_due(ROLES, costs(11.0))
    assert not cadence.is_due(ROLES, costs(13.0, error=0.2))
    assert cadence.is_due(ROLES, costs(13.0))


def test_what_could_not_be_told_when_a_lane_had_just_turned_slow_is_a_reason_to_ask_once_it_can() -> None:
    cadence = asked_after_eight(costs(30.0, error=0.5))
    cadence.completed(9, 90.0)
    assert cadence.is_due(ROLES, costs(100.0))


def test_a_question_waits_one_batch_for_a_call_that_may_confirm_that_a_lane_has_become_another() -> None:
    cadence = asked_after_eight(costs(10.0))
    cadence.completed(16, 160.0, is_in_doubt=True)
    assert not cadence.is_due(ROLES, costs(13.0)), "with half of the truth, the wrong thing is changed"
    assert cadence.is_due(ROLES | {"c": "rollout"}, costs(13.0)), "other lanes wait for nothing"
    cadence.completed(17, 170.0, is_in_doubt=True)
    assert cadence.is_due(ROLES, costs(13.0)), "among many lanes one is always in doubt"


@pytest.mark.parametrize(("seconds", "is_due"), [(14.0, False), (16.0, True)])
def test_a_single_batch_far_later_than_promised_is_a_reason_to_ask(seconds: float, is_due: bool) -> None:
    cadence = asked_after_eight()
    cadence.stays(10.0)
    cadence.completed(9, 80.0 + seconds)
    assert cadence.is_due(ROLES, {}) is is_due


def test_a_run_that_stays_as_it_is_compares_with_what_was_predicted_of_that() -> None:
    cadence = asked_after_eight()
    cadence.stays(10.0)
    cadence.completed(9, 92.0)
    assert not cadence.is_due(ROLES, {}), "one batch may be late by chance"
    cadence.completed(10, 104.0)
    assert cadence.is_due(ROLES, {})
    cadence.asked(ROLES, {})
    cadence.completed(11, 116.0)
    assert not cadence.is_due(ROLES, {}), "a late run asks again after as many batches"


@given(st.integers(10, 400), st.randoms())
def test_trainers_and_fragments_change_at_most_about_log2_of_the_batches(num_batches: int, random: Random) -> None:
    cadence, num_changes = Cadence(), 0
    for batch in range(1, num_batches + 1):
        cadence.completed(batch, 100.0 * batch * random.random())
        if cadence.is_due({"a": random.random()}, {}):
            cadence.asked({}, {})
            cadence.changed(batch, 1e-3, only_switches=False)
            num_changes += 1
    assert num_changes <= 1 + math.log2(num_batches)
