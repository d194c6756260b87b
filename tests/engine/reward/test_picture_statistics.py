"""The two rewards that ignore the prompt and need no network: JPEG size and colourfulness."""

import numpy as np
import pytest

from worker.contracts.prompts import parse_prompts
from worker.engine.reward.colorfulness import Colorfulness
from worker.engine.reward.jpeg_compressibility import JpegCompressibility
from worker.engine.reward.shapes.captions import Caption
from worker.engine.reward.shapes.drawing import ByteArray, Placement, draw

DRAWN = draw(Caption("red", "circle"), Placement(16.0, 16.0, 8.0))
NOISE = np.random.default_rng(0).integers(0, 256, size=(32, 32, 3), dtype=np.uint8)
GREY = np.full((32, 32, 3), 128, dtype=np.uint8)


def jpeg(picture: ByteArray) -> float:
    return JpegCompressibility().score(picture[None], parse_prompts(["any"])).require_complete("jpeg")[0]


def colour(picture: ByteArray) -> float:
    return Colorfulness().score(picture[None], parse_prompts(["any"])).require_complete("colour")[0]


def test_a_flat_picture_compresses_best_and_noise_worst() -> None:
    assert jpeg(GREY) > 0.95
    assert jpeg(NOISE) < 0.05
    assert jpeg(NOISE) < jpeg(DRAWN) < jpeg(GREY)


def test_noise_on_a_picture_lowers_its_compressibility() -> None:
    rng = np.random.default_rng(1)
    scores = [
        jpeg(np.clip(DRAWN + rng.normal(0, level, DRAWN.shape), 0, 255).astype(np.uint8)) for level in (0, 8, 32, 96)
    ]
    assert scores == sorted(scores, reverse=True)


def test_compressibility_hardly_depends_on_resolution() -> None:
    texture = np.random.default_rng(2).integers(0, 256, size=(64, 64, 3), dtype=np.uint8)
    assert jpeg(np.tile(texture, (2, 2, 1))) == pytest.approx(jpeg(texture), abs=0.05)


def test_grey_pictures_have_no_colourfulness_at_all() -> None:
    assert colour(GREY) == 0.0
    assert colour(np.repeat(NOISE[..., :1], 3, axis=2)) == 0.0


def test_colourfulness_follows_the_published_formula() -> None:
    half = np.zeros((32, 32, 3), dtype=np.uint8)
    half[:, :16] = (255, 0, 0)
    # rg is 255 or 0, yb 127.5 or 0, each on half the pixels: mean and spread are both half the value.
    expected = np.hypot(127.5, 63.75) * 1.3 / 109.0
    assert expected > 1.0
    assert colour(half) == 1.0
    assert colour(half // 4) == pytest.approx(np.hypot(31.5, 15.75) * 1.3 / 109.0, abs=1e-4)


def test_desaturating_a_picture_lowers_its_colourfulness() -> None:
    grey = DRAWN.mean(axis=2, keepdims=True)
    scores = [colour((keep * DRAWN + (1 - keep) * grey).astype(np.uint8)) for keep in (1.0, 0.7, 0.4, 0.0)]
    assert scores == sorted(scores, reverse=True)
