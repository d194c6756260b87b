"""The files of samples: pictures without loss, and clips with the right frames, duration and colours."""

import io

import av
import numpy as np
import pytest
from PIL import Image

from worker.engine.telemetry.media import encode_clip, encode_png, encode_poster, is_clip

NUM_FRAMES = 9


@pytest.fixture(scope="module")
def clip() -> np.ndarray:
    """A red square that moves over blue, 32 × 48."""
    frames = np.zeros((NUM_FRAMES, 32, 48, 3), dtype=np.uint8)
    frames[...] = (10, 40, 220)
    for index, frame in enumerate(frames):
        frame[8:24, 4 * index : 4 * index + 16] = (230, 30, 20)
    return frames


def test_a_clip_keeps_its_frames_its_duration_and_its_colours(clip: np.ndarray) -> None:
    with av.open(io.BytesIO(encode_clip(clip, 12)), "r") as container:
        assert container.streams.video[0].codec.name.startswith("vp9")
        assert container.duration == pytest.approx(NUM_FRAMES / 12 * av.time_base, rel=0.01)
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == NUM_FRAMES
    for index, frame in enumerate(frames):
        square = frame[12:20, 4 * index + 4 : 4 * index + 12].reshape(-1, 3).mean(0)
        np.testing.assert_allclose(square, (230, 30, 20), atol=12)


@pytest.mark.parametrize("fps", [1, 7.5, 23.976, 120])
def test_any_frame_rate_is_kept(clip: np.ndarray, fps: float) -> None:
    with av.open(io.BytesIO(encode_clip(clip, fps)), "r") as container:
        assert container.duration == pytest.approx(NUM_FRAMES / fps * av.time_base, rel=0.02)


def test_the_same_clip_gives_the_same_bytes(clip: np.ndarray) -> None:
    assert encode_clip(clip, 8) == encode_clip(clip.copy(), 8)


def test_the_poster_is_the_first_frame_without_loss(clip: np.ndarray) -> None:
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(encode_poster(clip)))), clip[0])
    assert encode_poster(clip) == encode_png(clip[0])


def test_clips_and_pictures_are_distinguished(clip: np.ndarray) -> None:
    assert is_clip(clip) and not is_clip(clip[0])


def test_an_odd_size_is_refused(clip: np.ndarray) -> None:
    with pytest.raises(ValueError, match="even height and width, got 31 × 48"):
        encode_clip(clip[:, 1:], 8)
