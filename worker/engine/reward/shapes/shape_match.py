"""`shape_match`: how well the picture shows the shape and the colour that its prompt asks for.

score = colour purity × overlap with the best ideal shape, 0 to 1. Each pixel is projected on the line in RGB from the
background's colour to the prompt's, the target colour; the distance from that line counts as another colour. The
coverage by the target colour is compared with a bank of ideal masks (position × size × shape) in one matrix product.

Three properties make the score hard to exploit. Sizes outside the bank overlap badly, so neither specks nor large blobs
score. Overlap counts only above `OVERLAP_FLOOR`, and only as far as the target shape fits better than the other shapes,
so a ragged blob that resembles all of them scores nothing. Colour anywhere else lowers both factors.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.shapes.captions import SHAPES, Caption, parse_caption
from worker.engine.reward.shapes.drawing import (
    BACKGROUND_RGB,
    COLOUR_RGB,
    MAX_RADIUS,
    MIN_RADIUS,
    RESOLUTION,
    FloatArray,
    Placement,
    centre_range,
    half_extents,
    shape_mask,
)

OVERLAP_FLOOR, OVERLAP_CEILING = 0.78, 0.96
"""Overlaps that score 0 and 1: ragged blobs stay below the first, drawn shapes reach the second."""
MARGIN_FLOOR, MARGIN_CEILING = 0.0, 0.06
"""Margins over the best other shape that score 0 and 1."""
HUE_TOLERANCE = 45.0
"""RGB distance from the colour line at which a pixel counts as the target colour by 1/e."""
COVERAGE_FLOOR, COVERAGE_CEILING = 0.12, 0.88
"""Coverages that count as 0 and 1, since an autoencoder reproduces neither background nor colour exactly."""
_RADIUS_RATIO = 1.06
"""The largest ratio of neighbouring radii in the bank."""
_CENTRE_SPACING = 0.6
"""The largest distance of neighbouring centres in the bank, in pixels."""


class ShapeMatch:
    """The reward. It needs no model, and takes about a quarter of a millisecond per image in batches."""

    name = RewardName.SHAPE_MATCH.value

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 images (N, 32, 32, 3); a prompt that names no single colour and shape is that sample's error.

        Raises:
            ValueError: as `check_batch`, or when the images are not 32x32.
        """
        check_batch(images, prompts)
        if images.shape[1:3] != (RESOLUTION, RESOLUTION):
            raise ValueError(
                f"`images` must be {RESOLUTION}x{RESOLUTION} for shape_match, got "
                f"{images.shape[1]}x{images.shape[2]}: its ideal shapes are drawn at that size"
            )
        errors: list[str | None] = [None] * len(prompts)
        captions: list[Caption] = []
        rows: list[int] = []
        for row, prompt in enumerate(prompts):
            try:
                captions.append(parse_caption(prompt.text))
                rows.append(row)
            except ValueError as error:
                errors[row] = str(error)
        scores = np.full(len(prompts), np.nan, dtype=np.float32)
        if rows:
            scores[rows] = _score_parsed(images[rows], captions)
        return RewardResult.from_array(scores, errors)


def _score_parsed(images: NDArray[np.uint8], captions: Sequence[Caption]) -> FloatArray:
    """Scores (N,) of images with their captions."""
    coverage, purity = _coverage_and_purity(images, captions)
    overlaps = _best_overlaps(coverage.reshape(len(images), -1))
    samples = np.arange(len(images))
    targets = np.array([caption.shape_index for caption in captions])
    overlap = overlaps[samples, targets]
    overlaps[samples, targets] = -np.inf
    margin = overlap - overlaps.max(axis=1)
    fit = _ramp(overlap, OVERLAP_FLOOR, OVERLAP_CEILING) * _ramp(margin, MARGIN_FLOOR, MARGIN_CEILING)
    return purity * fit


def _ramp(values: FloatArray, floor: float, ceiling: float) -> FloatArray:
    """0 at `floor` and below, 1 at `ceiling` and above, linear between."""
    return np.clip((values - floor) / (ceiling - floor), 0.0, 1.0)


def _coverage_and_purity(images: NDArray[np.uint8], captions: Sequence[Caption]) -> tuple[FloatArray, FloatArray]:
    """The coverage of each pixel by the target colour (N, H, W), and its share of the coverage by any colour (N,)."""
    background = np.array(BACKGROUND_RGB, dtype=np.float32)
    target = np.array([COLOUR_RGB[caption.colour] for caption in captions], dtype=np.float32) - background
    length = np.linalg.norm(target, axis=1)[:, None, None]
    offsets = images.astype(np.float32) - background
    squared = np.einsum("nhwc,nhwc->nhw", offsets, offsets)
    along = np.einsum("nhwc,nc->nhw", offsets, target) / length
    # Clipped, so that a colour on the line beyond the target colour has a distance too.
    nearest = np.clip(along, 0.0, length)
    squared_distance = np.maximum(squared - 2 * nearest * along + nearest**2, 0.0)
    coverage = _ramp(along / length, COVERAGE_FLOOR, COVERAGE_CEILING) * np.exp(-squared_distance / HUE_TOLERANCE**2)
    any_colour = _ramp(np.sqrt(squared) / length, COVERAGE_FLOOR, COVERAGE_CEILING)
    purity = coverage.sum(axis=(1, 2)) / np.maximum(np.maximum(any_colour, coverage).sum(axis=(1, 2)), 1.0)
    return coverage.astype(np.float32), purity.astype(np.float32)


def _best_overlaps(coverage: FloatArray) -> FloatArray:
    """The best overlap (N, num_shapes) of each coverage (N, pixels) with the masks of each shape.

    Overlap is the Tanimoto coefficient a·b / (a·a + b·b − a·b), the intersection over union of soft masks: 1 for equal
    masks, lower for a pale or blurred one.
    """
    bank, energies = mask_bank()
    own = np.einsum("np,np->n", coverage, coverage)[:, None]
    best = []
    for masks, energy in zip(bank, energies, strict=True):
        common = coverage @ masks
        best.append((common / np.maximum(own + energy - common, 1e-6)).max(axis=1))
    return np.stack(best, axis=1)


@cache
def mask_bank() -> tuple[list[FloatArray], list[FloatArray]]:
    """For each shape: its ideal masks as columns (pixels, num_placements), and their a·a (num_placements,)."""
    num_radii = int(np.ceil(np.log(MAX_RADIUS / MIN_RADIUS) / np.log(_RADIUS_RATIO))) + 1
    radii = np.geomspace(MIN_RADIUS, MAX_RADIUS, num_radii)
    bank, energies = [], []
    for shape in SHAPES:
        masks = []
        for radius in radii:
            half_width, half_height = half_extents(shape, radius)
            for centre_y in _centres(half_height):
                for centre_x in _centres(half_width):
                    masks.append(shape_mask(shape, Placement(centre_x, centre_y, radius)).ravel())
        columns = np.ascontiguousarray(np.stack(masks, axis=1))
        bank.append(columns)
        energies.append(np.einsum("pk,pk->k", columns, columns))
    return bank, energies


def _centres(half_extent: float) -> FloatArray:
    """Centres along one axis, at most `_CENTRE_SPACING` pixels apart, over the range of the drawings."""
    lowest, highest = centre_range(half_extent)
    return np.linspace(lowest, highest, int(np.ceil((highest - lowest) / _CENTRE_SPACING)) + 1, dtype=np.float32)
