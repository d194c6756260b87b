"""Online Diffusion-DPO (arXiv 2311.12908): a group's best samples against its worst, as noised by the same eps at the
same sigma.

With the flow's error e = mean((v - (eps - x0))²) and delta = e(policy) - e(reference),
loss = -log sigmoid(-beta / 2 (delta of the winner - delta of the loser)).
"""

from collections.abc import Sequence

import torch
from torch.nn.functional import logsigmoid

from worker.contracts.algorithms import DiffusionDpoSpec
from worker.engine.algorithms.base import ForwardProcessBatch, LossTerms, mean_over_sample


class DiffusionDpo:
    def __init__(self, spec: DiffusionDpoSpec) -> None:
        self._beta = spec.beta

    def terms(self, winners: ForwardProcessBatch, losers: ForwardProcessBatch) -> LossTerms:
        """Loss of each pair; a pair of equally good samples has none. Raises `ValueError` without the reference."""
        won, lost = _excess(winners), _excess(losers)
        loss = -logsigmoid(-0.5 * self._beta * (won - lost))
        return LossTerms(loss=torch.where(winners.advantages > losers.advantages, loss, 0.0))


def preferences(advantages: Sequence[float], num_preferences: int) -> list[tuple[int, int]]:
    """(winner, loser) by member: best and worst, second best and second worst, …; equal ones in member order."""
    order = sorted(range(len(advantages)), key=lambda member: -advantages[member])
    return [(order[place], order[-1 - place]) for place in range(num_preferences)]


def _excess(samples: ForwardProcessBatch) -> torch.Tensor:
    """By how much the policy misses a sample's velocity more than the base model does, (B,)."""
    if samples.reference_velocities is None:
        raise ValueError("`reference_velocities` must be given: a preference is measured against the base model")
    target = samples.noise - samples.clean
    missed = mean_over_sample((samples.velocities - target).square())
    return missed - mean_over_sample((samples.reference_velocities - target).square())
