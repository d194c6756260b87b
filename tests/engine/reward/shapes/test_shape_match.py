import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from worker.contracts.prompts import Prompt, parse_prompts
from worker.engine.reward.shapes.captions import COLOURS, SHAPES, Caption, all_captions
from worker.engine.reward.shapes.drawing import (
    BACKGROUND_RGB,
    COLOUR_RGB,
    MAX_RADIUS,
    MIN_RADIUS,
    ByteArray,
    Placement,
    centre_range,
    draw,
    half_extents,
    paint,
    random_placement,
)
from worker.engine.reward.shapes.shape_match import ShapeMatch

captions = st.sampled_from(all_captions())
radii = st.floats(MIN_RADIUS, MAX_RADIUS)
unit = st.floats(0, 1)
REWARD = ShapeMatch()


def score(picture: ByteArray, caption: Caption) -> float:
    (only,) = REWARD.score(picture[None], [Prompt(text=caption.text)]).require_complete("shape_match")
    return only


def placement_at(shape: str, radius: float, across: float, down: float) -> Placement:
    """A placement at these shares, 0 to 1, of the ranges of its centre."""
    half_width, half_height = half_extents(shape, radius)
    left, right = centre_range(half_width)
    top, bottom = centre_range(half_height)
    return Placement(left + across * (right - left), top + down * (bottom - top), radius)


def average_score(pictures: list[ByteArray], caption: Caption) -> float:
    result = REWARD.score(np.stack(pictures), [Prompt(text=caption.text)] * len(pictures))
    return float(np.mean(result.require_complete("shape_match")))


@settings(max_examples=300, deadline=None)
@given(captions, radii, unit, unit)
def test_a_drawn_shape_of_any_size_at_any_position_scores_above_085(
    caption: Caption, radius: float, across: float, down: float
) -> None:
    assert score(draw(caption, placement_at(caption.shape, radius, across, down)), caption) > 0.85


@settings(deadline=None)
@given(captions, radii, unit, unit, st.sampled_from(COLOURS))
def test_a_wrong_colour_scores_near_zero(
    caption: Caption, radius: float, across: float, down: float, colour: str
) -> None:
    picture = draw(caption, placement_at(caption.shape, radius, across, down))
    if colour != caption.colour:
        assert score(picture, Caption(colour, caption.shape)) < 0.05


@settings(deadline=None)
@given(captions, radii, unit, unit, st.sampled_from(SHAPES))
def test_a_wrong_shape_scores_near_zero(
    caption: Caption, radius: float, across: float, down: float, shape: str
) -> None:
    picture = draw(caption, placement_at(caption.shape, radius, across, down))
    if shape != caption.shape:
        assert score(picture, Caption(caption.colour, shape)) < 0.05


@settings(deadline=None)
@given(captions, unit, unit)
def test_a_little_blur_lowers_the_score_little(caption: Caption, across: float, down: float) -> None:
    picture = draw(caption, placement_at(caption.shape, 9.0, across, down))
    soft = np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(0.5)))
    assert score(soft, caption) > 0.8


@pytest.mark.parametrize("caption", all_captions())
def test_blur_lowers_the_score_steadily(caption: Caption) -> None:
    picture = Image.fromarray(draw(caption, Placement(16.0, 16.0, 8.0)))
    scores = [score(np.asarray(picture.filter(ImageFilter.GaussianBlur(r))), caption) for r in (0.5, 2.0, 4.0, 8.0)]
    assert scores[0] > scores[1] > scores[2] >= scores[3]
    assert scores[2] < 0.25
    assert scores[3] == 0.0


@pytest.mark.parametrize("caption", all_captions())
def test_an_empty_picture_and_a_flat_one_score_zero(caption: Caption) -> None:
    for colour in (BACKGROUND_RGB, COLOUR_RGB[caption.colour], (0, 0, 0), (255, 255, 255)):
        flat = np.full((32, 32, 3), colour, dtype=np.uint8)
        assert score(flat, caption) == 0.0


@pytest.mark.parametrize("caption", all_captions())
@pytest.mark.parametrize("radius", [2.0, 3.5, 5.0, 14.0, 16.0, 20.0])
def test_shapes_that_are_too_small_or_too_large_score_near_zero(caption: Caption, radius: float) -> None:
    assert score(draw(caption, Placement(16.0, 16.0, radius)), caption) < 0.05


def ragged_blob(caption: Caption, radius: float, rng: np.random.Generator) -> ByteArray:
    y, x = np.mgrid[0:32, 0:32] + 0.5
    angle = np.arctan2(y - 16, x - 16)
    outline = np.ones_like(angle)
    for frequency in range(2, 7):
        outline += rng.normal(0, 0.18) * np.cos(frequency * angle + rng.uniform(0, 2 * np.pi))
    mask = np.clip(radius * outline - np.hypot(y - 16, x - 16) + 0.5, 0, 1).astype(np.float32)
    return paint(mask, COLOUR_RGB[caption.colour])


@pytest.mark.parametrize("radius", [7.0, 10.0, 13.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_ragged_blobs_in_the_right_colour_score_low(shape: str, radius: float) -> None:
    rng = np.random.default_rng(3)
    caption = Caption("blue", shape)
    assert average_score([ragged_blob(caption, radius, rng) for _ in range(60)], caption) < 0.2


@pytest.mark.parametrize("caption", all_captions())
def test_two_shapes_in_one_picture_score_near_zero(caption: Caption) -> None:
    left = draw(caption, Placement(9.0, 9.0, 6.0))
    right = draw(caption, Placement(23.0, 23.0, 6.0))
    assert score(np.minimum(left, right), caption) < 0.1


@pytest.mark.parametrize("caption", all_captions())
def test_a_tiled_picture_scores_zero(caption: Caption) -> None:
    tile = draw(caption, Placement(16.0, 16.0, 11.0))[2:30:2, 2:30:2]
    tiled = np.tile(tile, (3, 3, 1))[:32, :32]
    assert score(tiled, caption) == 0.0


@settings(deadline=None)
@given(captions, st.integers(0, 1000))
def test_a_shape_with_a_second_colour_scores_low(caption: Caption, seed: int) -> None:
    rng = np.random.default_rng(seed)
    placement = random_placement(caption.shape, rng)
    clean = draw(caption, placement)
    half = clean.copy()
    other = COLOURS[(caption.colour_index + 1) % len(COLOURS)]
    half[:, 16:] = draw(Caption(other, caption.shape), placement)[:, 16:]
    share_wrong = np.mean(np.any(half != clean, axis=2)) * 1024 / (np.pi * placement.radius**2)
    if 0.3 < share_wrong < 0.95:
        assert score(half, caption) < 0.55


def test_noise_scores_zero() -> None:
    noise = np.random.default_rng(0).integers(0, 256, size=(18, 32, 32, 3), dtype=np.uint8)
    result = REWARD.score(noise, parse_prompts([caption.text for caption in all_captions()]))
    assert max(result.require_complete("shape_match")) == 0.0


def test_a_batch_scores_as_its_pictures_do_one_by_one() -> None:
    rng = np.random.default_rng(1)
    targets = all_captions()
    pictures = [draw(caption, random_placement(caption.shape, rng)) for caption in reversed(targets)]
    together = REWARD.score(np.stack(pictures), parse_prompts([c.text for c in targets])).require_complete(
        "shape_match"
    )
    alone = [score(picture, caption) for picture, caption in zip(pictures, targets, strict=True)]
    assert together == pytest.approx(alone, abs=1e-5)


def test_a_prompt_that_names_no_shape_is_an_error_of_that_sample_alone() -> None:
    caption = Caption("red", "circle")
    picture = draw(caption, Placement(16.0, 16.0, 8.0))
    result = REWARD.score(np.stack([picture, picture]), [Prompt(text="a photo of a cat"), Prompt(text=caption.text)])
    assert result.scores[0] is None
    assert "exactly one colour" in str(result.errors[0])
    assert result.scores[1] is not None
    assert result.scores[1] > 0.85


def test_another_resolution_is_refused() -> None:
    with pytest.raises(ValueError, match="32x32"):
        REWARD.score(np.zeros((1, 64, 64, 3), dtype=np.uint8), parse_prompts(["a red circle"]))
