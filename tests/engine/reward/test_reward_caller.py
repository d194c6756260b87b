"""Time-outs, retries and missing scores of one reward."""

import concurrent.futures
import logging
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.engine.reward.scripted_reward import PICTURES, PROMPTS, ScriptedReward, caller, spec
from worker.engine.reward import reward_caller
from worker.engine.reward.base import RewardResult, ScorerUnavailableError
from worker.engine.reward.reward_caller import MAX_WAIT_SECONDS, RewardCaller, wait_seconds


def test_only_the_samples_that_may_do_better_are_tried_again() -> None:
    half = RewardResult((0.5, None, None), (None, "no such word", "busy"), frozenset({2}))
    reward = ScriptedReward(half, [0.9])
    outcome = caller(reward).score(PICTURES, PROMPTS)
    assert reward.seen == [([0, 1, 2], PROMPTS), ([2], ["c"])]
    assert outcome.result.scores == (0.5, None, 0.9)
    assert outcome.result.errors == (None, "no such word", None)
    assert outcome.num_retries == 1


def test_tries_are_bounded_and_the_last_reason_stays() -> None:
    reward = ScriptedReward(ScorerUnavailableError("busy", is_transient=True))
    outcome = caller(reward, num_retries=3).score(PICTURES, PROMPTS)
    assert len(reward.seen) == 4
    assert outcome.num_retries == 3
    assert outcome.result.scores == (None, None, None)
    assert outcome.result.errors == ("busy", "busy", "busy")


def test_what_will_not_pass_is_not_tried_again() -> None:
    reward = ScriptedReward(ScorerUnavailableError("forbidden", is_transient=False))
    assert caller(reward).score(PICTURES, PROMPTS).result.errors == ("forbidden",) * 3
    assert len(reward.seen) == 1


def test_errors_that_are_not_the_scorers_end_the_run() -> None:
    with pytest.raises(KeyError):
        caller(ScriptedReward(KeyError("a bug"))).score(PICTURES, PROMPTS)
    with pytest.raises(TimeoutError, match="inside"):
        caller(ScriptedReward(TimeoutError("inside the scorer"))).score(PICTURES, PROMPTS)


@pytest.mark.parametrize("fields", [{"watched": True}, {"required": False}])
def test_where_scores_may_be_missing_a_bug_costs_these_scores_and_not_the_run(
    fields: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    reward = ScriptedReward(KeyError("a bug"), [1, 2, 3])
    broken = caller(reward, **fields)
    with caplog.at_level(logging.WARNING, logger="worker"):
        outcome = broken.score(PICTURES, PROMPTS)
    assert outcome.result.errors == ("KeyError: 'a bug'",) * 3
    assert outcome.num_retries == 0
    assert "reward `a` broke" in caplog.text and "Traceback" in caplog.text
    assert broken.score(PICTURES, PROMPTS).result.scores == (1, 2, 3)


@pytest.mark.parametrize("num_scores", [0, 2, 4])
def test_a_scorer_with_too_few_or_too_many_scores_gives_none_to_the_wrong_sample(num_scores: int) -> None:
    with pytest.raises(ValueError, match=f"one for each of 3 samples, got {num_scores}"):
        caller(ScriptedReward([0.5] * num_scores)).score(PICTURES, PROMPTS)


def test_scores_that_come_in_while_the_time_runs_out_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late the caller's thread wakes: a call that is done has its scores."""
    done = threading.Event()

    def scores() -> RewardResult:
        done.set()
        return RewardResult((1.0, 2.0, 3.0), (None,) * 3)

    def late(calls: Any, timeout: float) -> Any:
        assert done.wait(20)
        return concurrent.futures.wait(calls)

    monkeypatch.setattr(reward_caller, "wait", late)
    assert caller(ScriptedReward(scores), timeout_seconds=1e-3).score(PICTURES, PROMPTS).result.scores == (
        1.0,
        2.0,
        3.0,
    )


@settings(max_examples=60)
@given(data=st.data(), num_samples=st.integers(0, 6), num_retries=st.integers(0, 3))
def test_whatever_a_scorer_answers_each_sample_has_its_first_score_or_its_last_error(
    data: st.DataObject, num_samples: int, num_retries: int
) -> None:
    """Played against a table of what each sample gets at each try."""
    plan = [
        [data.draw(st.sampled_from(["score", "error", "busy"])) for _ in range(num_retries + 1)]
        for _ in range(num_samples)
    ]
    tries = [0] * num_samples

    class Moody:
        name = "moody"

        def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
            places = [int(prompt) for prompt in prompts]
            said = [plan[place][tries[place]] for place in places]
            for place in places:
                tries[place] += 1
            return RewardResult(
                tuple(float(place) if word == "score" else None for place, word in zip(places, said, strict=True)),
                tuple(None if word == "score" else f"{word} {tries[p]}" for p, word in zip(places, said, strict=True)),
                frozenset(place for place, word in enumerate(said) if word == "busy"),
            )

    pictures = np.zeros((num_samples, 4, 4, 3), dtype=np.uint8)
    outcome = RewardCaller(spec(num_retries=num_retries), Moody(), sleep=lambda seconds: None).score(
        pictures, [str(place) for place in range(num_samples)]
    )
    for place, words in enumerate(plan):
        decided = next((number for number, word in enumerate(words) if word != "busy"), num_retries)
        assert tries[place] == decided + 1
        if words[decided] == "score":
            assert outcome.result.scores[place] == place
        else:
            assert outcome.result.errors[place] == f"{words[decided]} {decided + 1}"
    assert outcome.num_retries == max(tries, default=1) - 1


def test_waits_double_up_to_a_bound_unless_the_scorer_says_how_long() -> None:
    assert [wait_seconds(number, None) for number in range(4)] == [0.5, 1.0, 2.0, 4.0]
    assert wait_seconds(60, None) == MAX_WAIT_SECONDS
    assert wait_seconds(0, 7.0) == 7.0
    assert wait_seconds(0, 1e9) == MAX_WAIT_SECONDS


def test_a_scorer_is_left_alone_for_as_long_as_it_asks() -> None:
    waits: list[float] = []
    reward = ScriptedReward(ScorerUnavailableError("busy", is_transient=True, wait_seconds=7.0), [1, 2, 3])
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

    reward = ScriptedReward(hang)
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
        caller(ScriptedReward([0.1, None, 0.3]), **fields).score(PICTURES, PROMPTS)
    assert ("reward `a` is missing for 1 of 3 samples: broken" in caplog.text) is is_told


def test_retries_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="worker"):
        caller(ScriptedReward(ScorerUnavailableError("busy", is_transient=True), [1, 2, 3])).score(PICTURES, PROMPTS)
    assert "reward `a` failed on 3 of 3 samples, try 2 of 3 follows in 0.5 s: busy" in caplog.text


def test_a_score_that_is_not_finite_is_a_failure() -> None:
    reward = ScriptedReward(lambda: RewardResult.from_array(np.array([0.1, np.nan, np.inf])))
    result = caller(reward).score(PICTURES, PROMPTS).result
    assert result.scores == (0.1, None, None)
    assert len(reward.seen) == 1
