"""What a forecast expects of groups that are not complete: further draws to generate, and how many will be trained on.

Invariant: where groups are neither drawn again nor filtered, or all draws so far had spread, nothing is expected.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.core.spread_share import further_draws, trained_share
from worker.scheduling.forecast.queueing import Indices


@dataclass(frozen=True, slots=True)
class UnknownGroups:
    """The incomplete groups of one batch."""

    algebra: BatchAlgebra
    draws_left: Mapping[int, int]
    """By incomplete group: how many more times it may be drawn."""
    without_spread: float
    """The share of draws without spread to be expected."""

    def with_further_draws(self, waiting_groups: Indices) -> Indices:
        """The groups of waiting fragments, with those of further draws. They wait as if their groups were complete
        already, spread evenly over the incomplete ones, since it is not known which will be drawn again."""
        number = round(sum(further_draws(self.without_spread, left) for left in self.draws_left.values()))
        if not number:
            return waiting_groups
        incomplete = list(self.draws_left)
        drawn = [incomplete[index * len(incomplete) // number] for index in range(number)]
        num_per_group = self.algebra.num_fragments_per_group
        return np.sort(np.concatenate([waiting_groups, np.repeat(drawn, num_per_group)]))

    def trained_share(self, num_known: int) -> float:
        """The share to be trained on, of these groups and `num_known` complete ones that will be."""
        if not self.draws_left:
            return 1.0
        expected = sum(trained_share(self.algebra, self.without_spread, left) for left in self.draws_left.values())
        return (num_known + expected) / (num_known + len(self.draws_left))
