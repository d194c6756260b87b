"""Detects reward hacking: the optimised reward rises while a monitored one falls, both beyond their noise.

The rule: a line is fitted by least squares to the means of the newest 20, 40 and 80 batches. Its change is the slope
times the length. The standard error of the change counts the scatter of the batches around the line, and that
neighbouring batches are alike, by the residuals' autocorrelation at lag 1. Hacking is suspected while, over one of the
three lengths, the optimised reward has risen and a monitored reward has fallen, both by more standard errors than
`MIN_ERRORS` has for that length.

The rule is applied after every batch, hundreds of times in a run, so the usual two standard errors would raise an alarm
in most healthy runs. The bounds are chosen so that at most one healthy run in a hundred gets one, and that a fall of
three standard deviations of a batch's noise within 30 to 100 batches is found in 95 of 100 cases. Simulation holds
both: `tests/engine/metrics/test_reward_hacking.py`. A collapse within a few batches looks like no line, and is not
found: it is plain on the curve.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.contracts.events import RewardChange
from worker.contracts.metric_names import Metric

MIN_ERRORS = {20: 11.0, 40: 6.0, 80: 5.0}
"""By number of batches: standard errors by which both rewards must have changed. Few batches tell little of their own
autocorrelation, so their bound is higher. Found by simulation, as above."""
KEPT_ERRORS = dict.fromkeys(MIN_ERRORS, 2.0)
"""The same for a suspicion that was raised already, which would come and go with the noise otherwise."""
MIN_BATCHES, MAX_BATCHES = min(MIN_ERRORS), max(MIN_ERRORS)
MAX_AUTOCORRELATION = 0.9
"""Bounds the standard error where the residuals of a short series are estimated to be one random walk."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Finding:
    """A monitored reward that has begun or ceased to fall while the optimised one rises, with the evidence."""

    monitored: str
    """Key of the monitored reward."""
    suspected: bool
    num_batches: int
    """Batches over which the changes were fitted."""
    optimised_change: RewardChange
    monitored_change: RewardChange


class HackingDetector:
    """Compares the optimised reward with the monitored ones; without the latter it never suspects anything."""

    def __init__(self, monitored: Sequence[str]) -> None:
        """`monitored` are the keys of the rewards that are measured but not optimised."""
        self.monitored = tuple(monitored)
        self._histories: dict[str, deque[tuple[float, float]]] = {}
        """By monitored reward: the means of the optimised reward and of itself in the newest batches, oldest first."""
        self._suspected: frozenset[str] = frozenset()
        self.clear()

    @property
    def is_suspected(self) -> bool:
        """Whether hacking is suspected now."""
        return bool(self._suspected)

    def clear(self) -> None:
        """Forget all batches, since the run continues from a checkpoint."""
        self._histories = {name: deque(maxlen=MAX_BATCHES) for name in self.monitored}
        self._suspected = frozenset()

    def add(self, means: Mapping[str, float]) -> list[Finding]:
        """Add one batch's means, by metric name. Returns a finding for each monitored reward that has begun or ceased
        to fall while the optimised one rises. A batch in which either is missing is left out for that reward."""
        findings = []
        for name, history in self._histories.items():
            key = Metric.REWARD_PART.format(name=name)
            if Metric.REWARD_MEAN not in means or key not in means:
                continue
            history.append((means[Metric.REWARD_MEAN], means[key]))
            if len(history) < MIN_BATCHES:
                continue
            was_suspected = name in self._suspected
            bounds = KEPT_ERRORS if was_suspected else MIN_ERRORS
            finding = _compare(name, np.asarray(history, dtype=np.float64).T, bounds)
            if finding.suspected != was_suspected:
                self._suspected = self._suspected ^ {name}
                findings.append(finding)
        return findings


def _compare(name: str, history: Array, bounds: Mapping[int, float]) -> Finding:
    """The finding over the fewest batches that make hacking suspected; over the most that there are if none do.

    Args:
        name: key of the monitored reward.
        history: two rows, of the optimised and the monitored reward's means.
        bounds: by number of batches, the standard errors by which both must have changed.
    """
    for num_batches, bound in bounds.items():
        if num_batches > history.shape[1]:
            break
        changes, errors = fitted_changes(history[:, -num_batches:])
        suspected = bool(is_hacking(changes, errors, bound))
        optimised, monitored = (
            RewardChange(change=float(change), standard_error=float(error))
            for change, error in zip(changes, errors, strict=True)
        )
        finding = Finding(name, suspected, num_batches, optimised, monitored)
        if suspected:
            break
    return finding


def is_hacking(changes: Array, errors: Array, bound: float) -> NDArray[np.bool_]:
    """Whether changes beyond `bound` standard errors are evidence. The first axis of `changes` and of their standard
    `errors` holds the optimised and the monitored reward."""
    return (changes[0] > bound * errors[0]) & (-changes[1] > bound * errors[1])


def fitted_changes(means: Array) -> tuple[Array, Array]:
    """The change of a fitted line from the first to the last of `means` along the last axis, and its standard error.

    The variance of the slope is multiplied by (1 + ρ) / (1 − ρ) for an autocorrelation of ρ between neighbours. Fitting
    a line makes residuals of a short series look less alike than the noise is: ρ is estimated as (n r + 3) / (n − 5)
    from the residuals' r, which simulation shows to be about unbiased from 20 batches on.
    """
    n = means.shape[-1]
    x = np.arange(n) - (n - 1) / 2
    spread = x @ x
    centred = means - means.mean(axis=-1, keepdims=True)
    slopes = centred @ x / spread
    residuals = centred - slopes[..., None] * x
    squares = (residuals**2).sum(axis=-1)
    neighbours = (residuals[..., 1:] * residuals[..., :-1]).sum(axis=-1)
    r = np.divide(neighbours, squares, out=np.zeros_like(squares), where=squares > 0)
    rho = np.clip((n * r + 3) / (n - 5), 0.0, MAX_AUTOCORRELATION)
    errors = np.sqrt(squares / (n - 2) / spread * (1 + rho) / (1 - rho))
    return slopes * (n - 1), errors * (n - 1)
