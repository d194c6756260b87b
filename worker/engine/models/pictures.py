"""What decoding has in common: sizes that a model can draw, and an autoencoder's output as pixels."""

import torch

from worker.contracts.families import size_problem
from worker.engine.errors import ModelLoadError


def check_size(height: int, width: int, multiple: int) -> None:
    """Raises `ModelLoadError` for a size that the autoencoder and the patches do not divide."""
    for name, value in (("height", height), ("width", width)):
        if problem := size_problem(name, value, multiple):
            raise ModelLoadError(problem)


def in_unit_range(decoded: torch.Tensor) -> torch.Tensor:
    """What an autoencoder puts out in [-1, 1], as fp32 in [0, 1]."""
    return (decoded.float() / 2 + 0.5).clamp(0, 1)
