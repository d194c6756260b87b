"""The share of draws without spread, measured in the run itself, and what follows from it for the work to be expected.

    complete groups, one draw each ──► SpreadShare ──► expected draws of a group, expected share of groups trained

Invariant: shares lie within 0 to 1, and without an observation a group is expected to have spread.
"""

from dataclasses import dataclass

from worker.contracts.algebra import BatchAlgebra

_DECAY = 0.99
"""A share rests on about the last 100 draws, a few batches of usual sizes: it drifts as the policy learns."""
_PRIOR_DRAWS = 8.0
"""Draws with spread that are assumed before the first one, so that one group alone does not make the share 1: the size
of a small batch, outweighed after the first usual one."""


@dataclass(slots=True)
class SpreadShare:
    """Observes complete draws; an older one weighs `_DECAY` times the next."""

    num_draws: float = 0.0
    """The number of draws observed, each times its weight."""
    num_without: float = 0.0
    """The number of those without spread, each times its weight."""

    @property
    def without_spread(self) -> float:
        """The share of draws without spread to be expected."""
        return self.num_without / (self.num_draws + _PRIOR_DRAWS)

    def observe(self, *, has_spread: bool) -> None:
        """Take in one complete draw of a group."""
        self.num_draws = self.num_draws * _DECAY + 1
        self.num_without = self.num_without * _DECAY + (not has_spread)


def expected_draws(algebra: BatchAlgebra, without_spread: float) -> float:
    """Draws of a group, its first included, where each draw has no spread with this probability: the sum of
    `without_spread`^k over k from 0 to `max_resamples`.

    Draws of one group are taken to be independent. A prompt that is too easy or too hard lacks spread more often than
    others, so real groups are drawn again somewhat more often than this.
    """
    return sum(without_spread**draw for draw in range(algebra.max_resamples + 1))


def expected_trained_share(algebra: BatchAlgebra, without_spread: float) -> float:
    """The share of groups that are trained on: those with spread in one of their draws, or all without a filter.
    `without_spread`: as for `expected_draws`."""
    return 1 - without_spread ** (algebra.max_resamples + 1) if algebra.filter_groups else 1.0
