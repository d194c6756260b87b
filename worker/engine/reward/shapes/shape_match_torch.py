"""`shape_match` in torch: the same score with a gradient, within 1e-4 of the numpy version on equal pixels.

A picture whose overlap or margin lies below its floor scores 0 with gradient 0, as with any hard threshold.
"""

import numpy as np
import torch

from worker.contracts.prompts import Prompt
from worker.engine.reward.shapes import shape_match
from worker.engine.reward.shapes.captions import parse_caption
from worker.engine.reward.shapes.drawing import BACKGROUND_RGB, COLOUR_RGB, RESOLUTION

_SMALLEST = 1e-6
"""The least value of denominators and of the square root's argument, whose gradients stay finite."""


class TorchShapeMatch:
    """The differentiable reward."""

    def __init__(self, device: torch.device) -> None:
        bank, energies = shape_match.mask_bank()
        self._bank = [torch.from_numpy(np.array(masks)).to(device) for masks in bank]
        self._energies = [torch.from_numpy(np.array(energy)).to(device) for energy in energies]

    def __call__(self, pictures: torch.Tensor, prompt: Prompt) -> torch.Tensor:
        """Scores (N,) of pictures (N, 3, 32, 32) in [0, 1].

        Raises:
            ValueError: for pictures of another size, or a prompt that does not name exactly one colour and one shape.
        """
        if pictures.shape[1:] != (3, RESOLUTION, RESOLUTION):
            raise ValueError(
                f"`pictures` must be 3x{RESOLUTION}x{RESOLUTION} for shape_match, got "
                f"{'x'.join(map(str, pictures.shape[1:]))}: its ideal shapes are drawn at that size"
            )
        caption = parse_caption(prompt.text)
        coverage, purity = _coverage_and_purity(pictures.movedim(1, 3) * 255, caption.colour)
        overlaps = self._best_overlaps(coverage.flatten(1))
        overlap = overlaps[:, caption.shape_index]
        others = torch.cat([overlaps[:, : caption.shape_index], overlaps[:, caption.shape_index + 1 :]], dim=1)
        margin = overlap - others.amax(1)
        fit = _ramp(overlap, shape_match.OVERLAP_FLOOR, shape_match.OVERLAP_CEILING)
        return purity * fit * _ramp(margin, shape_match.MARGIN_FLOOR, shape_match.MARGIN_CEILING)

    def _best_overlaps(self, coverage: torch.Tensor) -> torch.Tensor:
        """The Tanimoto overlap (N, num_shapes) of each coverage (N, pixels) with the best mask of each shape."""
        own = coverage.square().sum(1, keepdim=True)
        best = []
        for masks, energy in zip(self._bank, self._energies, strict=True):
            common = coverage @ masks
            best.append((common / (own + energy - common).clamp(min=_SMALLEST)).amax(1))
        return torch.stack(best, dim=1)


def _ramp(values: torch.Tensor, floor: float, ceiling: float) -> torch.Tensor:
    return ((values - floor) / (ceiling - floor)).clamp(0, 1)


def _coverage_and_purity(pixels: torch.Tensor, colour: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The coverage of each pixel by the target colour (N, H, W), and its share of the coverage by any colour (N,), of
    pixels (N, H, W, 3) from 0 to 255."""
    background = pixels.new_tensor(BACKGROUND_RGB)
    target = pixels.new_tensor(COLOUR_RGB[colour]) - background
    length = target.norm()
    offsets = pixels - background
    squared = offsets.square().sum(3)
    along = (offsets * target).sum(3) / length
    nearest = torch.minimum(along.clamp(min=0), length)
    squared_distance = (squared - 2 * nearest * along + nearest.square()).clamp(min=0)
    floor, ceiling = shape_match.COVERAGE_FLOOR, shape_match.COVERAGE_CEILING
    coverage = _ramp(along / length, floor, ceiling) * torch.exp(-squared_distance / shape_match.HUE_TOLERANCE**2)
    # The gradient of the root is infinite at 0.
    any_colour = _ramp(squared.clamp(min=_SMALLEST).sqrt() / length, floor, ceiling)
    total = torch.maximum(any_colour, coverage).sum((1, 2)).clamp(min=1)
    return coverage, coverage.sum((1, 2)) / total
