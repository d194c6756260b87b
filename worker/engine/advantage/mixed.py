"""One advantage from several rewards.

`sum`: the weighted sum of the raw scores is normalised as one reward would be. `normalised`: each reward's advantages
are computed on their own, so that its scale does not matter, and their weighted mean Σ wᵢAᵢ / Σ wᵢ is the advantage
(MixGRPO, arXiv 2507.21802, "advantage aggregation"; the same decoupling in GDPO, arXiv 2601.05242).

A missing score is neutral. It is filled with the mean of the group's other scores, or with the batch's mean where the
group has none, and filled scores do not lower the standard deviation that the others are divided by. So a reward that
no member of a group has does not change the group's advantages, and a sample that lacks every trained reward has an
advantage of 0. Invariant: with one reward and no missing score, both mixings equal `worker.engine.advantage.group`.

A group has spread where what its advantages are made of differs: the weighted sum, or with `normalised` any of the
rewards. So rewards that cancel out leave no spread in their sum and some in their advantages. It follows from the
group's own scores alone, so it is known as soon as the group is scored, also where advantages need the whole batch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardMixing
from worker.engine.advantage.group import GroupAdvantages, check_rewards, differ, group_advantages, no_advantages

GroupScores = Mapping[str, Sequence[float | None]]
"""The scores of one complete group by reward, in member order; `None` for a missing score."""


def mixed_advantages(
    groups: Sequence[GroupScores],
    weights: Mapping[str, float],
    *,
    mixing: RewardMixing,
    clip: float,
    over_batch: bool,
) -> tuple[GroupAdvantages, ...]:
    """The advantages of each of `groups`.

    Args:
        groups: the scores of one group, or with `over_batch` of all groups of a batch.
        weights: the weight of each trained reward; scores of other rewards are ignored.
        mixing: how several rewards become one advantage.
        clip: bound on the absolute advantage.
        over_batch: divide by the standard deviation over all groups instead of each group's own.

    Raises:
        NonFiniteError: for a score of a trained reward that is not finite.
        ValueError: for a group with fewer than 2 members.
    """
    computed = _mixed(groups, weights, mixing=mixing, clip=clip, over_batch=over_batch)
    return tuple(
        advantages if has_spread(group, weights, mixing=mixing) else no_advantages(len(advantages.advantages))
        for group, advantages in zip(groups, computed, strict=True)
    )


def has_spread(group: GroupScores, weights: Mapping[str, float], *, mixing: RewardMixing) -> bool:
    """Whether a complete group has spread, as in the module's docstring. A reward that none of its members has does not
    count. Arguments as for `mixed_advantages`."""
    given = {name: _fill([group[name]]) for name in weights if any(score is not None for score in group[name])}
    made_of = list(given.values()) if mixing is RewardMixing.NORMALISED else [_weighted_sums(given, weights)]
    return bool(given) and any(differ(filled.scores) for (filled,) in made_of)


def _mixed(
    groups: Sequence[GroupScores], weights: Mapping[str, float], *, mixing: RewardMixing, clip: float, over_batch: bool
) -> tuple[GroupAdvantages, ...]:
    """The advantages of each of `groups`, whether or not it has spread. Arguments and errors as `mixed_advantages`."""
    filled = {name: _fill([group[name] for group in groups]) for name in weights}
    if mixing is RewardMixing.SUM:
        return _advantages(_weighted_sums(filled, weights), clip=clip, over_batch=over_batch)
    advantages = {name: _advantages(scores, clip=clip, over_batch=over_batch) for name, scores in filled.items()}
    total = sum(weights.values())
    shares = {name: weight / total for name, weight in weights.items()}
    return tuple(
        _weighted_mean([(share, advantages[name][index]) for name, share in shares.items()])
        for index in range(len(groups))
    )


@dataclass(frozen=True, slots=True)
class _FilledScores:
    """One reward's scores of one group, with missing ones filled."""

    scores: NDArray[np.float64]
    """(members,)"""
    is_known: NDArray[np.bool_]
    """(members,): whether the score was given and not filled."""


def _fill(groups: Sequence[Sequence[float | None]]) -> list[_FilledScores]:
    """One reward's scores of each group, missing ones filled as in the module's docstring."""
    known = [[score for score in group if score is not None] for group in groups]
    batch_mean = _mean([score for scores in known for score in scores])
    return [
        _FilledScores(
            np.array([mean if score is None else score for score in group], dtype=np.float64),
            np.array([score is not None for score in group]),
        )
        for group, mean in zip(groups, (_mean(scores) if scores else batch_mean for scores in known), strict=True)
    ]


def _mean(scores: Sequence[float]) -> float:
    """The mean, 0 of none. Of equal scores it is exactly that score: a rounding error would look like a difference."""
    if not scores:
        return 0.0
    return scores[0] if min(scores) == max(scores) else float(np.mean(scores))


def _weighted_sums(filled: Mapping[str, Sequence[_FilledScores]], weights: Mapping[str, float]) -> list[_FilledScores]:
    """The weighted sum over rewards, for each group. A member's sum counts as known if all its scores are, rewards that
    no member of the group has left aside."""
    sums = []
    for group in zip(*filled.values(), strict=True):
        scores = np.sum([weights[name] * reward.scores for name, reward in zip(filled, group, strict=True)], axis=0)
        are_known = [reward.is_known for reward in group if reward.is_known.any()]
        is_known = np.all(are_known, axis=0) if are_known else np.zeros(len(scores), dtype=bool)
        sums.append(_FilledScores(scores, is_known))
    return sums


def _advantages(groups: Sequence[_FilledScores], *, clip: float, over_batch: bool) -> tuple[GroupAdvantages, ...]:
    owners = [f"group {index}" if over_batch else "group" for index in range(len(groups))]
    for owner, group in zip(owners, groups, strict=True):
        check_rewards(group.scores.tolist(), owner)
    stds = [_std(groups)] * len(groups) if over_batch else [_std([group]) for group in groups]
    return tuple(
        group_advantages(group.scores.tolist(), clip=clip, std=std, owner=owner)
        for owner, group, std in zip(owners, groups, stds, strict=True)
    )


def _std(groups: Sequence[_FilledScores]) -> float:
    """The standard deviation over all members of `groups`, but at least that of the known scores, since filled scores
    lie at a mean and lower it."""
    scores = np.concatenate([group.scores for group in groups])
    known = scores[np.concatenate([group.is_known for group in groups])]
    return max(float(scores.std()), float(known.std()) if known.size else 0.0)


def _weighted_mean(rewards: Sequence[tuple[float, GroupAdvantages]]) -> GroupAdvantages:
    """The mean of one group's advantages over (share, advantages) of each reward; within the clip, since the shares add
    up to 1."""
    values = sum(share * np.asarray(reward.advantages) for share, reward in rewards)
    return GroupAdvantages(
        advantages=tuple(float(value) for value in np.atleast_1d(values)),
        zero_std=all(reward.zero_std for _, reward in rewards),
    )
