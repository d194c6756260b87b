"""The contract of every registered reward: one finite score or one error for each sample, whatever the picture."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt, parse_prompts
from worker.contracts.reward_traits import REWARD_TRAITS
from worker.contracts.rewards import SETTINGS_OF, OcrSettings, RewardSpec
from worker.contracts.scorer_access import NO_ACCESS
from worker.engine.reward.base import Reward, RewardError, RewardResult
from worker.engine.reward.registry import REWARDS, build_reward

PICTURE_REWARDS_WITHOUT_WEIGHTS = sorted(
    set(RewardName) - (set(SETTINGS_OF) - {RewardName.OCR}) - {RewardName.MOTION_SMOOTHNESS}
)
BUILT: dict[RewardName, Reward] = {
    name: build_reward(
        RewardSpec(name=name, settings=OcrSettings(shortest_side=64) if name is RewardName.OCR else None), NO_ACCESS
    )
    for name in PICTURE_REWARDS_WITHOUT_WEIGHTS
}
every_reward = pytest.mark.parametrize("name", PICTURE_REWARDS_WITHOUT_WEIGHTS)


def prompt_for(name: RewardName) -> str:
    """A prompt that the reward can score."""
    return 'a red circle, with the words "red circle"' if name is RewardName.OCR else "a red circle"


def test_the_registry_holds_exactly_the_names_of_the_contracts() -> None:
    assert set(REWARDS) == set(RewardName)


@every_reward
def test_a_reward_carries_its_registry_name(name: RewardName) -> None:
    assert BUILT[name].name == name.value


@every_reward
def test_scores_of_arbitrary_pictures_are_finite_and_in_the_range_that_is_told(name: RewardName) -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, size=(6, 32, 32, 3), dtype=np.uint8)
    flat = np.stack([np.full((32, 32, 3), level, dtype=np.uint8) for level in (0, 128, 240, 255)])
    pictures = np.concatenate([noise, flat])
    scores = BUILT[name].score(pictures, [Prompt(text=prompt_for(name))] * len(pictures)).require_complete(name)
    assert len(scores) == len(pictures)
    lowest, highest = REWARD_TRAITS[name].lowest, REWARD_TRAITS[name].highest
    assert lowest is not None
    assert highest is not None
    assert all(lowest <= score <= highest for score in scores)


@every_reward
def test_an_empty_batch_has_no_scores(name: RewardName) -> None:
    assert BUILT[name].score(np.zeros((0, 32, 32, 3), dtype=np.uint8), []).scores == ()


@every_reward
def test_arrays_of_another_number_or_dtype_are_refused(name: RewardName) -> None:
    pictures = np.zeros((2, 32, 32, 3), dtype=np.uint8)
    with pytest.raises(ValueError, match="one per image"):
        BUILT[name].score(pictures, parse_prompts(["a red circle"]))
    with pytest.raises(ValueError, match="uint8"):
        BUILT[name].score(pictures.astype(np.float32), parse_prompts(["a red circle"]) * 2)


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=20))
def test_a_score_that_is_not_finite_becomes_an_error_and_never_a_number(values: list[float]) -> None:
    result = RewardResult.from_array(np.array(values, dtype=np.float64))
    for value, score, error in zip(values, result.scores, result.errors, strict=True):
        assert (
            (score == value and error is None) if np.isfinite(value) else (score is None and "not finite" in str(error))
        )


def test_a_result_with_neither_score_nor_error_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="either a score or an error"):
        RewardResult((None,), (None,))
    with pytest.raises(ValueError, match="either a score or an error"):
        RewardResult((1.0,), ("late",))
    with pytest.raises(ValueError, match="must be finite"):
        RewardResult((float("nan"),), (None,))
    with pytest.raises(ValueError, match="failed samples only"):
        RewardResult((1.0,), (None,), frozenset({0}))


def test_a_failed_sample_that_training_needs_raises_with_the_first_reason() -> None:
    result = RewardResult((1.0, None, None), (None, "no shape named", "out of memory"))
    with pytest.raises(RewardError, match="'judge' failed on 2 of 3 samples; sample 1: no shape named"):
        result.require_complete("judge")
