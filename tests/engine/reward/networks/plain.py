"""The published formulas, picture by picture and without the engine, which the scorers are compared with."""

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from tests.engine.reward.networks.conftest import SIDE

MEAN = np.array([0.48145466, 0.4578275, 0.40821073])
STD = np.array([0.26862954, 0.26130258, 0.27577711])


def pixels(image: NDArray[np.uint8]) -> torch.Tensor:
    """CLIP's preprocessing: shorter side to SIDE (bicubic), centre crop, to [0, 1], normalised; (1, 3, SIDE, SIDE)."""
    height, width = image.shape[:2]
    scale = SIDE / min(height, width)
    size = (SIDE if width <= height else int(width * scale), SIDE if height <= width else int(height * scale))
    resized = np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BICUBIC), dtype=np.float64)
    top, left = (resized.shape[0] - SIDE) // 2, (resized.shape[1] - SIDE) // 2
    cropped = resized[top : top + SIDE, left : left + SIDE] / 255
    return torch.tensor(((cropped - MEAN) / STD).transpose(2, 0, 1)[None], dtype=torch.float32)


def letterboxed_pixels(image: NDArray[np.uint8]) -> torch.Tensor:
    """HPSv2's preprocessing: letterboxed to SIDE (bicubic), to [0, 1], normalised; (1, 3, SIDE, SIDE)."""
    height, width = image.shape[:2]
    size = (round(width * SIDE / max(height, width)), round(height * SIDE / max(height, width)))
    square = Image.new("RGB", (SIDE, SIDE))
    fitted = Image.fromarray(image).resize(size, Image.Resampling.BICUBIC)
    square.paste(fitted, ((SIDE - size[0]) // 2, (SIDE - size[1]) // 2))
    values = (np.asarray(square, dtype=np.float64) / 255 - MEAN) / STD
    return torch.tensor(values.transpose(2, 0, 1)[None], dtype=torch.float32)


def cosine(left: torch.Tensor, right: torch.Tensor) -> float:
    """The cosine of two vectors."""
    one, other = (vector.detach().double().numpy().ravel() for vector in (left, right))
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def linear_layers(layers: torch.nn.Sequential, vector: torch.Tensor) -> float:
    """The output of a rating head: one matrix product after another, since it has no activations."""
    value = vector.detach().double().numpy().ravel()
    for layer in layers:
        if isinstance(layer, torch.nn.Linear):
            value = layer.weight.detach().double().numpy() @ value + layer.bias.detach().double().numpy()
    return float(value[0])
