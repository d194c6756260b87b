"""Pictures with labels to train the judge on: good shapes, and much that is nearly one.

Drawn here by distance functions, apart from `drawing`, with the flaws of a small generative model: rounded corners,
stretched outlines, ragged blobs, bites, second shapes, mixed and foreign colours, blur, haze and noise. Whatever a
person would not call a clean square, circle or triangle is labelled "neither"; doubtful degrees are not drawn.
"""

import numpy as np
from numpy.typing import NDArray

from worker.shapes.captions import COLOURS, SHAPES
from worker.shapes.drawing import BACKGROUND_RGB, COLOUR_RGB, RESOLUTION, random_drawing

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]

NEITHER_COLOUR = len(COLOURS)
NEITHER_SHAPE = len(SHAPES)

_PALETTE = np.array([COLOUR_RGB[colour] for colour in COLOURS], dtype=np.float32)
_GROUND = np.array(BACKGROUND_RGB, dtype=np.float32)
_AXIS = np.arange(RESOLUTION, dtype=np.float32) + 0.5
_FOREIGN_DISTANCE = 75.0
_TRIANGLE_INRADIUS = 0.72
"""In units of the radius: how far the middle of the triangle is from its nearest side."""


def labelled_pictures(num: int, rng: np.random.Generator) -> tuple[NDArray[np.uint8], IntArray, IntArray]:
    """Random pictures uint8 (num, 32, 32, 3) with colour labels and shape labels, int64 of (num,).

    Labels index `COLOURS` and `SHAPES`; one past the end means "neither".
    """
    pictures, colours, shapes = zip(*(_labelled_picture(rng) for _ in range(num)), strict=True)
    return np.stack(pictures), np.array(colours), np.array(shapes)


def _labelled_picture(rng: np.random.Generator) -> tuple[NDArray[np.uint8], int, int]:
    kind = rng.choice(["drawing", "outline", "flawed", "blank"], p=[0.2, 0.45, 0.32, 0.03])
    if kind == "blank":
        return _blank(rng), NEITHER_COLOUR, NEITHER_SHAPE
    if kind == "drawing":
        picture, caption = random_drawing(rng)
        return _spoil(picture.astype(np.float32), rng), caption.colour_index, caption.shape_index
    coverage, shape = _outline(rng)
    ink, colour = _ink(rng)
    if kind == "flawed":
        coverage, shape = _break(coverage, rng), NEITHER_SHAPE
    return _spoil(_GROUND + coverage[..., None] * (ink - _GROUND), rng), colour, shape


def _blank(rng: np.random.Generator) -> NDArray[np.uint8]:
    """An empty ground, or one flat colour from edge to edge."""
    flat = _GROUND if rng.random() < 0.5 else _ink(rng)[0]
    return _spoil(np.broadcast_to(flat, (RESOLUTION, RESOLUTION, 3)).astype(np.float32), rng)


def _outline(rng: np.random.Generator) -> tuple[FloatArray, int]:
    """Coverage (H, W) of one outline and its label: a good one, or one rounded or stretched out of its class."""
    x, y = _local_coordinates(rng)
    which = rng.choice(["square", "circle", "triangle", "squircle", "rounded triangle", "stretched", "blob"],
                       p=[0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1])  # fmt: skip
    if which == "square":
        return _coverage(_box_distance(x, y, rng.uniform(0.0, 0.3))), SHAPES.index("square")
    if which == "circle":
        return _coverage(_box_distance(x, y, rng.uniform(0.93, 1.0))), SHAPES.index("circle")
    if which == "triangle":
        return _coverage(_triangle_distance(x, y, rng.uniform(0.0, 0.25))), SHAPES.index("triangle")
    if which == "squircle":
        return _coverage(_box_distance(x, y, rng.uniform(0.5, 0.75))), NEITHER_SHAPE
    if which == "rounded triangle":
        return _coverage(_triangle_distance(x, y, rng.uniform(0.55, 0.9))), NEITHER_SHAPE
    if which == "stretched":
        stretch = rng.uniform(1.35, 1.8) ** rng.choice([-0.5, 0.5])
        x, y = x * stretch, y / stretch
        distance = _triangle_distance(x, y, 0.1) if rng.random() < 0.4 else _box_distance(x, y, rng.uniform(0, 1))
        return _coverage(distance), NEITHER_SHAPE
    return _coverage(_blob_distance(x, y, rng)), NEITHER_SHAPE


def _local_coordinates(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Pixel centres in units of a random radius around a random centre, a little turned and stretched."""
    radius = rng.uniform(5.5, 11.5)
    reach = min(1.15 * radius, RESOLUTION / 2 - 1)
    centre = rng.uniform(reach, RESOLUTION - reach, size=2)
    dx, dy = np.meshgrid(_AXIS - centre[0], _AXIS - centre[1])
    angle, stretch = rng.uniform(-0.08, 0.08), rng.uniform(0.94, 1.06)
    x = (np.cos(angle) * dx + np.sin(angle) * dy) * stretch / radius
    y = (np.cos(angle) * dy - np.sin(angle) * dx) / stretch / radius
    return x.astype(np.float32), y.astype(np.float32)


def _coverage(distance: FloatArray) -> FloatArray:
    """Antialiased inside of a signed distance given in radii: a ramp of one pixel around the outline."""
    pixel = np.abs(np.diff(distance, axis=1)).max() + 1e-6
    return np.clip(0.5 - distance / pixel, 0.0, 1.0).astype(np.float32)


def _box_distance(x: FloatArray, y: FloatArray, rounding: float) -> FloatArray:
    """Signed distance to a square of the unit circle's area; `rounding` 1 is the circle itself."""
    half = 0.886 + 0.114 * rounding
    qx, qy = np.abs(x) - half * (1 - rounding), np.abs(y) - half * (1 - rounding)
    outside = np.hypot(np.maximum(qx, 0), np.maximum(qy, 0))
    inside = np.minimum(np.maximum(qx, qy), 0)
    return (outside + inside - half * rounding).astype(np.float32)


def _triangle_distance(x: FloatArray, y: FloatArray, rounding: float) -> FloatArray:
    """Signed distance to an upright triangle of half base 1.27 and half height 1.22 with rounded corners."""
    corners = np.array([(0.0, -1.22), (1.27, 1.22), (-1.27, 1.22)], dtype=np.float32)
    middle = np.array([0.0, 1.22 - _TRIANGLE_INRADIUS], dtype=np.float32)
    corners = middle + (corners - middle) * (1 - rounding)
    points = np.stack([x, y], axis=-1)
    nearest = np.full(x.shape, np.inf, dtype=np.float32)
    inside = np.ones(x.shape, dtype=bool)
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        edge, offset = end - start, points - start
        along = np.clip(offset @ edge / max(float(edge @ edge), 1e-6), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(offset - along[..., None] * edge, axis=-1))
        inside &= edge[0] * offset[..., 1] - edge[1] * offset[..., 0] >= 0
    return (np.where(inside, -nearest, nearest) - rounding * _TRIANGLE_INRADIUS).astype(np.float32)


def _blob_distance(x: FloatArray, y: FloatArray, rng: np.random.Generator) -> FloatArray:
    """About the distance to a ragged outline: a radius that wavers with the angle."""
    angle, radius = np.arctan2(y, x), np.ones_like(x)
    for frequency in range(2, 6):
        radius += rng.normal(0, 0.35 / frequency) * np.cos(frequency * angle + rng.uniform(0, 2 * np.pi))
    wavering = max(float(radius.std()), 1e-3)
    # A waver below 0.12 would pass for a circle, and that is not what the label says.
    radius = 1 + (radius - 1) * max(1.0, 0.12 / wavering)
    return (np.hypot(x, y) - np.clip(radius, 0.2, 1.6)).astype(np.float32)


def _break(coverage: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Spoil an outline beyond its class: cut a part away, bite into it, hollow it, or add a second one."""
    rows, columns = np.nonzero(coverage > 0.5)
    if len(rows) == 0:
        return coverage
    flaw = rng.choice(["cut", "bite", "second", "hollow"])
    if flaw == "second":
        other = np.roll(_outline(rng)[0], tuple(rng.integers(8, 24, size=2)), axis=(0, 1))
        return np.maximum(coverage, other)
    pick = rng.integers(len(rows))
    centre_y, centre_x = (rows.mean(), columns.mean()) if flaw == "hollow" else (rows[pick], columns[pick])
    size = np.sqrt(len(rows) / np.pi)
    dx, dy = np.meshgrid(_AXIS - centre_x, _AXIS - centre_y)
    if flaw == "cut":
        angle = rng.uniform(0, 2 * np.pi)
        centre_x, centre_y = columns.mean(), rows.mean()
        side = (_AXIS[None] - centre_x) * np.cos(angle) + (_AXIS[:, None] - centre_y) * np.sin(angle)
        return coverage * np.clip(rng.uniform(0.0, 0.35) * size - side, 0, 1).astype(np.float32)
    hole = np.clip(np.hypot(dx, dy) - rng.uniform(0.45, 0.8) * size, 0, 1)
    return (coverage * hole).astype(np.float32)


def _ink(rng: np.random.Generator) -> tuple[FloatArray, int]:
    """A colour, flat (3,) or per pixel (H, W, 3), and its label."""
    kind = rng.choice(["true", "foreign", "two-tone"], p=[0.7, 0.15, 0.15])
    label = int(rng.integers(len(COLOURS)))
    if kind == "true":
        return (_PALETTE[label] + rng.normal(0, 7, size=3)).astype(np.float32), label
    if kind == "foreign":
        while True:
            colour = rng.uniform(0, 240, size=3)
            if np.linalg.norm(_PALETTE - colour, axis=1).min() > _FOREIGN_DISTANCE:
                return colour.astype(np.float32), NEITHER_COLOUR
    other = _PALETTE[(label + rng.integers(1, len(COLOURS))) % len(COLOURS)]
    angle = rng.uniform(0, 2 * np.pi)
    along = (_AXIS[None] - RESOLUTION / 2) * np.cos(angle) + (_AXIS[:, None] - RESOLUTION / 2) * np.sin(angle)
    share = np.clip(0.5 + along / rng.uniform(2, 8), 0, 1)[..., None]
    return (_PALETTE[label] + share * (other - _PALETTE[label])).astype(np.float32), NEITHER_COLOUR


def _spoil(picture: FloatArray, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Blur, low-frequency haze and pixel noise, as an autoencoder leaves them."""
    blur = rng.uniform(0.0, 0.18)
    padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
    neighbours = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    softened = (1 - 4 * blur) * picture + blur * neighbours
    haze = rng.normal(0, rng.uniform(0, 8), size=(8, 8, 3)).repeat(4, axis=0).repeat(4, axis=1)
    noise = rng.normal(0, rng.uniform(0, 5), size=picture.shape)
    return np.clip(np.rint(softened + haze + noise), 0, 255).astype(np.uint8)
