"""Time-outs, retries and missing scores of one reward."""

import logging
import threading
from typing import Any

import numpy as np
import pytest

from tests.engine.reward.stand_ins import PICTURES, PROMPTS, Scripted, caller, spec
from worker.engine.reward.base import RewardResult, ScorerUnavailableError
from worker.engine.reward.calling import MAX_WAIT_SECONDS, RewardCaller, wait_seconds


def test_only_the_samples_that_may_do_better_are_tried_again() -> None:
    half = RewardResult((0.5, None, None), (None, "no such word", "busy"), frozenset({2}))
    reward = Scripted(half, [0.9])
    outcome = caller(reward).score(PICTURES, PROMPTS)
    assert reward.seen == [([0, 1, 2], PROMPTS), ([2], ["c"])]
    assert outcome.result.scores == (0.5, None, 0.9)
    assert outcome.result.errors == (None, "no such word", None)
    assert outcome.num_retries == 1


def test_tries_are_bounded_and_the_last_reason_stays() -> None:
    reward = Scripted(ScorerUnavailableError("busy", may_pass=True))
    outcome = caller(reward, num_retries=3).score(PICTURES, PROMPTS)
    assert len(reward.seen) == 4
    assert outcome.num_retries == 3
    assert outcome.result.scores == (None, None, None)
    assert outcome.result.errors == ("busy", "busy", "busy")


def test_what_will_not_pass_is_not_tried_again() -> None:
    reward = Scripted(ScorerUnavailableError("forbidden", may_pass=False))
    assert caller(reward).score(PICTURES, PROMPTS).result.errors == ("forbidden",) * 3
    assert len(reward.seen) == 1


def test_errors_that_are_not_the_scorers_end_the_run() -> None:
    with pytest.raises(KeyError):
        caller(Scripted(KeyError("a bug"))).score(PICTURES, PROMPTS)
    with pytest.raises(TimeoutError, match="inside"):
        caller(Scripted(TimeoutError("inside the scorer"))).score(PICTURES, PROMPTS)


def test_waits_double_up_to_a_bound_unless_the_scorer_says_how_long() -> None:
    assert [wait_seconds(number, None) for number in range(4)] == [0.5, 1.0, 2.0, 4.0]
    assert wait_seconds(60, None) == MAX_WAIT_SECONDS
    assert wait_seconds(0, 7.0) == 7.0
    assert wait_seconds(0, 1e9) == MAX_WAIT_SECONDS


def test_a_scorer_is_left_alone_for_as_long_as_it_asks() -> None:
    waits: list[float] = []
    reward = Scripted(ScorerUnavailableError("busy", may_pass=True, wait_seconds=7.0), [1, 2, 3])
    RewardCaller(spec(), reward, sleep=waits.append).score(PICTURES, PROMPTS)
    assert waits == [7.0]


def test_a_scorer_that_hangs_is_given_up_and_never_called_twice_at_once() -> None:
    free, left, inside, most = threading.Event(), threading.Event(), threading.Semaphore(1), []

    def hang() -> RewardResult:
        most.append(inside.acquire(blocking=False))
        free.wait(20)
        inside.release()
        left.set()
        return RewardResult((1.0, 1.0, 1.0), (None, None, None))

    reward = Scripted(hang)
    slow = caller(reward, timeout_seconds=0.05, num_retries=2)
    outcome = slow.score(PICTURES, PROMPTS)
    assert outcome.result.errors == ("no scores within 0.05 s (`timeout_seconds`)",) * 3
    assert outcome.num_retries == 2
    assert len(reward.seen) == 1  # the further tries waited in line behind it and were taken back
    free.set()
    assert left.wait(20)
    assert RewardCaller(spec(), reward).score(PICTURES, PROMPTS).result.scores == (1.0, 1.0, 1.0)
    assert all(most)


@pytest.mark.parametrize(("fields", "is_told"), [({"watched": True}, True), ({"required": False}, True), ({}, False)])
def test_scores_that_may_be_missing_are_told_when_they_are(
    fields: dict[str, Any], is_told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="worker"):
        caller(Scripted([0.1, None, 0.3]), **fields).score(PICTURES, PROMPTS)
    assert ("reward `a` is missing for 1 of 3 samples: broken" in caplog.text) is is_told


def test_retries_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="worker"):
        caller(Scripted(ScorerUnavailableError("busy", may_pass=True), [1, 2, 3])).score(PICTURES, PROMPTS)
    assert "reward `a` failed on 3 of 3 samples, try 2 of 3 follows in 0.5 s: busy" in caplog.text


def test_a_score_that_is_not_finite_is_a_failure() -> None:
    reward = Scripted(lambda: RewardResult.from_array(np.array([0.1, np.nan, np.inf])))
    result = caller(reward).score(PICTURES, PROMPTS).result
    assert result.scores == (0.1, None, None)
    assert len(reward.seen) == 1
