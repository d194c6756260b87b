"""Draws the pictures of the shapes data set: one plain shape on a light background, antialiased, 32x32 by default.

Base model, rewards and judge all use these drawings. Coordinates are pixels, with the origin at the top left and y
downwards; `radius` is that of the circle of about equal area, so all shapes of one radius look equally big.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.engine.reward.shapes.captions import SHAPES, Caption

FloatArray = NDArray[np.float32]
ByteArray = NDArray[np.uint8]

RESOLUTION = 32
"""Height and width of a picture, in pixels: small enough to train on a CPU."""
MIN_RADIUS = 7.0
"""The smallest radius, in pixels, at which the shapes are still easy to tell apart."""
MAX_RADIUS = 11.0
"""The largest radius, in pixels, which leaves room to move a shape."""
MAX_OFFSET = 4.5
"""The largest distance of a shape's centre from the middle of the picture, in pixels along each axis."""

BACKGROUND_RGB: tuple[int, int, int] = (240, 240, 240)
COLOUR_RGB: dict[str, tuple[int, int, int]] = {
    "red": (215, 40, 45),
    "green": (40, 160, 70),
    "blue": (35, 95, 215),
    "yellow": (245, 210, 40),
    "purple": (145, 60, 185),
    "orange": (240, 125, 25),
}

# Half-extents in units of `radius`. They give every shape the area of the unit circle within 2 %.
SQUARE_HALF_SIDE = 0.886
TRIANGLE_HALF_BASE = 1.27
TRIANGLE_HALF_HEIGHT = 1.22
_HALF_EXTENTS: dict[str, tuple[float, float]] = {
    "square": (SQUARE_HALF_SIDE, SQUARE_HALF_SIDE),
    "circle": (1.0, 1.0),
    "triangle": (TRIANGLE_HALF_BASE, TRIANGLE_HALF_HEIGHT),
}

_SUPERSAMPLING = 4
"""Samples per pixel along each axis, for antialiasing."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The position and size of a shape: the centre of its bounding box and its radius, all in pixels."""

    centre_x: float
    centre_y: float
    radius: float


def half_extents(shape: str, radius: float) -> tuple[float, float]:
    """Half width and half height, in pixels, of the bounding box of `shape`."""
    half_width, half_height = _HALF_EXTENTS[shape]
    return half_width * radius, half_height * radius


def shape_mask(shape: str, placement: Placement, resolution: int = RESOLUTION) -> FloatArray:
    """Coverage of each pixel by `shape`, 0 to 1, float32 of (resolution, resolution).

    Raises:
        ValueError: when `shape` is unknown.
    """
    if shape not in SHAPES:
        raise ValueError(f"`shape` must be one of {', '.join(SHAPES)}, got {shape!r}")
    fine = resolution * _SUPERSAMPLING
    axis = (np.arange(fine, dtype=np.float32) + 0.5) / _SUPERSAMPLING
    dx = axis[None, :] - np.float32(placement.centre_x)
    dy = axis[:, None] - np.float32(placement.centre_y)
    half_width, half_height = half_extents(shape, placement.radius)
    if shape == "square":
        inside = (np.abs(dx) <= half_width) & (np.abs(dy) <= half_height)
    elif shape == "circle":
        inside = dx * dx + dy * dy <= placement.radius**2
    else:
        # Apex up: at height dy the triangle is as wide as its distance from the apex allows.
        depth = (dy + half_height) / (2 * half_height)
        inside = (depth >= 0) & (depth <= 1) & (np.abs(dx) <= half_width * depth)
    blocks = inside.reshape(resolution, _SUPERSAMPLING, resolution, _SUPERSAMPLING)
    return blocks.mean(axis=(1, 3), dtype=np.float32)


def paint(mask: FloatArray, rgb: tuple[int, int, int]) -> ByteArray:
    """The background blended with the colour `rgb` by `mask` (H, W), as uint8 (H, W, 3)."""
    background = np.asarray(BACKGROUND_RGB, dtype=np.float32)
    colour = np.asarray(rgb, dtype=np.float32)
    picture = background + mask[..., None] * (colour - background)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def draw(caption: Caption, placement: Placement, resolution: int = RESOLUTION) -> ByteArray:
    """The ideal picture of `caption` at `placement`, uint8 of (resolution, resolution, 3)."""
    return paint(shape_mask(caption.shape, placement, resolution), COLOUR_RGB[caption.colour])


def centre_range(half_extent: float, resolution: int = RESOLUTION) -> tuple[float, float]:
    """Lowest and highest centre along one axis that keep a shape of `half_extent` a pixel inside the picture."""
    middle = resolution / 2
    offset = min(MAX_OFFSET, middle - 1 - half_extent)
    return middle - offset, middle + offset


def random_placement(shape: str, rng: np.random.Generator, resolution: int = RESOLUTION) -> Placement:
    """A placement uniform in radius and, within `centre_range`, in position."""
    radius = float(rng.uniform(MIN_RADIUS, MAX_RADIUS))
    half_width, half_height = half_extents(shape, radius)
    centre_x = float(rng.uniform(*centre_range(half_width, resolution)))
    centre_y = float(rng.uniform(*centre_range(half_height, resolution)))
    return Placement(centre_x, centre_y, radius)


def random_drawing(rng: np.random.Generator, resolution: int = RESOLUTION) -> tuple[ByteArray, Caption]:
    """One random picture with its true caption."""
    colour = str(rng.choice(list(COLOUR_RGB)))
    shape = str(rng.choice(SHAPES))
    caption = Caption(colour, shape)
    return draw(caption, random_placement(shape, rng, resolution), resolution), caption
