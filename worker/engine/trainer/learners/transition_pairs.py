"""One group as (trajectory, denoising step) pairs, which are independent of each other once the trajectories are drawn.

Invariant: pairs are ordered member by member, as `worker.scheduling.core.batching` indexes them in micro-batches.
"""

import math
from dataclasses import dataclass

import torch

from worker.contracts.prompts import Prompt
from worker.contracts.sections import SamplingSpec
from worker.engine.errors import NonFiniteError
from worker.engine.rollout.sde_kernel import SdeKernel
from worker.engine.types import GroupBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPairs:
    """The pairs of one group, P = members × stored denoising steps; tensors on the CPU."""

    group: int
    prompt: Prompt
    latents: torch.Tensor
    """(P, ...) fp32: x before the denoising step."""
    next_latents: torch.Tensor
    """(P, ...) fp32: x after the denoising step."""
    old_log_probs: torch.Tensor
    """(P,): log-probs under the behaviour policy."""
    advantages: torch.Tensor
    """(P,): the advantage of each pair's trajectory."""
    indices: torch.Tensor
    """(P,) int64: the denoising step of each pair."""
    means: torch.Tensor | None
    """(P, ...): means under the behaviour policy; `None` unless every fragment carries them."""
    sigmas: torch.Tensor
    """(num_denoising_steps + 1,): the schedule that the trajectories were sampled on."""
    num_steps: int
    """The number of stored denoising steps of each trajectory."""

    def __len__(self) -> int:
        return len(self.old_log_probs)

    @classmethod
    def of(cls, group: GroupBatch) -> "GroupPairs":
        """Flatten a group.

        Raises:
            ValueError: when there is not one advantage per member, or the fragments' schedules or steps differ.
            NonFiniteError: for an advantage that is not finite.
        """
        fragments = group.trajectories
        check_group(group)
        num_steps = len(fragments[0].sde_indices)
        means = [fragment.means for fragment in fragments if fragment.means is not None]
        return cls(
            group=group.group,
            prompt=fragments[0].prompt,
            latents=torch.cat([fragment.latents for fragment in fragments]).flatten(0, 1),
            next_latents=torch.cat([fragment.next_latents for fragment in fragments]).flatten(0, 1),
            old_log_probs=torch.cat([fragment.log_probs for fragment in fragments]).flatten(),
            advantages=torch.tensor(group.advantages, dtype=torch.float32).repeat_interleave(num_steps),
            indices=torch.tensor(fragments[0].sde_indices).repeat(len(group.advantages)),
            means=torch.cat(means).flatten(0, 1) if len(means) == len(fragments) else None,
            sigmas=fragments[0].sigmas,
            num_steps=num_steps,
        )

    def kernel(self, sampling: SamplingSpec, device: torch.device) -> SdeKernel:
        """The kernel on the exact sigmas the trajectories were drawn with."""
        return SdeKernel.of(sampling, self.sigmas.to(device))

    def describe(self, pair: int) -> str:
        """As `PreparedGroup.describe`."""
        return f"group {self.group}, member {pair // self.num_steps}, denoising step {int(self.indices[pair])}"


def check_group(group: GroupBatch) -> None:
    """Check that a group's fragments and advantages agree. Raises as `GroupPairs.of`."""
    num_members = sum(fragment.num_members for fragment in group.trajectories)
    if num_members != len(group.advantages):
        raise ValueError(
            f"`advantages` of group {group.group} must hold one value per member ({num_members}), "
            f"got {len(group.advantages)}"
        )
    first = group.trajectories[0]
    for other in group.trajectories[1:]:
        if other.sde_indices != first.sde_indices or not torch.equal(other.sigmas, first.sigmas):
            raise ValueError(
                f"fragments of group {group.group} must share `sde_indices` and `sigmas`: "
                "a window that differs within a group biases its advantages"
            )
    for member, advantage in enumerate(group.advantages):
        if not math.isfinite(advantage):
            raise NonFiniteError("advantage", f"group {group.group}, member {member}", advantage)
