import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.engine.reward.shapes.captions import SHAPES, Caption
from worker.engine.reward.shapes.drawing import (
    BACKGROUND_RGB,
    COLOUR_RGB,
    MAX_RADIUS,
    MIN_RADIUS,
    Placement,
    draw,
    random_drawing,
    random_placement,
    shape_mask,
)


@settings(deadline=None)
@given(st.sampled_from(SHAPES), st.floats(MIN_RADIUS, MAX_RADIUS))
def test_all_shapes_of_one_radius_have_about_the_area_of_that_circle(shape: str, radius: float) -> None:
    area = float(shape_mask(shape, Placement(16.0, 16.0, radius)).sum())
    assert area == pytest.approx(np.pi * radius**2, rel=0.06)


@settings(deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 10_000))
def test_a_random_shape_lies_completely_inside_the_picture(shape: str, seed: int) -> None:
    mask = shape_mask(shape, random_placement(shape, np.random.default_rng(seed)))
    border = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
    assert border.max() == 0.0
    assert mask.max() == 1.0


def test_a_picture_has_the_background_outside_and_the_colour_inside() -> None:
    picture = draw(Caption("purple", "square"), Placement(16.0, 16.0, 8.0))
    assert tuple(picture[0, 0]) == BACKGROUND_RGB
    assert tuple(picture[16, 16]) == COLOUR_RGB["purple"]


def test_one_seed_draws_one_picture() -> None:
    first, first_caption = random_drawing(np.random.default_rng(5))
    second, second_caption = random_drawing(np.random.default_rng(5))
    assert first_caption == second_caption
    np.testing.assert_array_equal(first, second)


def test_an_unknown_shape_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ValueError, match="square, circle, triangle"):
        shape_mask("star", Placement(16.0, 16.0, 8.0))
