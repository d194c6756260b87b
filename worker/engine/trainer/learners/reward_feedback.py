"""Training on a differentiable reward, whose gradient flows back through the decoder and the last denoising steps.

```text
rollout lane: x_T ─ no gradient ─► stored x ─► … ─► picture ─► reward lanes: curves, gallery, watched rewards
                                      │
trainer lane:                         └─► last steps ─► decoder ─► differentiable rewards ─► loss ─► backward
```

The denoising steps without gradient stay on the rollout lanes, so batches, groups, lending and staleness work as for
every other algorithm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from worker.contracts.algorithms import AlgorithmNeeds
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.base import Feedback, RewardedSamples
from worker.engine.algorithms.reward_flow import penalty
from worker.engine.models.conditioning import Conditioning
from worker.engine.reward.differentiable import DifferentiableSum
from worker.engine.rollout.sde import ode_step
from worker.engine.trainer.learners.base import GateMode, MicroBatchLoss, ProximalInput
from worker.engine.trainer.learners.member_rows import required_rows
from worker.engine.trainer.learners.transition_pairs import check_group
from worker.engine.trainer.policy.policies import Policies
from worker.engine.types import GroupBatch, Trajectories
from worker.scheduling.core.batching import MicroBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialTrajectories:
    """The partly denoised samples of one group, as far as this rank was given them, from which denoising goes on with
    gradients. A unit is a member."""

    group: int
    prompt: Prompt
    parts: tuple[Trajectories, ...]
    index: int
    """The first denoising step that is taken with gradients."""
    sigmas: torch.Tensor
    """(num_denoising_steps + 1,): the schedule that the trajectories were sampled on."""

    def latents(self, members: Sequence[int], device: torch.device) -> torch.Tensor:
        """(len(members), ...) fp32: x before denoising step `index`. Raises `ValueError` where no part holds it."""
        return required_rows(
            self.parts,
            lambda part: part.states.get(self.index),
            members,
            device,
            group=self.group,
            what=f"latents {self.index}",
        )

    def describe(self, unit: int) -> str:
        """As `PreparedGroup.describe`."""
        return f"group {self.group}, member {unit}, denoising steps from {self.index} on"


class FeedbackLearner:
    """Finishes samples with gradients and trains on the reward of the result."""

    def __init__(self, policies: Policies, algorithm: Feedback, needs: AlgorithmNeeds, spec: RunSpec) -> None:
        self._policies = policies
        self._model = policies.model
        self._algorithm = algorithm
        self._needs = needs
        self._sampling = spec.sampling
        self._rewards = DifferentiableSum(spec.trained_rewards, policies.model.device)

    def conditioning(self, prompt: Prompt) -> Conditioning:
        return self._model.conditioning(prompt, self._sampling, training=True)

    def prepare(self, group: GroupBatch) -> PartialTrajectories:
        """The group's stored samples. Raises `ValueError` and `NonFiniteError` as `check_group`."""
        check_group(group)
        first = group.trajectories[0]
        return PartialTrajectories(
            group=group.group,
            prompt=first.prompt,
            parts=group.trajectories,
            index=first.sde_indices[0],
            sigmas=first.sigmas,
        )

    def __call__(
        self,
        prepared: PartialTrajectories,
        micro: MicroBatch,
        conditioning: Conditioning,
        *,
        gate: GateMode,
        is_monitored: bool,
        proximal: ProximalInput,
    ) -> MicroBatchLoss:
        sample = prepared.latents(micro.pairs, self._model.device)
        schedule = self._algorithm.gradient_sigmas(prepared.sigmas.to(self._model.device), prepared.index)
        penalties = []
        for sigma, sigma_next in pairwise(schedule):
            sigmas = sigma.expand(len(sample))
            velocity = self._policies.velocity(sample, sigmas, conditioning)
            if self._needs.reference:
                penalties.append(penalty(velocity, self._reference_velocity(sample, sigmas, conditioning), sigmas))
            sample = ode_step(velocity, sample, sigma, sigma_next).next_sample
        rewarded = RewardedSamples(
            rewards=self._rewards(self._pixels(sample), prepared.prompt),
            penalties=torch.stack(penalties).mean(0) if penalties else None,
        )
        terms = self._algorithm.terms(rewarded)
        return MicroBatchLoss(losses=terms.loss, kl=terms.kl)

    @torch.no_grad()
    def _reference_velocity(
        self, sample: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning
    ) -> torch.Tensor:
        assert self._policies.reference is not None, "made wherever the algorithm needs it"
        return self._policies.reference.velocity(sample.detach(), sigmas, conditioning)

    def _pixels(self, clean: torch.Tensor) -> torch.Tensor:
        sampling = self._sampling
        return self._model.pixels(clean, height=sampling.height, width=sampling.width, num_frames=sampling.num_frames)
