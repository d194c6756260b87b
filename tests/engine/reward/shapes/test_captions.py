import numpy as np
import pytest

from worker.engine.reward.shapes.captions import (
    COLOURS,
    SHAPES,
    Caption,
    all_captions,
    noisy_caption_indices,
    parse_caption,
)


def test_there_are_eighteen_captions_in_the_order_of_their_indices() -> None:
    captions = all_captions()
    assert len(captions) == 18
    assert [c.colour_index * len(SHAPES) + c.shape_index for c in captions] == list(range(18))


@pytest.mark.parametrize("caption", all_captions())
def test_a_captions_text_is_parsed_as_that_caption(caption: Caption) -> None:
    assert parse_caption(caption.text) == caption
    assert parse_caption(f"A photo of {caption.text.upper()}!") == caption


@pytest.mark.parametrize("prompt", ["", "a red", "a circle", "a red blue circle", "a pink square", "a redcircle"])
def test_a_prompt_without_exactly_one_colour_and_shape_is_refused_with_its_text(prompt: str) -> None:
    with pytest.raises(ValueError, match="exactly one colour") as error:
        parse_caption(prompt)
    assert repr(prompt) in str(error.value)


def test_noisy_captions_are_right_with_the_probability_of_keeping_or_drawing_the_word() -> None:
    rng = np.random.default_rng(0)
    colours, shapes = rng.integers(6, size=40_000), rng.integers(3, size=40_000)
    noisy = noisy_caption_indices(colours, shapes, 0.4, rng)
    assert abs(np.mean(noisy // 3 == colours) - (0.4 + 0.6 / len(COLOURS))) < 0.01
    assert abs(np.mean(noisy % 3 == shapes) - (0.4 + 0.6 / len(SHAPES))) < 0.01


def test_captions_of_reliability_1_are_all_right() -> None:
    colours, shapes = np.array([0, 5, 3]), np.array([2, 0, 1])
    indices = noisy_caption_indices(colours, shapes, 1.0, np.random.default_rng(0))
    assert indices.tolist() == [2, 15, 10]
