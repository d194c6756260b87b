"""The interface of rewards: pictures and prompts in, one score or one error for each sample out.

Rewards run on reward lanes, between generation and advantages. Invariant: a sample has either a finite score or an
error, never a zero in place of a failure.
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
    """A scorer could score none of the samples that it was given.

    Attributes:
        is_transient: whether a retry may succeed.
        wait_seconds: how long the scorer asks to wait before a retry; `None` when it does not say.
    """

    def __init__(self, message: str, *, is_transient: bool, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.is_transient, self.wait_seconds = is_transient, wait_seconds


@dataclass(frozen=True, slots=True)
class RewardResult:
    """The scores or errors of N samples.

    Raises:
        ValueError: when a sample has neither score nor error or both, a score is not finite, or a sample is retryable
            that did not fail.
    """

    scores: tuple[float | None, ...]
    """The score of each sample; `None` where `errors` holds a reason."""
    errors: tuple[str | None, ...]
    """The reason why each sample has no score; `None` where it has one."""
    retryable: frozenset[int] = frozenset()
    """Indices of failed samples whose retry may succeed."""

    def __post_init__(self) -> None:
        if len(self.scores) != len(self.errors):
            raise ValueError(
                f"`errors` and `scores` must have one entry for each sample, got {len(self.errors)} and "
                f"{len(self.scores)}: each sample has exactly one of the two"
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
        """The result of `num_samples` samples that all failed for one reason."""
        retryable = frozenset(range(num_samples)) if is_transient else frozenset[int]()
        return cls((None,) * num_samples, (error,) * num_samples, retryable)

    @classmethod
    def from_array(cls, scores: NDArray[np.floating], errors: Sequence[str | None] | None = None) -> Self:
        """The result of an array of scores (N,), where a score that is not finite counts as an error.

        Args:
            scores: the score of each sample, ignored where the sample has an error.
            errors: the error of each sample, if any.
        """
        given = [None] * len(scores) if errors is None else list(errors)
        complete = [
            error if error is not None or math.isfinite(score) else f"the score is not finite: {score}"
            for score, error in zip(scores.tolist(), given, strict=True)
        ]
        kept = [float(score) if error is None else None for score, error in zip(scores.tolist(), complete, strict=True)]
        return cls(tuple(kept), tuple(complete))

    @property
    def num_errors(self) -> int:
        """The number of samples without a score."""
        return sum(error is not None for error in self.errors)

    def require_complete(self, name: str) -> tuple[float, ...]:
        """All scores of the reward `name`.

        Raises:
            RewardError: with the first failed sample and the number of failed ones.
        """
        complete = [score for score in self.scores if score is not None]
        if len(complete) < len(self.scores):
            index, first = next((i, error) for i, error in enumerate(self.errors) if error is not None)
            raise RewardError(
                f"reward {name!r} failed on {self.num_errors} of {len(self.scores)} samples; sample {index}: {first}"
            )
        return tuple(complete)


class Reward(Protocol):
    """A scorer. Implementations hold their model, keep no state between calls, and use only the lane's own device."""

    @property
    def name(self) -> str:
        """The registry name."""
        ...

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        """Score images (N, H, W, 3) for their prompts (N).

        Raises:
            ScorerUnavailableError: when no sample could be scored. Failures of single samples are in the result.
            ValueError: when `images` and `prompts` differ in number.
        """
        ...


def check_batch(images: NDArray[np.uint8], prompts: Sequence[str]) -> None:
    """Check a batch of pictures and their prompts.

    Raises:
        ValueError: for another shape or dtype of `images` than uint8 (N, H, W, 3), or another number of `prompts`.
    """
    if images.ndim != 4 or images.shape[3] != 3 or images.dtype != np.uint8:
        raise ValueError(
            f"`images` must be uint8 of (N, H, W, 3), got {images.dtype} of {images.shape}: "
            "rewards score pictures as they are stored"
        )
    if len(images) != len(prompts):
        raise ValueError(f"`prompts` must be one per image ({len(images)}), got {len(prompts)}")
