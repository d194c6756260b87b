"""How rewards made for single pictures judge clips: the mean over evenly spaced frames.

The rule: of a clip's F frames `NUM_JUDGED_FRAMES` are judged, or all where there are no more; the first and the last
are always among them, the others lie evenly between. The clip's score is their mean. One frame that cannot be scored
makes the whole clip an error: a mean over the rest would be another measure. A reward that judges motion says so with
`judges_clips` and gets the whole clips.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.engine.reward.base import Reward, RewardResult

NUM_JUDGED_FRAMES = 8


def score_samples(reward: Reward, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
    """Score pictures (N, H, W, 3) or clips (N, F, H, W, 3), uint8, for their prompts (N).

    Raises:
        ValueError: when the arrays do not fit each other, or the results do not fit the samples.
    """
    if images.ndim != 5 or getattr(reward, "judges_clips", False):
        return _complete(reward.score(images, prompts), reward, len(prompts))
    if len(images) != len(prompts):
        raise ValueError(f"`prompts` must be one per clip ({len(images)}), got {len(prompts)}")
    judged = images[:, judged_frames(images.shape[1])]
    num_clips, num_frames = judged.shape[:2]
    of_frames = reward.score(
        judged.reshape(num_clips * num_frames, *judged.shape[2:]),
        [prompt for prompt in prompts for _ in range(num_frames)],
    )
    return _fold(_complete(of_frames, reward, num_clips * num_frames), num_clips, num_frames)


def judged_frames(num_frames: int) -> list[int]:
    """Which of `num_frames` frames stand for the clip, ascending."""
    if num_frames < 1:
        raise ValueError(f"a clip must have ≥ 1 frames, got {num_frames}")
    return np.linspace(0, num_frames - 1, min(num_frames, NUM_JUDGED_FRAMES)).round().astype(int).tolist()


def _complete(result: RewardResult, reward: Reward, num_samples: int) -> RewardResult:
    """`result`, when it is one for each sample: with fewer or more of them, scores would go to the wrong samples."""
    if len(result.scores) != num_samples:
        raise ValueError(
            f"`scores` of `{reward.name}` must be one for each of {num_samples} samples, got {len(result.scores)}"
        )
    return result


def _fold(of_frames: RewardResult, num_clips: int, num_frames: int) -> RewardResult:
    """Results of single frames, clip by clip, as one result for each clip."""
    scores, errors = np.zeros(num_clips), list[str | None]([None] * num_clips)
    for clip in range(num_clips):
        own = slice(clip * num_frames, (clip + 1) * num_frames)
        errors[clip] = next((error for error in of_frames.errors[own] if error is not None), None)
        if errors[clip] is None:
            scores[clip] = np.mean([score for score in of_frames.scores[own] if score is not None])
    return RewardResult.from_array(scores, errors)
