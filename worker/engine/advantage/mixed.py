"""One advantage from several rewards.

`sum`: the weighted sum of the raw scores is normalised as one reward would be. `normalised`: each reward's advantages
are computed on their own, so that its scale does not matter, and their weighted mean Σ wᵢAᵢ / Σ wᵢ is the advantage
(MixGRPO, arXiv 2507.21802, "advantage aggregation"; the same decoupling in GDPO, arXiv 2601.05242).

A score that is missing is neutral: it stands at the mean of the siblings that have it, which in `normalised` mixing is
an advantage of 0. A reward that no member of a group has says nothing about that group. The invariant kept: with no
score missing and one reward, both mixings are `worker.engine.advantage.group`'s advantages.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from worker.contracts.names import RewardMixing
from worker.engine.advantage.group import GroupAdvantages, batch_advantages, group_advantages

GroupScores = Mapping[str, Sequence[float | None]]
"""Scores of one complete group by reward, in member order; None where one is missing."""


def mixed_advantages(
    groups: Sequence[GroupScores],
    weights: Mapping[str, float],
    *,
    mixing: RewardMixing,
    clip: float,
    over_batch: bool,
) -> tuple[GroupAdvantages, ...]:
    """Advantages of each of `groups`.

    Args:
        groups: one, or with `over_batch` all of a batch.
        weights: of the trained rewards; scores of others are not looked at.
        mixing: how they become one.
        clip: bound on the absolute advantage.
        over_batch: divide by the spread of all groups together instead of each group's own.

    Raises:
        NonFiniteError: for a score that is not finite.
        ValueError: for a group of fewer than 2.
    """
    if mixing is RewardMixing.SUM:
        sums = [_weighted_sum(group, weights) for group in groups]
        return _advantages(sums, clip=clip, over_batch=over_batch)
    apart = {
        name: _advantages([_filled(group[name]) for group in groups], clip=clip, over_batch=over_batch)
        for name in weights
    }
    total = sum(weights.values())
    shares = {name: weight / total for name, weight in weights.items()}
    return tuple(
        _mean_of([(share, apart[name][index]) for name, share in shares.items()]) for index in range(len(groups))
    )


def _advantages(groups: Sequence[Sequence[float]], *, clip: float, over_batch: bool) -> tuple[GroupAdvantages, ...]:
    if over_batch:
        return batch_advantages(groups, clip=clip)
    return tuple(group_advantages(rewards, clip=clip) for rewards in groups)


def _mean_of(parts: Sequence[tuple[float, GroupAdvantages]]) -> GroupAdvantages:
    """Shares and advantages of one group; still within the clip, because the shares add up to 1."""
    values = sum(share * np.asarray(part.advantages) for share, part in parts)
    return GroupAdvantages(
        advantages=tuple(float(value) for value in np.atleast_1d(values)),
        zero_std=all(part.zero_std for _, part in parts),
    )


def _weighted_sum(group: GroupScores, weights: Mapping[str, float]) -> list[float]:
    parts = [weight * np.asarray(_filled(group[name])) for name, weight in weights.items()]
    return [float(value) for value in np.sum(parts, axis=0)]


def _filled(scores: Sequence[float | None]) -> list[float]:
    """Missing scores at the mean of the others; all 0 where there is none, which shifts no member against another."""
    known = [score for score in scores if score is not None]
    mean = float(np.mean(known)) if known else 0.0
    return [mean if score is None else score for score in scores]
