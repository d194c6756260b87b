"""Training on a differentiable reward: its gradient goes back through decoder and the last denoising steps.

```text
rollout lane: x_T ─ no gradient ─► x kept ─► … ─► picture ─► reward lanes: curves, gallery, watched rewards
                                      │
trainer lane:                         └─► last steps ─► decoder ─► differentiable rewards ─► loss ─► backward
```

What needs no gradient is a rollout lane's work, so that batches, groups, lending and staleness are as ever; colocated
placement, where the same lanes do both in turn, is ROLL's one cluster.
"""

from dataclasses import dataclass
from itertools import pairwise

import torch

from worker.contracts.algorithms import AlgorithmNeeds
from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.base import Feedback, RewardedSamples
from worker.engine.algorithms.reward_flow import penalty
from worker.engine.models.base import Conditioning
from worker.engine.reward.differentiable import DifferentiableSum
from worker.engine.rollout.sde import ode_step
from worker.engine.trainer.learners.replay import Gate, Replayed
from worker.engine.trainer.learners.transition_pairs import check_group
from worker.engine.trainer.policy.policies import Policies
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialTrajectories:
    """The samples of one group where the gradient's denoising steps start; tensors on the CPU, one unit a member."""

    group: int
    prompt: str
    latents: torch.Tensor
    """(members, ...) fp32"""
    index: int
    """The denoising step that comes next."""
    sigmas: torch.Tensor

    def __len__(self) -> int:
        return len(self.latents)

    def place(self, unit: int) -> str:
        return f"group {self.group}, member {unit}, denoising steps from {self.index} on"


class FeedbackLearner:
    def __init__(self, policies: Policies, algorithm: Feedback, needs: AlgorithmNeeds, spec: RunSpec) -> None:
        self._policies = policies
        self._model = policies.model
        self._algorithm = algorithm
        self._needs = needs
        self._sampling = spec.sampling
        self._rewards = DifferentiableSum(spec.trained_rewards, policies.model.device)

    def conditioning(self, prompt: str) -> Conditioning:
        return self._model.conditioning(prompt, self._sampling, training=True)

    def take(self, group: GroupBatch) -> PartialTrajectories:
        """Raises `ValueError` and `NonFiniteError` as `check_group`."""
        check_group(group)
        first = group.trajectories[0]
        return PartialTrajectories(
            group=group.group,
            prompt=first.prompt,
            latents=torch.cat([fragment.latents[:, 0] for fragment in group.trajectories]),
            index=first.sde_indices[0],
            sigmas=first.sigmas,
        )

    def __call__(
        self,
        held: PartialTrajectories,
        micro: MicroBatch,
        conditioning: Conditioning,
        *,
        gate: Gate,
        is_watched: bool,
        is_stale: bool,
    ) -> Replayed:
        sample = held.latents[torch.tensor(micro.pairs)].to(self._model.device)
        path = self._algorithm.path(held.sigmas.to(self._model.device), held.index)
        penalties = []
        for sigma, sigma_next in pairwise(path):
            sigmas = sigma.expand(len(sample))
            velocity = self._policies.velocity(sample, sigmas, conditioning)
            if self._needs.reference:
                penalties.append(penalty(velocity, self._reference(sample, sigmas, conditioning), sigmas))
            sample = ode_step(velocity, sample, sigma, sigma_next).next_sample
        judged = RewardedSamples(
            rewards=self._rewards(self._pixels(sample), held.prompt),
            penalties=torch.stack(penalties).mean(0) if penalties else None,
        )
        terms = self._algorithm.terms(judged)
        return Replayed(losses=terms.loss, kl=terms.kl)

    @torch.no_grad()
    def _reference(self, sample: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning) -> torch.Tensor:
        assert self._policies.reference is not None, "made wherever the algorithm needs it"
        return self._policies.reference.velocity(sample.detach(), sigmas, conditioning)

    def _pixels(self, clean: torch.Tensor) -> torch.Tensor:
        sampling = self._sampling
        return self._model.pixels(clean, height=sampling.height, width=sampling.width, num_frames=sampling.num_frames)
