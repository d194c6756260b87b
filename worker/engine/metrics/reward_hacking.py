"""Does the trained reward rise while a watched one falls? The simplest sign of reward hacking.

The rule: the newest `NUM_BATCHES` batches are compared with as many before them. A reward has risen, or fallen, when
the means of the two halves lie further apart than `NUM_ERRORS` standard errors of their difference, which are taken
from the spread of the batches' means within each half. Hacking is suspected while the trained reward has risen and
some watched reward has fallen. It is a hint to look at the pictures, not a proof: prompts differ from batch to batch.
"""

import math
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from worker.contracts.metric_names import Metric

NUM_BATCHES = 5
NUM_ERRORS = 2.0


class HackingWatch:
    """`watched` are the keys of the rewards that are only watched; without any nothing is ever suspected."""

    def __init__(self, watched: Sequence[str]) -> None:
        self.watches = tuple(watched)
        self._keys = {name: Metric.REWARD_PART.format(name=name) for name in self.watches}
        self._history: dict[str, deque[float]] = {}
        self._falling: frozenset[str] = frozenset()
        self.clear()

    @property
    def is_suspected(self) -> bool:
        return bool(self._falling)

    def clear(self) -> None:
        """Forget all batches: the run goes on from a checkpoint."""
        self._history = {key: deque(maxlen=2 * NUM_BATCHES) for key in (Metric.REWARD_MEAN.value, *self._keys.values())}
        self._falling = frozenset()

    def add(self, means: Mapping[str, float]) -> list[str]:
        """Take one batch's means by metric name; returns a sentence for each watched reward newly under suspicion."""
        for key, history in self._history.items():
            if key in means:
                history.append(means[key])
        rise = trend(self._history[Metric.REWARD_MEAN.value])
        falling = frozenset(name for name, key in self._keys.items() if rise > 0 and trend(self._history[key]) < 0)
        begun, self._falling = falling - self._falling, falling
        return [
            f"reward hacking suspected: over the last {2 * NUM_BATCHES} batches the trained reward rose by {rise:.3g} "
            f"while the watched `{name}` fell by {-trend(self._history[self._keys[name]]):.3g}: look at the samples"
            for name in sorted(begun)
        ]


def trend(means: Sequence[float]) -> float:
    """How far the newer half of `means` lies above the older; 0 when that is within the noise, or they are too few."""
    if len(means) < 2 * NUM_BATCHES:
        return 0.0
    older, newer = np.split(np.asarray(means, dtype=np.float64), 2)
    change = float(newer.mean() - older.mean())
    error = math.sqrt((older.var(ddof=1) + newer.var(ddof=1)) / NUM_BATCHES)
    return change if abs(change) > NUM_ERRORS * error else 0.0
