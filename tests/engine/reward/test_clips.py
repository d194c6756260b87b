"""Rewards for pictures score clips by the mean over evenly spaced frames."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt, parse_prompts
from worker.contracts.rewards import RewardSpec
from worker.engine.reward.base import RewardResult
from worker.engine.reward.clip_frames import NUM_JUDGED_FRAMES, judged_frames, score_samples
from worker.engine.reward.colorfulness import Colorfulness
from worker.engine.reward.mixing import MixedReward

CLIPS = np.random.default_rng(0).integers(0, 256, size=(3, 5, 16, 16, 3), dtype=np.uint8)
PROMPTS = ["a", "b", "c"]


class BrightFrames:
    """A reward: the mean brightness of each picture; a black one cannot be scored."""

    name = "bright_frames"

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        values = images.mean(axis=(1, 2, 3))
        return RewardResult.from_array(values, [None if value else "black" for value in values])


class NumFrames:
    """A reward for clips: their number of frames."""

    name = "num_frames"
    judges_clips = True

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        return RewardResult.from_array(np.full(len(images), float(images.shape[1])))


def test_a_clips_score_is_the_mean_over_its_frames() -> None:
    expected = [np.mean(Colorfulness().score(clip, parse_prompts(["x"]) * 5).require_complete("x")) for clip in CLIPS]
    scores = score_samples(Colorfulness(), CLIPS, parse_prompts(PROMPTS)).require_complete("x")
    np.testing.assert_allclose(scores, expected)


def test_long_clips_are_scored_by_evenly_spaced_frames_with_first_and_last() -> None:
    assert judged_frames(1) == [0]
    assert judged_frames(5) == [0, 1, 2, 3, 4]
    assert judged_frames(15) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert len(judged_frames(129)) == NUM_JUDGED_FRAMES and judged_frames(129)[-1] == 128


def test_a_frame_that_cannot_be_scored_makes_its_clip_an_error_and_no_other() -> None:
    clips = CLIPS.copy()
    clips[1, 2] = 0
    result = score_samples(BrightFrames(), clips, parse_prompts(PROMPTS))
    assert result.errors == (None, "black", None)
    assert result.scores[1] is None


def test_pictures_are_scored_as_they_are() -> None:
    pictures = CLIPS[:, 0]
    assert score_samples(Colorfulness(), pictures, parse_prompts(PROMPTS)) == Colorfulness().score(
        pictures, parse_prompts(PROMPTS)
    )


def test_a_reward_for_clips_receives_whole_clips() -> None:
    assert score_samples(NumFrames(), CLIPS, parse_prompts(PROMPTS)).scores == (5.0, 5.0, 5.0)


def test_clips_without_a_prompt_each_are_refused() -> None:
    with pytest.raises(ValueError, match="one per clip"):
        score_samples(Colorfulness(), CLIPS, parse_prompts(["a"]))


def test_mixed_rewards_take_clips() -> None:
    mixed = MixedReward.from_specs([RewardSpec(name=RewardName.COLORFULNESS, weight=2.0)])
    total = mixed.score(CLIPS, parse_prompts(PROMPTS)).total.require_complete("total")
    np.testing.assert_allclose(
        total, 2 * np.array(score_samples(Colorfulness(), CLIPS, parse_prompts(PROMPTS)).scores, dtype=float)
    )


def test_a_scorer_that_returns_too_few_frame_scores_is_refused() -> None:
    class TooFewScores(BrightFrames):
        def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
            return super().score(images[:-1], prompts[:-1])

    with pytest.raises(ValueError, match="one for each of 15 samples, got 14"):
        score_samples(TooFewScores(), CLIPS, parse_prompts(PROMPTS))
