"""How many samples are decoded at once: as many as the bound allows, or one that alone exceeds it."""

import math

from hypothesis import given
from hypothesis import strategies as st

from worker.scheduling.core.decoding import MAX_PIXELS_DECODED_TOGETHER, num_decodings

sides = st.integers(1, 256).map(lambda eighths: 8 * eighths)


@given(num_samples=st.integers(1, 64), height=sides, width=sides, num_frames=st.integers(1, 129))
def test_parts_are_as_large_as_the_bound_allows(num_samples: int, height: int, width: int, num_frames: int) -> None:
    pixels = height * width * num_frames
    num_parts = num_decodings(num_samples, height=height, width=width, num_frames=num_frames)
    assert 1 <= num_parts <= num_samples
    largest = math.ceil(num_samples / num_parts)
    assert largest == 1 or largest * pixels <= MAX_PIXELS_DECODED_TOGETHER
    if num_parts > 1:
        one_part_less = math.ceil(num_samples / (num_parts - 1))
        assert one_part_less * pixels > MAX_PIXELS_DECODED_TOGETHER


def test_a_fragment_of_small_clips_goes_at_once_and_clips_of_training_size_go_alone() -> None:
    assert num_decodings(8, height=32, width=32, num_frames=9) == 1
    assert num_decodings(8, height=480, width=832, num_frames=33) == 8
    assert num_decodings(8, height=512, width=512, num_frames=1) == 2
