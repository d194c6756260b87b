"""One reward as a run uses it: its scorer behind a time-out and bounded retries.

Between the lane's batch and the scorer. The invariant kept: every sample comes back with a finite score or with an
error, after at most `num_retries` further tries; what was tried again and what is missing is counted and logged. What a
scorer does not foresee (a bug, memory) propagates where training needs its scores, and is an error of each sample where
they may be missing: a reward that is only watched ends no run.

A scorer works in a thread of its own, one call at a time. A call that overran its time-out goes on in that thread, and
a further try waits behind it within its own time-out: so a scorer that hangs never has two calls at once.
"""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.contracts.rewards import RewardSpec
from worker.engine.reward.base import Reward, RewardResult, ScorerUnavailableError
from worker.engine.reward.clip_frames import score_samples

logger = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 30.0
"""Bounds the doubling, and what a scorer may ask for itself."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What came of all tries together; `num_retries` counts the tries after the first."""

    result: RewardResult
    num_retries: int


class RewardCaller:
    """`sleep` takes seconds; tests pass their own."""

    def __init__(self, spec: RewardSpec, reward: Reward, sleep: Callable[[float], None] = time.sleep) -> None:
        self.spec = spec
        self._reward = reward
        self._sleep = sleep
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"reward-{spec.key}")

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> CallOutcome:
        """Score pictures (N, H, W, 3) or clips (N, F, H, W, 3) for prompts (N).

        Raises:
            ValueError: on arrays that do not fit, or a scorer that does not give one result for each sample. A scorer's
                failures are in the result.
        """
        scores: list[float | None] = [None] * len(prompts)
        errors: list[str | None] = [None] * len(prompts)
        pending = list(range(len(prompts)))
        num_retries = 0
        while True:
            # Clips are large: they are copied only where some of them are left out.
            rest = images if len(pending) == len(prompts) else images[pending]
            result, wanted_wait = self._try(rest, [prompts[index] for index in pending])
            for place, index in enumerate(pending):
                scores[index], errors[index] = result.scores[place], result.errors[place]
            pending = [pending[place] for place in sorted(result.retryable)]
            if not pending or num_retries == self.spec.num_retries:
                break
            seconds = wait_seconds(num_retries, wanted_wait)
            num_retries += 1
            logger.warning(
                "reward `%s` failed on %d of %d samples, try %d of %d follows in %.1f s: %s",
                self.spec.key, len(pending), len(prompts), num_retries + 1, self.spec.num_retries + 1, seconds,
                errors[pending[0]],
            )  # fmt: skip
            self._sleep(seconds)
        outcome = CallOutcome(RewardResult(tuple(scores), tuple(errors), frozenset(pending)), num_retries)
        self._log_missing(outcome.result)
        return outcome

    def _try(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> tuple[RewardResult, float | None]:
        """One try, and how long the scorer asked to be left alone after it."""
        call = self._thread.submit(score_samples, self._reward, images, prompts)
        if not wait([call], timeout=self.spec.timeout_seconds).done:
            call.cancel()
            message = f"no scores within {self.spec.timeout_seconds:g} s (`timeout_seconds`)"
            return RewardResult.failed(len(prompts), message, is_transient=True), None
        try:
            return call.result(), None
        except ScorerUnavailableError as error:
            return RewardResult.failed(len(prompts), str(error), is_transient=error.is_transient), error.wait_seconds
        except Exception as error:
            if not self.spec.may_be_missing:
                raise
            logger.exception("reward `%s` broke", self.spec.key)
            return RewardResult.failed(len(prompts), f"{type(error).__name__}: {error}", is_transient=False), None

    def _log_missing(self, result: RewardResult) -> None:
        if result.num_errors and self.spec.may_be_missing:
            first = next(error for error in result.errors if error is not None)
            logger.warning(
                "reward `%s` is missing for %d of %d samples: %s",
                self.spec.key, result.num_errors, len(result.errors), first,
            )  # fmt: skip


def wait_seconds(num_retries: int, wanted: float | None) -> float:
    """Before another try: what the scorer asked for, else doubling from `FIRST_WAIT_SECONDS`; never over the bound."""
    doubled = FIRST_WAIT_SECONDS * 2**num_retries
    return min(doubled if wanted is None else max(wanted, 0.0), MAX_WAIT_SECONDS)
