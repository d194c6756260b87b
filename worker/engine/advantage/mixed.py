"""One advantage from several rewards.

`sum`: the weighted sum of the raw scores is normalised as one reward would be. `normalised`: each reward's advantages
are computed on their own, so that its scale does not matter, and their weighted mean Σ wᵢAᵢ / Σ wᵢ is the advantage
(MixGRPO, arXiv 2507.21802, "advantage aggregation"; the same decoupling in GDPO, arXiv 2601.05242).

A score that is missing is neutral: it stands at the mean of the siblings that have it, or, where none has, at the
batch's, and it does not narrow the spread that the others are divided by. So a reward that no member of a group has
says nothing about that group, and a sample that lacks every trained reward has an advantage of 0. The invariant kept:
with no score missing and one reward, both mixings are `worker.engine.advantage.group`'s advantages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardMixing
from worker.engine.advantage.group import GroupAdvantages, check_rewards, group_advantages

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
    parts = {name: _filled([group[name] for group in groups]) for name in weights}
    if mixing is RewardMixing.SUM:
        return _advantages(_weighted_sums(parts, weights), clip=clip, over_batch=over_batch)
    apart = {name: _advantages(part, clip=clip, over_batch=over_batch) for name, part in parts.items()}
    total = sum(weights.values())
    shares = {name: weight / total for name, weight in weights.items()}
    return tuple(
        _mean_of([(share, apart[name][index]) for name, share in shares.items()]) for index in range(len(groups))
    )


@dataclass(frozen=True, slots=True)
class _Filled:
    """Scores of one group without a gap."""

    scores: NDArray[np.float64]
    """(members,)"""
    is_known: NDArray[np.bool_]
    """(members,): whose score is not a stand-in."""


def _filled(groups: Sequence[Sequence[float | None]]) -> list[_Filled]:
    """One reward's scores, missing ones at the mean of the group's others; of a group that has none, at the batch's."""
    known = [[score for score in group if score is not None] for group in groups]
    everywhere = _mean([score for scores in known for score in scores])
    return [
        _Filled(
            np.array([mean if score is None else score for score in group], dtype=np.float64),
            np.array([score is not None for score in group]),
        )
        for group, mean in zip(groups, (_mean(scores) if scores else everywhere for scores in known), strict=True)
    ]


def _mean(scores: Sequence[float]) -> float:
    """Of equal scores, that very score: a mean that is off by rounding would look like a difference. Of none, 0."""
    if not scores:
        return 0.0
    return scores[0] if min(scores) == max(scores) else float(np.mean(scores))


def _weighted_sums(parts: Mapping[str, Sequence[_Filled]], weights: Mapping[str, float]) -> list[_Filled]:
    """Group by group. A sum is known where each part is that any of the group has."""
    sums = []
    for group in zip(*parts.values(), strict=True):
        scores = np.sum([weights[name] * part.scores for name, part in zip(parts, group, strict=True)], axis=0)
        told = [part.is_known for part in group if part.is_known.any()]
        sums.append(_Filled(scores, np.all(told, axis=0) if told else np.zeros(len(scores), dtype=bool)))
    return sums


def _advantages(groups: Sequence[_Filled], *, clip: float, over_batch: bool) -> tuple[GroupAdvantages, ...]:
    owners = [f"group {index}" if over_batch else "group" for index in range(len(groups))]
    for owner, group in zip(owners, groups, strict=True):
        check_rewards(group.scores.tolist(), owner)
    spreads = [_spread(groups)] * len(groups) if over_batch else [_spread([group]) for group in groups]
    return tuple(
        group_advantages(group.scores.tolist(), clip=clip, std=spread, owner=owner)
        for owner, group, spread in zip(owners, groups, spreads, strict=True)
    )


def _spread(groups: Sequence[_Filled]) -> float:
    """Standard deviation over all samples, but not below that of the known ones: stand-ins lie close together."""
    scores = np.concatenate([group.scores for group in groups])
    known = scores[np.concatenate([group.is_known for group in groups])]
    return max(float(scores.std()), float(known.std()) if known.size else 0.0)


def _mean_of(parts: Sequence[tuple[float, GroupAdvantages]]) -> GroupAdvantages:
    """Shares and advantages of one group; still within the clip, because the shares add up to 1."""
    values = sum(share * np.asarray(part.advantages) for share, part in parts)
    return GroupAdvantages(
        advantages=tuple(float(value) for value in np.atleast_1d(values)),
        zero_std=all(part.zero_std for _, part in parts),
    )
