"""The captions of the shapes data set: "a {colour} {shape}".

Invariant: `parse_caption` is the only parser of prompts, so drawings, rewards and judge agree about what a prompt asks
for.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COLOURS: tuple[str, ...] = ("red", "green", "blue", "yellow", "purple", "orange")
SHAPES: tuple[str, ...] = ("square", "circle", "triangle")

_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Caption:
    """One colour and one shape, e.g. `Caption("red", "square")`."""

    colour: str
    shape: str

    @property
    def text(self) -> str:
        """The prompt the base model was trained on, e.g. "a red square"."""
        return f"a {self.colour} {self.shape}"

    @property
    def colour_index(self) -> int:
        """The index of the colour in `COLOURS`."""
        return COLOURS.index(self.colour)

    @property
    def shape_index(self) -> int:
        """The index of the shape in `SHAPES`."""
        return SHAPES.index(self.shape)


def all_captions() -> list[Caption]:
    """All 18 captions, ordered by colour, then shape."""
    return [Caption(colour, shape) for colour in COLOURS for shape in SHAPES]


def parse_caption(prompt: str) -> Caption:
    """The colour and the shape that `prompt` names; other words are ignored.

    Raises:
        ValueError: when the prompt does not name exactly one known colour and one known shape.
    """
    words = _WORD.findall(prompt.lower())
    colours = [word for word in words if word in COLOURS]
    shapes = [word for word in words if word in SHAPES]
    if len(colours) != 1 or len(shapes) != 1:
        raise ValueError(
            f"`prompt` must name exactly one colour of {', '.join(COLOURS)} and one shape of "
            f"{', '.join(SHAPES)}, got {prompt!r}: write it like 'a red square'"
        )
    return Caption(colours[0], shapes[0])


def noisy_caption_indices(
    colours: NDArray[np.int64], shapes: NDArray[np.int64], reliability: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Captions with label noise, as indices (N,) int64 into `all_captions()`.

    Colour and shape are each kept with probability `reliability`, independently, and otherwise drawn at random, like
    the errors of web captions: single words are wrong, seldom the whole sentence.

    Args:
        colours: true colour of each picture, an index into `COLOURS`, (N,).
        shapes: true shape of each picture, an index into `SHAPES`, (N,).
        reliability: the probability that a word is kept, 0 to 1.
        rng: source of the noise.
    """
    num = len(colours)
    noisy_colours = np.where(rng.random(num) < reliability, colours, rng.integers(len(COLOURS), size=num))
    noisy_shapes = np.where(rng.random(num) < reliability, shapes, rng.integers(len(SHAPES), size=num))
    return noisy_colours * len(SHAPES) + noisy_shapes
