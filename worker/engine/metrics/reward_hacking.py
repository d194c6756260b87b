"""Detects the simplest sign of reward hacking: the trained reward rises while a watched one falls.

The rule: the newest `NUM_BATCHES` batches are compared with as many before them. A reward has risen, or fallen, when
the means of the two halves differ by more than `NUM_ERRORS` standard errors of their difference, which are estimated
from the variance of the batches' means within each half. Hacking is suspected while the trained reward has risen and a
watched reward has fallen. It is a hint to look at the pictures, not a proof: prompts differ from batch to batch.
"""

import math
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from worker.contracts.metric_names import Metric

NUM_BATCHES = 5
"""Batches in each half: few, so that hacking is noticed early, but enough to estimate a variance."""
NUM_ERRORS = 2.0
"""Standard errors of a significant change, at about 95 % confidence for one comparison."""


class HackingDetector:
    """Compares the trained reward with the watched ones; without watched rewards it never suspects anything."""

    def __init__(self, watched: Sequence[str]) -> None:
        """`watched` are the keys of the rewards that are only watched."""
        self.watched = tuple(watched)
        self._keys = {name: Metric.REWARD_PART.format(name=name) for name in self.watched}
        self._history: dict[str, deque[float]] = {}
        """By metric name: the newest means, oldest first."""
        self._falling: frozenset[str] = frozenset()
        """The watched rewards that have fallen while the trained one has risen."""
        self.clear()

    @property
    def is_suspected(self) -> bool:
        """Whether hacking is suspected now."""
        return bool(self._falling)

    def clear(self) -> None:
        """Forget all batches, since the run continues from a checkpoint."""
        self._history = {key: deque(maxlen=2 * NUM_BATCHES) for key in (Metric.REWARD_MEAN.value, *self._keys.values())}
        self._falling = frozenset()

    def add(self, means: Mapping[str, float]) -> list[str]:
        """Add one batch's means, by metric name; returns a warning for each watched reward that has begun to fall while
        the trained one rises."""
        for key, history in self._history.items():
            if key in means:
                history.append(means[key])
        rise = trend(self._history[Metric.REWARD_MEAN.value])
        falling = frozenset(name for name, key in self._keys.items() if rise > 0 and trend(self._history[key]) < 0)
        added, self._falling = falling - self._falling, falling
        return [
            f"reward hacking suspected: over the last {2 * NUM_BATCHES} batches the trained reward rose by {rise:.3g} "
            f"while the watched `{name}` fell by {-trend(self._history[self._keys[name]]):.3g}: look at the samples"
            for name in sorted(added)
        ]


def trend(means: Sequence[float]) -> float:
    """The mean of the newer half of `means` less that of the older; 0 where it is not significant or there are too few
    batches."""
    if len(means) < 2 * NUM_BATCHES:
        return 0.0
    older, newer = np.split(np.asarray(means, dtype=np.float64), 2)
    change = float(newer.mean() - older.mean())
    error = math.sqrt((older.var(ddof=1) + newer.var(ddof=1)) / NUM_BATCHES)
    return change if abs(change) > NUM_ERRORS * error else 0.0
