"""Several rewards together: the weighted sum of the trained ones, and every part beside it."""

import threading

import numpy as np
import pytest

from tests.engine.reward.scripted_reward import PICTURES, PROMPTS, ScriptedReward, caller
from worker.contracts.names import RewardName
from worker.contracts.rewards import RewardSpec
from worker.engine.reward.base import RewardResult, ScorerUnavailableError
from worker.engine.reward.mixing import MixedReward


def test_the_total_is_the_weighted_sum_and_the_parts_are_kept() -> None:
    mixed = MixedReward(
        [caller(ScriptedReward([1, 2, 3]), "a", weight=2.0), caller(ScriptedReward([10, 20, 30]), "b", weight=0.5)]
    )
    result = mixed.score(PICTURES, PROMPTS)
    assert result.total.scores == (7.0, 14.0, 21.0)
    assert result.parts["a"].scores == (1, 2, 3)
    assert result.parts["b"].scores == (10, 20, 30)


def test_a_watched_reward_is_kept_but_never_enters_the_total() -> None:
    watched = caller(ScriptedReward([100, None, 100]), "seen", weight=5.0, watched=True)
    result = MixedReward([caller(ScriptedReward([1, 2, 3])), watched]).score(PICTURES, PROMPTS)
    assert result.total.scores == (1.0, 2.0, 3.0)
    assert result.parts["seen"].errors == (None, "broken", None)


@pytest.mark.parametrize("required", [True, False])
def test_a_failed_trained_part_makes_the_total_of_that_sample_an_error(required: bool) -> None:
    mixed = MixedReward(
        [caller(ScriptedReward([1, None, 3]), "a", required=required), caller(ScriptedReward([1, 1, 1]), "b")]
    )
    result = mixed.score(PICTURES, PROMPTS)
    assert result.total.scores == (2.0, None, 4.0)
    assert result.total.errors == (None, "a: broken", None)


def test_retries_are_counted_by_reward() -> None:
    flaky = ScriptedReward(ScorerUnavailableError("busy", is_transient=True), [1, 1, 1])
    result = MixedReward([caller(flaky, "flaky"), caller(ScriptedReward([1, 1, 1]), "steady")]).score(PICTURES, PROMPTS)
    assert result.num_retries == {"flaky": 1, "steady": 0}


def test_rewards_are_called_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=20)

    def meet() -> RewardResult:
        both.wait()
        return RewardResult((1.0, 1.0, 1.0), (None, None, None))

    result = MixedReward([caller(ScriptedReward(meet), "a"), caller(ScriptedReward(meet), "b")]).score(
        PICTURES, PROMPTS
    )
    assert result.total.scores == (2.0, 2.0, 2.0)


def test_a_mix_of_watched_rewards_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="not watched"):
        MixedReward([caller(ScriptedReward([1]), watched=True)])


def test_one_key_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="each reward once"):
        MixedReward([caller(ScriptedReward([1])), caller(ScriptedReward([1]))])


def test_specs_become_scorers_with_their_weights() -> None:
    mixed = MixedReward.from_specs(
        [RewardSpec(name=RewardName.COLORFULNESS, weight=2.0), RewardSpec(name=RewardName.SHAPE_MATCH, watched=True)]
    )
    vivid = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    vivid[:, :, :16] = (255, 0, 0)
    vivid[:, :, 16:] = (0, 0, 255)
    result = mixed.score(vivid, ["a red circle"])
    assert set(result.parts) == {"colorfulness", "shape_match"}
    assert result.total.require_complete("total")[0] == pytest.approx(
        2.0 * result.parts["colorfulness"].require_complete("colorfulness")[0]
    )
