"""Decoupled policy gradients (Hilton et al., arXiv 2110.00641; AReaL, arXiv 2505.24298): stale pairs are clipped around
a newer policy than the one that drew them.

PPO's ratio to the behaviour policy serves two ends: it corrects for who drew the pair, and it bounds how far an update
may go. The first needs the behaviour policy. The second needs any recent one, here the proximal policy: the weights at
the start of training on the batch. With r = policy / behaviour and w = proximal / behaviour,

    loss = min(w, cap) loss(r / w), w without gradient,

where loss(·) is the algorithm's own. While the policy is the proximal one, r / w is 1, so no pair is clipped however
old it is. Where behaviour and proximal policy are one, w is 1 and the loss is the algorithm's own. What neither clip
nor cap bounds is unchanged, since w (r / w) = r. Ratios are as each algorithm defines them.
"""

import torch

from worker.engine.algorithms.base import ReplayedPairs


def clipped_ratios(log_ratios: torch.Tensor, pairs: ReplayedPairs) -> torch.Tensor:
    """(B,), with gradient: r / w where the pairs have a proximal policy, else r."""
    if pairs.proximal is None:
        return torch.exp(log_ratios)
    return torch.exp(log_ratios - pairs.proximal.log_ratios)


def weighted(loss: torch.Tensor, pairs: ReplayedPairs, cap: float) -> torch.Tensor:
    """`loss` (B,), times min(w, cap) where the pairs have a proximal policy."""
    if pairs.proximal is None:
        return loss
    return torch.exp(pairs.proximal.log_ratios).clamp(max=cap) * loss
