"""One group as (trajectory, denoising step) pairs, which are independent of each other once the trajectories are drawn.

Invariant: pairs are ordered member by member, as `worker.scheduling.core.batching` indexes them in micro-batches.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch

from worker.contracts.prompts import Prompt
from worker.contracts.sections import SamplingSpec
from worker.engine.errors import NonFiniteError
from worker.engine.rollout.sde_kernel import SdeKernel
from worker.engine.trainer.learners.member_rows import member_rows, required_rows
from worker.engine.types import GroupBatch, Trajectories


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPairs:
    """The pairs of one group, as far as this rank was given them; tensors on the CPU."""

    group: int
    prompt: Prompt
    parts: tuple[Trajectories, ...]
    advantages: torch.Tensor
    """(members,): the advantage of each trajectory."""
    old_log_probs: torch.Tensor
    """(members, stored denoising steps): log-probs under the behaviour policy; NaN for members of no part."""
    steps: tuple[int, ...]
    """The stored denoising steps."""
    sigmas: torch.Tensor
    """(num_denoising_steps + 1,): the schedule that the trajectories were sampled on."""

    @classmethod
    def of(cls, group: GroupBatch) -> "GroupPairs":
        """The pairs of a group or of parts of it. Raises `ValueError` and `NonFiniteError` as `check_group`."""
        check_group(group)
        first = group.trajectories[0]
        old_log_probs = torch.full((len(group.advantages), len(first.sde_indices)), math.nan)
        for part in group.trajectories:
            old_log_probs[list(part.members)] = part.log_probs
        return cls(
            group=group.group,
            prompt=first.prompt,
            parts=group.trajectories,
            advantages=torch.tensor(group.advantages, dtype=torch.float32),
            old_log_probs=old_log_probs,
            steps=first.sde_indices,
            sigmas=first.sigmas,
        )

    def stored(self, pairs: Sequence[int], device: torch.device) -> "StoredPairs":
        """The transitions of `pairs` on `device`. Raises `ValueError` where no part holds one of them."""
        runs = [
            (self.steps[slot], [pair // len(self.steps) for pair in run])
            for slot, run in groupby(pairs, key=lambda pair: pair % len(self.steps))
        ]
        found: dict[tuple[int, tuple[int, ...]], torch.Tensor] = {}

        def state(step: int, members: list[int]) -> torch.Tensor:
            # The latents between two consecutive steps are copied once for both.
            key = step, tuple(members)
            if key not in found:
                found[key] = required_rows(
                    self.parts,
                    lambda part: part.states.get(step),
                    members,
                    device,
                    group=self.group,
                    what=f"latents {step}",
                )
            return found[key]

        rows = torch.tensor(pairs) // len(self.steps), torch.tensor(pairs) % len(self.steps)
        return StoredPairs(
            latents=_joined([state(step, members) for step, members in runs]),
            next_latents=_joined([state(step + 1, members) for step, members in runs]),
            indices=torch.tensor(self.steps)[rows[1]].to(device),
            old_log_probs=self.old_log_probs[rows].to(device),
            advantages=self.advantages[rows[0]].to(device),
            means=self._means(runs, device),
        )

    def _means(self, runs: list[tuple[int, list[int]]], device: torch.device) -> torch.Tensor | None:
        means = [
            member_rows(self.parts, lambda part, step=step: part.means.get(step), members, device)  # type: ignore[misc]
            for step, members in runs
        ]
        present = [mean for mean in means if mean is not None]
        return _joined(present) if len(present) == len(runs) else None

    def kernel(self, sampling: SamplingSpec, device: torch.device) -> SdeKernel:
        """The kernel on the exact sigmas the trajectories were drawn with."""
        return SdeKernel.of(sampling, self.sigmas.to(device))

    def describe(self, pair: int) -> str:
        """As `PreparedGroup.describe`."""
        member, slot = divmod(pair, len(self.steps))
        return f"group {self.group}, member {member}, denoising step {self.steps[slot]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPairs:
    """B transitions of a group as sampling stored them, on the model's device."""

    latents: torch.Tensor
    """(B, ...) fp32: x before the denoising step."""
    next_latents: torch.Tensor
    """(B, ...) fp32: x after the denoising step."""
    indices: torch.Tensor
    """(B,) int64: the denoising step of each pair."""
    old_log_probs: torch.Tensor
    """(B,): log-probs under the behaviour policy."""
    advantages: torch.Tensor
    """(B,): the advantage of each pair's trajectory."""
    means: torch.Tensor | None
    """(B, ...): means under the behaviour policy; `None` unless every pair has one."""


def _joined(runs: list[torch.Tensor]) -> torch.Tensor:
    return runs[0] if len(runs) == 1 else torch.cat(runs)


def check_group(group: GroupBatch) -> None:
    """Check that a group's trajectories and advantages agree.

    Raises:
        ValueError: for a member without an advantage, or trajectories whose schedules or steps differ.
        NonFiniteError: for an advantage that is not finite.
    """
    highest = max(max(part.members) for part in group.trajectories)
    if highest >= len(group.advantages):
        raise ValueError(
            f"`advantages` of group {group.group} must hold one value per member (at least {highest + 1}), "
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
