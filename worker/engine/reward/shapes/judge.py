"""The judge: a small classifier of colour and shape in pictures of the shapes data set.

It is independent of the rewards: `worker.fixtures.shapes.judge_training` trained it on pictures of its own. Its weights
lie beside this file, since jobs upload the package `worker` and nothing else, and a reward lane on any node must find
them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import nn

from worker.engine.reward.shapes.captions import COLOURS, SHAPES
from worker.engine.reward.shapes.drawing import RESOLUTION

DEFAULT_WEIGHTS = Path(__file__).with_name("judge.safetensors")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The colour and shape that the judge sees; `None` for none of the known ones."""

    colour: str | None
    shape: str | None


class JudgeNetwork(nn.Module):
    """Five convolutions, the mean over pixels, one head for colour (6 + none) and one for shape (3 + none)."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for num_in, num_out, stride in ((3, 16, 1), (16, 24, 2), (24, 32, 2), (32, 48, 2), (48, 48, 1)):
            layers += [nn.Conv2d(num_in, num_out, 3, stride, 1, bias=False), nn.BatchNorm2d(num_out), nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.colour_head = nn.Linear(48, len(COLOURS) + 1)
        self.shape_head = nn.Linear(48, len(SHAPES) + 1)

    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Pictures (N, 3, H, W) in [-1, 1] to colour logits (N, 7) and shape logits (N, 4)."""
        pooled = self.features(pictures).mean(dim=(2, 3))
        return self.colour_head(pooled), self.shape_head(pooled)


class Judge:
    """A trained `JudgeNetwork` that classifies uint8 pictures."""

    def __init__(self, network: JudgeNetwork) -> None:
        self._network = network.eval().requires_grad_(False)

    @classmethod
    def load(cls, weights: Path = DEFAULT_WEIGHTS) -> Self:
        """Load the judge from a safetensors file.

        Raises:
            FileNotFoundError: when the file does not exist.
        """
        if not weights.is_file():
            raise FileNotFoundError(f"`weights` must exist, got {weights}: build them with `make demo-model`")
        network = JudgeNetwork()
        network.load_state_dict(load_file(weights))
        return cls(network)

    def save(self, weights: Path) -> None:
        """Write the weights as safetensors, creating the folder."""
        weights.parent.mkdir(parents=True, exist_ok=True)
        save_file(self._network.state_dict(), weights)

    @torch.no_grad()
    def classify(self, pictures: NDArray[np.uint8]) -> list[Verdict]:
        """The verdict on each of uint8 pictures (N, 32, 32, 3).

        Raises:
            ValueError: when the pictures are not 32x32.
        """
        if pictures.ndim != 4 or pictures.shape[1:] != (RESOLUTION, RESOLUTION, 3):
            raise ValueError(
                f"`pictures` must be (N, {RESOLUTION}, {RESOLUTION}, 3), got {pictures.shape}: "
                "the judge was trained at that size"
            )
        colour_logits, shape_logits = self._network(to_network_input(pictures))
        colours: tuple[str | None, ...] = (*COLOURS, None)
        shapes: tuple[str | None, ...] = (*SHAPES, None)
        return [
            Verdict(colours[colour], shapes[shape])
            for colour, shape in zip(colour_logits.argmax(1).tolist(), shape_logits.argmax(1).tolist(), strict=True)
        ]


def to_network_input(pictures: NDArray[np.uint8]) -> torch.Tensor:
    """uint8 pictures (N, H, W, 3) as fp32 (N, 3, H, W) in [-1, 1]."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)
