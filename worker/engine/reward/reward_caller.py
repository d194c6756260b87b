"""Calls one reward's scorer with a time-out and bounded retries.

Invariant: every sample has a finite score or an error, after at most `num_retries` retries; retries and missing scores
are counted and logged. An unexpected exception of a scorer (a bug, out of memory) is raised where training needs its
scores; where scores may be missing it becomes an error of each sample, so that a watched reward ends no run.

A scorer runs in a thread of its own, one call at a time. A call that exceeds its time-out is cancelled: it ends before
its next picture or pass. A scorer that does not look for that (`cancellation`) continues in its thread, and a retry
waits for it within its own time-out, so a scorer that hangs never has two calls at once.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.contracts.prompts import Prompt
from worker.contracts.rewards import MAX_RETRY_WAIT_SECONDS, RewardSpec
from worker.engine.reward.base import Reward, RewardResult, ScorerUnavailableError
from worker.engine.reward.cancellation import cancellable
from worker.engine.reward.clip_frames import score_samples

logger = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 0.5
"""The wait before the first retry; it doubles with each further one."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The result of a call with its retries."""

    result: RewardResult
    num_retries: int
    """The number of tries after the first."""


class RewardCaller:
    """Calls one scorer."""

    def __init__(self, spec: RewardSpec, reward: Reward, sleep: Callable[[float], None] = time.sleep) -> None:
        """Call `reward` as `spec` says; `sleep` waits before a retry, for a number of seconds."""
        self.spec = spec
        self._reward = reward
        self._sleep = sleep
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"reward-{spec.key}")

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> CallOutcome:
        """Score pictures (N, H, W, 3) or clips (N, F, H, W, 3) for prompts (N).

        Raises:
            ValueError: for arrays that the scorer refuses, or a scorer that does not return one result for each sample.
            Exception: an unexpected exception of a scorer whose scores are required. Other failures are in the result.
        """
        scores: list[float | None] = [None] * len(prompts)
        errors: list[str | None] = [None] * len(prompts)
        pending = list(range(len(prompts)))
        num_retries = 0
        while True:
            # Selecting copies the array, and clips are large.
            selected = images if len(pending) == len(prompts) else images[pending]
            result, requested_wait = self._try(selected, [prompts[index] for index in pending])
            for position, index in enumerate(pending):
                scores[index], errors[index] = result.scores[position], result.errors[position]
            pending = [pending[position] for position in sorted(result.retryable)]
            if not pending or num_retries == self.spec.num_retries:
                break
            seconds = wait_seconds(num_retries, requested_wait)
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

    def _try(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> tuple[RewardResult, float | None]:
        """The result of one try, and the seconds that the scorer asks to wait before the next."""
        cancelled = threading.Event()
        call = self._thread.submit(self._score, cancelled, images, prompts)
        if not wait([call], timeout=self.spec.timeout_seconds).done:
            cancelled.set()
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
            logger.exception("reward `%s` raised an unexpected exception", self.spec.key)
            return RewardResult.failed(len(prompts), f"{type(error).__name__}: {error}", is_transient=False), None

    def _score(self, cancelled: threading.Event, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        with cancellable(cancelled):
            return score_samples(self._reward, images, prompts)

    def _log_missing(self, result: RewardResult) -> None:
        if result.num_errors and self.spec.may_be_missing:
            first = next(error for error in result.errors if error is not None)
            logger.warning(
                "reward `%s` is missing for %d of %d samples: %s",
                self.spec.key, result.num_errors, len(result.errors), first,
            )  # fmt: skip


def wait_seconds(num_retries: int, requested: float | None) -> float:
    """The wait before the next retry, after `num_retries` retries: what the scorer requested, else
    `FIRST_WAIT_SECONDS` doubled with each retry; at most `MAX_RETRY_WAIT_SECONDS`."""
    doubled = FIRST_WAIT_SECONDS * 2**num_retries
    return min(doubled if requested is None else max(requested, 0.0), MAX_RETRY_WAIT_SECONDS)
