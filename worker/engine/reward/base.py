"""What every reward is: pictures and prompts in, one score or one error for each sample out.

Rewards run on reward lanes, between generation and advantages. The invariant kept here: a sample has either a
finite score or an error, never a zero that stands for a failure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from worker.engine.errors import EngineError


class RewardError(EngineError):
    """Samples that training needs could not be scored."""


class ScorerUnavailableError(EngineError):
    """A scorer could judge none of the samples it was given.

    Attributes:
        is_transient: whether another try is worth it.
        wait_seconds: how long the scorer asked to be left alone; None when it did not say.
    """

    def __init__(self, message: str, *, is_transient: bool, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.is_transient, self.wait_seconds = is_transient, wait_seconds


@dataclass(frozen=True, slots=True)
class RewardResult:
    """Scores of N samples; where `errors[i]` is set, `scores[i]` is None, and the other way round.

    Raises:
        ValueError: when a sample has neither or both, a score is not finite, or one that did not fail is to be retried.
    """

    scores: tuple[float | None, ...]
    errors: tuple[str | None, ...]
    retryable: frozenset[int] = frozenset()
    """Failed samples for which another try may do better."""

    def __post_init__(self) -> None:
        if len(self.scores) != len(self.errors):
            raise ValueError(
                f"`errors` must be as many as `scores`, got {len(self.errors)} and {len(self.scores)}: "
                "each sample has exactly one of the two"
            )
        for index, (score, error) in enumerate(zip(self.scores, self.errors, strict=True)):
            if (score is None) == (error is None):
                raise ValueError(f"sample {index} must have either a score or an error, got {score!r} and {error!r}")
            if score is not None and not math.isfinite(score):
                raise ValueError(f"`scores[{index}]` must be finite, got {score}: report a failure as an error")

        if not all(self.errors[index] is not None for index in self.retryable):
            raise ValueError(f"`retryable` must name failed samples only, got {sorted(self.retryable)}")

    @classmethod
    def failed(cls, num_samples: int, error: str, *, is_transient: bool) -> Self:
        """All samples failed for one reason."""
        retryable = frozenset(range(num_samples)) if is_transient else frozenset[int]()
        return cls((None,) * num_samples, (error,) * num_samples, retryable)

    @classmethod
    def from_array(cls, scores: NDArray[np.floating], errors: Sequence[str | None] | None = None) -> Self:
        """From an array (N,) of scores; a score that is not finite becomes an error unless one is given already."""
        given = [None] * len(scores) if errors is None else list(errors)
        told = [
            error if error is not None or math.isfinite(score) else f"the score is not finite: {score}"
            for score, error in zip(scores.tolist(), given, strict=True)
        ]
        kept = [float(score) if error is None else None for score, error in zip(scores.tolist(), told, strict=True)]
        return cls(tuple(kept), tuple(told))

    @property
    def num_errors(self) -> int:
        return sum(error is not None for error in self.errors)

    def require_complete(self, name: str) -> tuple[float, ...]:
        """All scores.

        Raises:
            RewardError: naming the first failed sample and how many failed.
        """
        complete = [score for score in self.scores if score is not None]
        if len(complete) < len(self.scores):
            index, first = next((i, error) for i, error in enumerate(self.errors) if error is not None)
            raise RewardError(
                f"reward {name!r} failed on {self.num_errors} of {len(self.scores)} samples; sample {index}: {first}"
            )
        return tuple(complete)


class Reward(Protocol):
    """A scorer. Implementations hold their model, keep no state between calls and touch no device but their own."""

    @property
    def name(self) -> str:
        """The registry name."""
        ...

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        """Score images (N, H, W, 3) for their prompts (N).

        Raises:
            ScorerUnavailableError: when nothing could be scored at all.
            ValueError: when the arrays do not fit each other; failures of single samples are in the result.
        """
        ...


def check_batch(images: NDArray[np.uint8], prompts: Sequence[str]) -> None:
    """Refuse arrays that are no batch of pictures with their prompts.

    Raises:
        ValueError: wrong shape or dtype of `images`, or a different number of `prompts`.
    """
    if images.ndim != 4 or images.shape[3] != 3 or images.dtype != np.uint8:
        raise ValueError(
            f"`images` must be uint8 of (N, H, W, 3), got {images.dtype} of {images.shape}: "
            "rewards score pictures as they are saved"
        )
    if len(images) != len(prompts):
        raise ValueError(f"`prompts` must be one per image ({len(images)}), got {len(prompts)}")
