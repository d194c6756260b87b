"""Drawing plans: what it takes to draw the trajectories of a fragment, and of several fragments in the same passes.

    request ─► plan of its fragment ─┐
    request ─► plan of its fragment ─┴─► joined, where steps and prompts allow it ─► one pass a denoising step

Invariant: joining changes how many rows a pass has, never what a fragment holds: its members, seeds and steps.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import torch

from worker.engine.algorithms.base import GroupSteps
from worker.engine.models.conditioning import Conditioning, joined
from worker.engine.types import GenerationRequest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawingPlan:
    """N trajectories that are drawn together."""

    requests: tuple[GenerationRequest, ...]
    """The fragments whose members they are, in order."""
    seeds: tuple[int, ...]
    """The noise seed of each trajectory."""
    latents: torch.Tensor
    """x_T, (N, ...)."""
    conditioning: Conditioning
    log_prob_conditioning: Conditioning | None = None
    """What the policy is trained with, where its guidance differs from that of sampling; else `None`."""
    steps: GroupSteps | None = None
    """The denoising steps that are stochastic and those that are stored; `None` for a deterministic drawing."""
    keep_means: bool = False
    """Whether the means of the stored transitions are stored too."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of trajectories of each fragment."""
        return tuple(len(request.fragment.members) for request in self.requests)


def joined_plans(plans: Iterable[DrawingPlan]) -> list[DrawingPlan]:
    """The same fragments in the same order, in as few plans as their steps and prompts allow."""
    found = list[DrawingPlan]()
    for _, alike in groupby(plans, key=lambda plan: (plan.steps, plan.keep_means)):
        group = list(alike)
        together = group[0] if len(group) == 1 else _joined(group)
        found += group if together is None else [together]
    return found


def _joined(plans: Sequence[DrawingPlan]) -> DrawingPlan | None:
    """One plan of plans with the same steps; `None` where their prompts' embeddings cannot be joined."""
    numbers = [len(plan.seeds) for plan in plans]
    conditioning = joined([plan.conditioning for plan in plans], numbers)
    for_log_probs = [plan.log_prob_conditioning for plan in plans if plan.log_prob_conditioning is not None]
    log_prob_conditioning = joined(for_log_probs, numbers) if for_log_probs else None
    if conditioning is None or (for_log_probs and log_prob_conditioning is None):
        return None
    return replace(
        plans[0],
        requests=tuple(request for plan in plans for request in plan.requests),
        seeds=tuple(seed for plan in plans for seed in plan.seeds),
        latents=torch.cat([plan.latents for plan in plans]),
        conditioning=conditioning,
        log_prob_conditioning=log_prob_conditioning,
    )
