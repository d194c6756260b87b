import numpy as np
import pytest
from PIL import Image, ImageFilter

from worker.engine.reward.shapes.captions import COLOURS, SHAPES
from worker.engine.reward.shapes.drawing import BACKGROUND_RGB, COLOUR_RGB, ByteArray, paint, random_drawing
from worker.engine.reward.shapes.judge import DEFAULT_WEIGHTS, Judge, Verdict
from worker.fixtures.shapes.judge_pictures import NEITHER_COLOUR, NEITHER_SHAPE, labelled_pictures


def accuracy(judge: Judge, seed: int, blur: float = 0.0) -> float:
    """The share of random drawings whose colour and shape the judge recognises."""
    rng = np.random.default_rng(seed)
    pictures, captions = zip(*(random_drawing(rng) for _ in range(600)), strict=True)
    if blur:
        pictures = tuple(
            np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(blur))) for picture in pictures
        )
    verdicts = judge.classify(np.stack(pictures))
    return float(np.mean([v == Verdict(c.colour, c.shape) for v, c in zip(verdicts, captions, strict=True)]))


def test_the_judge_recognises_at_least_98_percent_of_new_drawings(judge: Judge) -> None:
    assert accuracy(judge, seed=991) >= 0.98


def test_a_little_blur_hardly_lowers_the_judges_accuracy(judge: Judge) -> None:
    assert accuracy(judge, seed=992, blur=0.6) >= 0.95


def test_the_judge_finds_no_colour_or_shape_in_new_flawed_pictures(judge: Judge) -> None:
    pictures, colours, shapes = labelled_pictures(1500, np.random.default_rng(993))
    verdicts = judge.classify(pictures)
    flawed = [v.shape is None for v, label in zip(verdicts, shapes, strict=True) if label == NEITHER_SHAPE]
    foreign = [v.colour is None for v, label in zip(verdicts, colours, strict=True) if label == NEITHER_COLOUR]
    assert np.mean(flawed) >= 0.93
    assert np.mean(foreign) >= 0.9


def ragged_blob(colour: str, rng: np.random.Generator) -> ByteArray:
    y, x = np.mgrid[0:32, 0:32] + 0.5
    angle, outline = np.arctan2(y - 16, x - 16), 9.0
    for frequency in range(2, 7):
        outline = outline + rng.normal(0, 1.8) * np.cos(frequency * angle + rng.uniform(0, 2 * np.pi))
    mask = np.clip(outline - np.hypot(y - 16, x - 16) + 0.5, 0, 1).astype(np.float32)
    return paint(mask, COLOUR_RGB[colour])


def test_ragged_blobs_have_no_shape(judge: Judge) -> None:
    rng = np.random.default_rng(994)
    verdicts = judge.classify(np.stack([ragged_blob(colour, rng) for colour in COLOURS for _ in range(20)]))
    assert np.mean([v.shape is None for v in verdicts]) >= 0.93


@pytest.mark.parametrize("rgb", [BACKGROUND_RGB, (0, 0, 0), (255, 255, 255), COLOUR_RGB["red"]])
def test_a_flat_picture_has_no_shape(judge: Judge, rgb: tuple[int, int, int]) -> None:
    assert judge.classify(np.full((1, 32, 32, 3), rgb, dtype=np.uint8))[0].shape is None


def test_labels_cover_every_colour_and_shape_and_none() -> None:
    _, colours, shapes = labelled_pictures(600, np.random.default_rng(0))
    assert set(colours) == set(range(len(COLOURS) + 1))
    assert set(shapes) == set(range(len(SHAPES) + 1))


def test_one_seed_gives_one_set_of_labelled_pictures() -> None:
    first = labelled_pictures(40, np.random.default_rng(7))
    second = labelled_pictures(40, np.random.default_rng(7))
    for left, right in zip(first, second, strict=True):
        np.testing.assert_array_equal(left, right)


def test_the_committed_judge_is_small() -> None:
    assert DEFAULT_WEIGHTS.stat().st_size < 300_000


def test_another_resolution_is_refused(judge: Judge) -> None:
    with pytest.raises(ValueError, match="32"):
        judge.classify(np.zeros((1, 64, 64, 3), dtype=np.uint8))
