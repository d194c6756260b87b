"""The `ocr` reward with the real RapidOCR, whose models are part of its package."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from rapidocr.utils.output import RapidOCROutput

from worker.contracts.prompts import Prompt, parse_prompts
from worker.contracts.rewards import OcrSettings
from worker.engine.reward.ocr import Ocr, edit_distance, similarity, wanted_text


def written(text: str) -> NDArray[np.uint8]:
    picture = Image.new("RGB", (256, 96), "white")
    ImageDraw.Draw(picture).text((16, 28), text, fill="darkblue", font=ImageFont.load_default(size=32))
    return np.asarray(picture)


def test_the_wanted_text_scores_1_and_other_text_less() -> None:
    pictures = np.stack([written("HELLO WORLD"), written("HELLO"), written("")])
    prompts = ['a sign that says "Hello World"'] * 3
    right, half, nothing = (
        Ocr(OcrSettings(shortest_side=96)).score(pictures, parse_prompts(prompts)).require_complete("ocr")
    )
    assert right == 1.0
    assert half == pytest.approx(0.5)
    assert nothing == 0.0


def test_scores_do_not_depend_on_the_number_of_threads() -> None:
    pictures = np.stack([written(text) for text in ("HELLO", "WORLD", "HELLO WORLD", "")])
    prompts = parse_prompts(['a sign that says "hello world"'] * 4)
    alone, together = (Ocr(OcrSettings(shortest_side=96), num_threads=number) for number in (1, 3))
    assert together.score(pictures, prompts) == alone.score(pictures, prompts)
    assert together._readers.qsize() == 3


def test_a_prompt_without_quoted_text_is_that_samples_error() -> None:
    pictures = np.stack([written("HELLO")] * 2)
    result = Ocr(OcrSettings(shortest_side=96)).score(pictures, [Prompt(text="a sign"), Prompt(text='a sign, "hello"')])
    assert "between double quotes" in str(result.errors[0])
    assert result.scores[1] == 1.0


def test_the_reader_receives_bgr() -> None:
    seen: list[NDArray[np.uint8]] = []

    def read(picture: NDArray[np.uint8]) -> RapidOCROutput:
        seen.append(picture)
        return RapidOCROutput()

    reader = Ocr(OcrSettings(shortest_side=64))
    reader._readers.get()
    reader._readers.put(read)  # type: ignore[arg-type]
    red = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    red[..., 0] = 255
    assert reader.score(red, [Prompt(text='a "word"')]).scores == (0.0,)
    assert seen[0][0, 0].tolist() == [0, 0, 255]


def test_a_picture_that_cannot_be_processed_is_that_samples_error_and_not_zero() -> None:
    reader = Ocr(OcrSettings(shortest_side=64))
    strip = np.zeros((1, 16, 4096, 3), dtype=np.uint8)
    result = reader.score(strip, [Prompt(text='a "word"')])
    assert result.scores == (None,) and "the picture cannot be read: ResizeImgError" in str(result.errors[0])


def test_the_wanted_text_is_all_text_between_double_quotes() -> None:
    assert wanted_text('a cup with "Good Morning" and "Sun" on it') == "goodmorningsun"
    assert wanted_text("a cup with “Tea Time”") == "teatime"
    assert wanted_text("a cup with 'nothing'") == ""


def test_letters_around_the_wanted_text_are_ignored_and_wrong_ones_cost_their_share() -> None:
    assert similarity("open", "wereopennow") == 1.0
    assert similarity("open", "opan") == 0.75
    assert similarity("open", "") == 0.0
    assert similarity("open", "zzzzzzzzzzzzzzzz") == 0.0


@given(st.text(alphabet="abc", max_size=7), st.text(alphabet="abc", max_size=7))
def test_the_edit_distance_is_levenshteins(left: str, right: str) -> None:
    def recursive(one: str, other: str) -> int:
        if not one or not other:
            return len(one) + len(other)
        return min(
            recursive(one[1:], other) + 1,
            recursive(one, other[1:]) + 1,
            recursive(one[1:], other[1:]) + (one[0] != other[0]),
        )

    assert edit_distance(left[:5], right[:5]) == recursive(left[:5], right[:5])
    assert edit_distance(left, right) == edit_distance(right, left)
