"""Online Diffusion-DPO (arXiv 2311.12908): a group's best samples against its worst, with the same noise added at the
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
    """The loss in the module's docstring."""

    def __init__(self, spec: DiffusionDpoSpec) -> None:
        self._beta = spec.beta

    def terms(self, winners: ForwardProcessBatch, losers: ForwardProcessBatch) -> LossTerms:
        """The loss of each pair, which is 0 for samples of equal advantage. Raises `ValueError` when reference
        velocities are missing."""
        delta = _excess_error(winners) - _excess_error(losers)
        loss = -logsigmoid(-0.5 * self._beta * delta)
        return LossTerms(loss=torch.where(winners.advantages > losers.advantages, loss, 0.0))


def preference_pairs(advantages: Sequence[float], num_preferences: int) -> list[tuple[int, int]]:
    """(winner, loser) by member index: best and worst, second best and second worst, …; ties in member order."""
    order = sorted(range(len(advantages)), key=lambda member: -advantages[member])
    return [(order[rank], order[-1 - rank]) for rank in range(num_preferences)]


def _excess_error(samples: ForwardProcessBatch) -> torch.Tensor:
    """The error of the policy's velocity above that of the reference, (B,)."""
    if samples.reference_velocities is None:
        raise ValueError("`reference_velocities` must be given: a preference is measured against the reference policy")
    target = samples.noise - samples.clean
    error = mean_over_sample((samples.velocities - target).square())
    return error - mean_over_sample((samples.reference_velocities - target).square())
