import numpy as np
import pytest
from numpy.typing import NDArray

from worker.contracts.prompts import parse_prompts
from worker.engine.reward.motion_smoothness import MotionSmoothness


def disc_clip(positions: list[int]) -> NDArray[np.uint8]:
    """A clip with one frame for each position: a soft bright disc at that column, over a soft pattern."""
    rows, columns = np.mgrid[0:48, 0:96].astype(np.float32)
    frames = []
    for position in positions:
        disc = 200 * np.exp(-((rows - 24) ** 2 + (columns - position) ** 2) / 60)
        frames.append(np.stack([disc + 20, disc * 0.5 + 30, 40 + 10 * np.sin(rows / 5)], axis=2))
    return np.clip(np.stack(frames), 0, 255).astype(np.uint8)


def score(*clips: NDArray[np.uint8]) -> list[float]:
    return list(
        MotionSmoothness()
        .score(np.stack(clips), parse_prompts(["any"]) * len(clips))
        .require_complete("motion_smoothness")
    )


def test_steady_motion_scores_above_jumps_and_jumps_above_noise() -> None:
    steady = disc_clip([20, 24, 28, 32, 36])
    jumping = disc_clip([20, 60, 24, 64, 28])
    noise = np.random.default_rng(0).integers(0, 256, size=steady.shape, dtype=np.uint8)
    smooth, jumps, random = score(steady, jumping, noise)
    assert smooth > 0.99
    assert smooth > jumps > random


def test_interpolation_compensates_motion_instead_of_averaging_frames() -> None:
    clip = disc_clip([20, 28, 36])
    blended = 1 - np.abs(clip[1] - (clip[0].astype(float) + clip[2]) / 2).mean() / 255
    assert score(clip)[0] > blended + 0.5 * (1 - blended)


def test_a_still_clip_scores_1() -> None:
    assert score(disc_clip([30, 30, 30, 30])) == [pytest.approx(1.0, abs=1e-6)]


@pytest.mark.parametrize("shape", [(2, 48, 48, 3), (2, 2, 48, 48, 3)])
def test_pictures_and_clips_that_are_too_short_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="num_frames"):
        MotionSmoothness().score(np.zeros(shape, dtype=np.uint8), parse_prompts(["any", "any"]))
