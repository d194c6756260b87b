"""Scores clips with rewards that are made for pictures: the mean over evenly spaced frames.

The rule: of a clip's frames `NUM_JUDGED_FRAMES` are scored, or all where there are no more. The first and the last are
always among them, the others lie evenly between. The clip's score is their mean. One frame that cannot be scored makes
the whole clip an error, since a mean over the other frames would be another measure. A reward for clips, such as one of
motion, has an attribute `judges_clips` that is true, and receives whole clips.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.engine.reward.base import Reward, RewardResult

NUM_JUDGED_FRAMES = 8
"""Frames scored per clip: enough to see what happens in a clip of seconds, at a fraction of the cost of all."""


def score_samples(reward: Reward, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
    """Score pictures (N, H, W, 3) or clips (N, F, H, W, 3), uint8, for their prompts (N).

    Raises:
        ValueError: when pictures, prompts and results differ in number.
    """
    if images.ndim != 5 or getattr(reward, "judges_clips", False):
        return _complete(reward.score(images, prompts), reward, len(prompts))
    if len(images) != len(prompts):
        raise ValueError(f"`prompts` must be one per clip ({len(images)}), got {len(prompts)}")
    judged = images[:, judged_frames(images.shape[1])]
    num_clips, num_frames = judged.shape[:2]
    frame_scores = reward.score(
        judged.reshape(num_clips * num_frames, *judged.shape[2:]),
        [prompt for prompt in prompts for _ in range(num_frames)],
    )
    return _mean_over_frames(_complete(frame_scores, reward, num_clips * num_frames), num_clips, num_frames)


def judged_frames(num_frames: int) -> list[int]:
    """The ascending indices of the frames that are scored, of a clip of `num_frames`."""
    if num_frames < 1:
        raise ValueError(f"a clip must have ≥ 1 frames, got {num_frames}")
    return np.linspace(0, num_frames - 1, min(num_frames, NUM_JUDGED_FRAMES)).round().astype(int).tolist()


def _complete(result: RewardResult, reward: Reward, num_samples: int) -> RewardResult:
    """`result`, once checked: with fewer or more entries than samples, scores would go to the wrong samples."""
    if len(result.scores) != num_samples:
        raise ValueError(
            f"`scores` of `{reward.name}` must be one for each of {num_samples} samples, got {len(result.scores)}"
        )
    return result


def _mean_over_frames(frame_scores: RewardResult, num_clips: int, num_frames: int) -> RewardResult:
    """One score or error for each clip, from those of its frames, which are given clip by clip."""
    scores, errors = np.zeros(num_clips), list[str | None]([None] * num_clips)
    for clip in range(num_clips):
        frames = slice(clip * num_frames, (clip + 1) * num_frames)
        errors[clip] = next((error for error in frame_scores.errors[frames] if error is not None), None)
        if errors[clip] is None:
            scores[clip] = np.mean([score for score in frame_scores.scores[frames] if score is not None])
    return RewardResult.from_array(scores, errors)
