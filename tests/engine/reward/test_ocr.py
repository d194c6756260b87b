"""Text in pictures: read by the real reader, whose models come with its package."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from rapidocr.utils.output import RapidOCROutput

from worker.contracts.rewards import OcrSettings
from worker.engine.reward.ocr import Ocr, edit_distance, similarity, wanted_text


def written(text: str) -> NDArray[np.uint8]:
    picture = Image.new("RGB", (256, 96), "white")
    ImageDraw.Draw(picture).text((16, 28), text, fill="darkblue", font=ImageFont.load_default(size=32))
    return np.asarray(picture)


def test_text_that_is_there_scores_1_and_other_text_less() -> None:
    pictures = np.stack([written("HELLO WORLD"), written("HELLO"), written("")])
    prompts = ['a sign that says "Hello World"'] * 3
    right, half, nothing = Ocr(OcrSettings(shortest_side=96)).score(pictures, prompts).require_complete("ocr")
    assert right == 1.0
    assert half == pytest.approx(0.5)
    assert nothing == 0.0


def test_a_prompt_that_wants_no_text_is_that_samples_error() -> None:
    pictures = np.stack([written("HELLO")] * 2)
    result = Ocr(OcrSettings(shortest_side=96)).score(pictures, ["a sign", 'a sign, "hello"'])
    assert "between double quotes" in str(result.errors[0])
    assert result.scores[1] == 1.0


def test_the_reader_gets_blue_first_as_opencv_has_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[NDArray[np.uint8]] = []

    def read(picture: NDArray[np.uint8]) -> RapidOCROutput:
        seen.append(picture)
        return RapidOCROutput()

    reader = Ocr(OcrSettings(shortest_side=64))
    monkeypatch.setattr(reader, "_reader", read)
    red = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    red[..., 0] = 255
    assert reader.score(red, ['a "word"']).scores == (0.0,)
    assert seen[0][0, 0].tolist() == [0, 0, 255]


def test_a_picture_that_the_reader_cannot_take_is_that_samples_error_and_no_zero() -> None:
    reader = Ocr(OcrSettings(shortest_side=64))
    strip = np.zeros((1, 16, 4096, 3), dtype=np.uint8)
    result = reader.score(strip, ['a "word"'])
    assert result.scores == (None,) and "the picture cannot be read: ResizeImgError" in str(result.errors[0])


def test_the_wanted_text_is_what_stands_between_quotes() -> None:
    assert wanted_text('a cup with "Good Morning" and "Sun" on it') == "goodmorningsun"
    assert wanted_text("a cup with “Tea Time”") == "teatime"
    assert wanted_text("a cup with 'nothing'") == ""


def test_letters_around_the_wanted_text_cost_nothing_and_wrong_ones_their_share() -> None:
    assert similarity("open", "wereopennow") == 1.0
    assert similarity("open", "opan") == 0.75
    assert similarity("open", "") == 0.0
    assert similarity("open", "zzzzzzzzzzzzzzzz") == 0.0


@given(st.text(alphabet="abc", max_size=7), st.text(alphabet="abc", max_size=7))
def test_the_edit_distance_is_levenshteins(left: str, right: str) -> None:
    def plain(one: str, other: str) -> int:
        if not one or not other:
            return len(one) + len(other)
        return min(
            plain(one[1:], other) + 1, plain(one, other[1:]) + 1, plain(one[1:], other[1:]) + (one[0] != other[0])
        )

    assert edit_distance(left[:5], right[:5]) == plain(left[:5], right[:5])
    assert edit_distance(left, right) == edit_distance(right, left)
