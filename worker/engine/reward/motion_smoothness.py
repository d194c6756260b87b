"""`motion_smoothness`: how well each frame of a clip is interpolated from its neighbours.

score = 1 − mean |frame − interpolated| / 255 over every other frame, interpolated from the frame before and the one
after: VBench's measure (Huang et al., arXiv 2311.17982, "motion smoothness"), with motion-compensated interpolation by
dense optical flow (DIS: Kroeger et al., ECCV 2016) in place of VBench's network.

A still clip scores 1, so this reward should be watched beside one for motion, not trained on alone.
"""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import MIN_MOTION_FRAMES
from worker.engine.reward.base import RewardResult
from worker.engine.reward.cancellation import uncancelled


class MotionSmoothness:
    """The reward."""

    name = RewardName.MOTION_SMOOTHNESS.value
    judges_clips = True

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 clips (N, F, H, W, 3); prompts are ignored.

        Raises:
            ValueError: for arrays that are not clips of ≥ `MIN_MOTION_FRAMES` frames, or another number of prompts.
        """
        if images.ndim != 5 or images.shape[4] != 3 or images.dtype != np.uint8 or images.shape[1] < MIN_MOTION_FRAMES:
            raise ValueError(
                f"`images` must be uint8 clips of (N, F ≥ {MIN_MOTION_FRAMES}, H, W, 3) for motion_smoothness, got "
                f"{images.dtype} of {images.shape}: set `sampling.num_frames`, or choose a reward for pictures"
            )
        if len(images) != len(prompts):
            raise ValueError(f"`prompts` must be one per clip ({len(images)}), got {len(prompts)}")
        return RewardResult.from_array(np.array([_smoothness(clip) for clip in uncancelled(images)], dtype=np.float64))


def _smoothness(clip: NDArray[np.uint8]) -> float:
    """The score of one clip (F, H, W, 3)."""
    errors = [
        np.abs(clip[index].astype(np.float32) - _interpolated(clip[index - 1], clip[index + 1])).mean()
        for index in range(1, len(clip) - 1, 2)
    ]
    return 1.0 - float(np.mean(errors)) / 255.0


def _interpolated(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The frame halfway between two (H, W, 3): the mean of both, each warped by half of the flow towards the other."""
    warped = [_warped(before, 0.5 * _flow(after, before)), _warped(after, 0.5 * _flow(before, after))]
    return np.mean(warped, axis=0, dtype=np.float32)


def _flow(origin: NDArray[np.uint8], target: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The optical flow (H, W, 2) from `origin` to `target`, in pixels."""
    grey = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (origin, target)]
    flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM).calc(grey[0], grey[1], np.zeros(0))
    return np.asarray(flow, dtype=np.float32)


def _warped(frame: NDArray[np.uint8], offsets: NDArray[np.float32]) -> NDArray[np.float32]:
    """`frame` (H, W, 3) sampled at each pixel's position plus its offset; bilinear, edges repeated."""
    height, width = frame.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    sampled = cv2.remap(
        frame.astype(np.float32),
        columns + offsets[..., 0],
        rows + offsets[..., 1],
        interpolation=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(sampled, dtype=np.float32)
