"""`shape_judge`: 1 where an independent classifier sees both the colour and the shape of the prompt, else 0.

It is meant to be watched, not trained on: it shares no code with `shape_match`, so a policy that exploits a flaw of
`shape_match` does not score high here.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.shapes.captions import parse_caption
from worker.engine.reward.shapes.judge import DEFAULT_WEIGHTS, Judge


class ShapeJudge:
    """The reward.

    Raises:
        FileNotFoundError: when `weights` is missing.
    """

    name = RewardName.SHAPE_JUDGE.value

    def __init__(self, weights: Path = DEFAULT_WEIGHTS) -> None:
        self._judge = Judge.load(weights)

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 images (N, 32, 32, 3); a prompt that names no single colour and shape is that sample's error.

        Raises:
            ValueError: as `check_batch`, or when the images are not 32x32.
        """
        check_batch(images, prompts)
        verdicts = self._judge.classify(images)
        scores = np.full(len(prompts), np.nan)
        errors: list[str | None] = [None] * len(prompts)
        for row, (prompt, verdict) in enumerate(zip(prompts, verdicts, strict=True)):
            try:
                target = parse_caption(prompt.text)
            except ValueError as error:
                errors[row] = str(error)
                continue
            scores[row] = float(verdict.colour == target.colour and verdict.shape == target.shape)
        return RewardResult.from_array(scores, errors)
