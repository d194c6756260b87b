"""Time-outs, retries and missing scores of one reward."""

import concurrent.futures
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.engine.reward.scripted_reward import PICTURES, PROMPTS, ScriptedReward, caller, spec
from worker.contracts.prompts import Prompt, parse_prompts
from worker.contracts.rewards import MAX_RETRY_WAIT_SECONDS
from worker.engine.reward import reward_caller
from worker.engine.reward.base import RewardResult, ScorerUnavailableError
from worker.engine.reward.cancellation import uncancelled
from worker.engine.reward.reward_caller import RewardCaller, wait_seconds


def test_only_retryable_samples_are_retried() -> None:
    half = RewardResult((0.5, None, None), (None, "no such word", "busy"), frozenset({2}))
    reward = ScriptedReward(half, [0.9])
    outcome = caller(reward).score(PICTURES, parse_prompts(PROMPTS))
    assert reward.calls == [([0, 1, 2], PROMPTS), ([2], ["c"])]
    assert outcome.result.scores == (0.5, None, 0.9)
    assert outcome.result.errors == (None, "no such word", None)
    assert outcome.num_retries == 1


def test_retries_are_bounded_and_the_last_error_is_kept() -> None:
    reward = ScriptedReward(ScorerUnavailableError("busy", is_transient=True))
    outcome = caller(reward, num_retries=3).score(PICTURES, parse_prompts(PROMPTS))
    assert len(reward.calls) == 4
    assert outcome.num_retries == 3
    assert outcome.result.scores == (None, None, None)
    assert outcome.result.errors == ("busy", "busy", "busy")


def test_a_failure_that_is_not_transient_is_not_retried() -> None:
    reward = ScriptedReward(ScorerUnavailableError("forbidden", is_transient=False))
    assert caller(reward).score(PICTURES, parse_prompts(PROMPTS)).result.errors == ("forbidden",) * 3
    assert len(reward.calls) == 1


def test_an_unexpected_exception_of_a_required_reward_is_raised() -> None:
    with pytest.raises(KeyError):
        caller(ScriptedReward(KeyError("a bug"))).score(PICTURES, parse_prompts(PROMPTS))
    with pytest.raises(TimeoutError, match="inside"):
        caller(ScriptedReward(TimeoutError("inside the scorer"))).score(PICTURES, parse_prompts(PROMPTS))


@pytest.mark.parametrize("fields", [{"watched": True}, {"required": False}])
def test_an_unexpected_exception_is_an_error_of_each_sample_where_scores_may_be_missing(
    fields: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    reward = ScriptedReward(KeyError("a bug"), [1, 2, 3])
    broken = caller(reward, **fields)
    with caplog.at_level(logging.WARNING, logger="worker"):
        outcome = broken.score(PICTURES, parse_prompts(PROMPTS))
    assert outcome.result.errors == ("KeyError: 'a bug'",) * 3
    assert outcome.num_retries == 0
    assert "reward `a` raised an unexpected exception" in caplog.text and "Traceback" in caplog.text
    assert broken.score(PICTURES, parse_prompts(PROMPTS)).result.scores == (1, 2, 3)


@pytest.mark.parametrize("num_scores", [0, 2, 4])
def test_a_scorer_with_too_few_or_too_many_scores_is_refused(num_scores: int) -> None:
    with pytest.raises(ValueError, match=f"one for each of 3 samples, got {num_scores}"):
        caller(ScriptedReward([0.5] * num_scores)).score(PICTURES, parse_prompts(PROMPTS))


def test_scores_that_arrive_before_the_caller_notices_its_time_out_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that is done has its scores, however late the caller's thread wakes."""
    done = threading.Event()

    def scores() -> RewardResult:
        done.set()
        return RewardResult((1.0, 2.0, 3.0), (None,) * 3)

    def late(calls: Any, timeout: float) -> Any:
        assert done.wait(20)
        return concurrent.futures.wait(calls)

    monkeypatch.setattr(reward_caller, "wait", late)
    assert caller(ScriptedReward(scores), timeout_seconds=1e-3).score(
        PICTURES, parse_prompts(PROMPTS)
    ).result.scores == (
        1.0,
        2.0,
        3.0,
    )


def test_a_call_that_exceeds_its_time_out_ends_before_its_next_picture_and_its_repeat_is_not_held_up() -> None:
    scored, ended = list[int](), threading.Event()

    class SlowOnce:
        name = "slow"

        def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
            is_first = not scored
            try:
                for number, _ in enumerate(uncancelled(images)):
                    scored.append(number)
                    if is_first:
                        time.sleep(0.1)
            finally:
                ended.set()
            return RewardResult((1.0,) * len(images), (None,) * len(images))

    many = np.zeros((200, 4, 4, 3), dtype=np.uint8)
    outcome = caller(SlowOnce(), timeout_seconds=0.5, num_retries=1).score(many, [Prompt(text="a")] * 200)
    # 20 s of work were given up for it.
    assert outcome.num_retries == 1 and outcome.result.scores == (1.0,) * 200
    assert 1 <= len(scored) - 200 < 20 and ended.is_set()


@settings(max_examples=60)
@given(data=st.data(), num_samples=st.integers(0, 6), num_retries=st.integers(0, 3))
def test_whatever_a_scorer_answers_each_sample_has_its_first_score_or_its_last_error(
    data: st.DataObject, num_samples: int, num_retries: int
) -> None:
    """`plan` holds the answer to each sample at each try."""
    plan = [
        [data.draw(st.sampled_from(["score", "error", "busy"])) for _ in range(num_retries + 1)]
        for _ in range(num_samples)
    ]
    tries = [0] * num_samples

    class PlannedReward:
        name = "planned"

        def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
            indices = [int(prompt.text) for prompt in prompts]
            answers = [plan[index][tries[index]] for index in indices]
            for index in indices:
                tries[index] += 1
            return RewardResult(
                tuple(float(i) if answer == "score" else None for i, answer in zip(indices, answers, strict=True)),
                tuple(
                    None if answer == "score" else f"{answer} {tries[i]}"
                    for i, answer in zip(indices, answers, strict=True)
                ),
                frozenset(position for position, answer in enumerate(answers) if answer == "busy"),
            )

    pictures = np.zeros((num_samples, 4, 4, 3), dtype=np.uint8)
    outcome = RewardCaller(spec(num_retries=num_retries), PlannedReward(), sleep=lambda seconds: None).score(
        pictures, parse_prompts([str(index) for index in range(num_samples)])
    )
    for index, answers in enumerate(plan):
        last = next((number for number, answer in enumerate(answers) if answer != "busy"), num_retries)
        assert tries[index] == last + 1
        if answers[last] == "score":
            assert outcome.result.scores[index] == index
        else:
            assert outcome.result.errors[index] == f"{answers[last]} {last + 1}"
    assert outcome.num_retries == max(tries, default=1) - 1


def test_waits_double_up_to_a_bound_unless_the_scorer_requests_one() -> None:
    assert [wait_seconds(number, None) for number in range(4)] == [0.5, 1.0, 2.0, 4.0]
    assert wait_seconds(60, None) == MAX_RETRY_WAIT_SECONDS
    assert wait_seconds(0, 7.0) == 7.0
    assert wait_seconds(0, 1e9) == MAX_RETRY_WAIT_SECONDS


def test_a_retry_waits_for_as_long_as_the_scorer_requests() -> None:
    waits: list[float] = []
    reward = ScriptedReward(ScorerUnavailableError("busy", is_transient=True, wait_seconds=7.0), [1, 2, 3])
    RewardCaller(spec(), reward, sleep=waits.append).score(PICTURES, parse_prompts(PROMPTS))
    assert waits == [7.0]


def test_a_scorer_that_hangs_is_given_up_and_never_called_twice_at_once() -> None:
    release, returned, running, was_alone = threading.Event(), threading.Event(), threading.Semaphore(1), []

    def hang() -> RewardResult:
        was_alone.append(running.acquire(blocking=False))
        release.wait(20)
        running.release()
        returned.set()
        return RewardResult((1.0, 1.0, 1.0), (None, None, None))

    reward = ScriptedReward(hang)
    slow = caller(reward, timeout_seconds=0.05, num_retries=2)
    outcome = slow.score(PICTURES, parse_prompts(PROMPTS))
    assert outcome.result.errors == ("no scores within 0.05 s (`timeout_seconds`)",) * 3
    assert outcome.num_retries == 2
    assert len(reward.calls) == 1  # The retries waited for the first call and were cancelled.
    release.set()
    assert returned.wait(20)
    assert RewardCaller(spec(), reward).score(PICTURES, parse_prompts(PROMPTS)).result.scores == (1.0, 1.0, 1.0)
    assert all(was_alone)


@pytest.mark.parametrize(("fields", "is_logged"), [({"watched": True}, True), ({"required": False}, True), ({}, False)])
def test_missing_scores_that_end_no_run_are_logged(
    fields: dict[str, Any], is_logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="worker"):
        caller(ScriptedReward([0.1, None, 0.3]), **fields).score(PICTURES, parse_prompts(PROMPTS))
    assert ("reward `a` is missing for 1 of 3 samples: broken" in caplog.text) is is_logged


def test_retries_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="worker"):
        caller(ScriptedReward(ScorerUnavailableError("busy", is_transient=True), [1, 2, 3])).score(
            PICTURES, parse_prompts(PROMPTS)
        )
    assert "reward `a` failed on 3 of 3 samples, try 2 of 3 follows in 0.5 s: busy" in caplog.text


def test_a_score_that_is_not_finite_is_a_failure() -> None:
    reward = ScriptedReward(lambda: RewardResult.from_array(np.array([0.1, np.nan, np.inf])))
    result = caller(reward).score(PICTURES, parse_prompts(PROMPTS)).result
    assert result.scores == (0.1, None, None)
    assert len(reward.calls) == 1
