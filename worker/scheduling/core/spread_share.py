"""The share of draws without spread, measured in the run itself, and what follows from it for the work to be expected.

    complete draws of groups ──► SpreadShare ──► further draws of a group, share of groups that is trained on

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


def further_draws(without_spread: float, num_left: int) -> float:
    """Draws to be expected after the present one of a group, of which at most `num_left` are left and each has no
    spread with the probability `without_spread`: the sum of its powers from 1 to `num_left`.

    Draws of one group are taken to be independent. A prompt that is too easy or too hard lacks spread more often than
    others, so real groups are drawn again somewhat more often than this.
    """
    return sum(without_spread**draw for draw in range(1, num_left + 1))


def trained_share(algebra: BatchAlgebra, without_spread: float, num_left: int) -> float:
    """The probability that a group is trained on whose present draw is not known yet: always without a filter, else if
    it or one of the `num_left` draws after it has spread."""
    return 1 - without_spread ** (num_left + 1) if algebra.filter_groups else 1.0
