"""Replay: score stored transitions under the current policy, with the kernel that drew them.

The replay gate asks whether sampling and replay are the same policy. Where no optimizer step lies between, the policy
being trained is still the one that drew, and its own replay answers. For stale data the published bytes of the
trajectories' version are bound once more, beside the weights being trained, and replay the watched micro-batches.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Self

import torch

from worker.contracts.algorithms import AlgorithmNeeds
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import OldMeans, PolicyGradient, ReplayedPairs
from worker.engine.models.base import Conditioning
from worker.engine.rollout.sde import SdeStep
from worker.engine.rollout.sde_kernel import SdeKernel
from worker.engine.trainer.learners.transition_pairs import GroupPairs
from worker.engine.trainer.policy.policies import Policies, Velocity
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch


class Gate(Enum):
    """Who stands for the policy that drew the pairs when the replay gate is judged on them."""

    OFF = auto()
    LIVE = auto()
    """The policy being trained: its replay is there anyway, so all pairs are judged."""
    BEHAVIOUR = auto()
    """Its published bytes, bound again; judged on the watched micro-batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFigures:
    """Scalars."""

    mean_error: torch.Tensor | None
    """max |μ_replay − μ_rollout| / std, where the pairs carry their means."""
    ratio_deviation: torch.Tensor
    """max |ratio − 1|."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One micro-batch of B pairs. `losses` carries the gradient; the rest is detached."""

    losses: torch.Tensor
    """(B,)"""
    ratios: torch.Tensor | None = None
    """(B,), where the algorithm has them."""
    clipped: torch.Tensor | None = None
    """(B,) bool, likewise."""
    kl: torch.Tensor | None = None
    """(B,); `None` where it was not measured."""
    gate: GateFigures | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """Some pairs of a group as they were stored, on the device."""

    kernel: SdeKernel
    latents: torch.Tensor
    next_latents: torch.Tensor
    indices: torch.Tensor
    old_log_probs: torch.Tensor
    means: torch.Tensor | None

    @classmethod
    def of(cls, pairs: GroupPairs, rows: torch.Tensor, sampling: SamplingSpec, device: torch.device) -> Self:
        return cls(
            kernel=pairs.kernel(sampling, device),
            latents=pairs.latents[rows].to(device),
            next_latents=pairs.next_latents[rows].to(device),
            indices=pairs.indices[rows].to(device),
            old_log_probs=pairs.old_log_probs[rows].to(device),
            means=None if pairs.means is None else pairs.means[rows].to(device),
        )

    def replay(self, velocity: Velocity, conditioning: Conditioning) -> SdeStep:
        predicted = velocity(self.latents, self.kernel.sigmas[self.indices], conditioning)
        return self.kernel.step(predicted, self.latents, self.indices, next_sample=self.next_latents)

    def compare(self, step: SdeStep) -> OldMeans:
        """Where the means of `step`, a replay of these pairs, have moved to."""
        assert self.means is not None, "sampling keeps them for algorithms that need them"
        return OldMeans(
            divergences=(step.mean - self.means).square().flatten(1).mean(1) / (2 * step.std.flatten().square()),
            stds=step.std.flatten(),
            step_sizes=self.kernel.sigmas[self.indices] - self.kernel.sigmas[self.indices + 1],
        )

    @torch.no_grad()
    def judge(self, step: SdeStep) -> GateFigures:
        """How far `step`, a replay of these pairs, is from what sampling stored."""
        ratios = torch.exp(step.log_prob - self.old_log_probs)
        error = None if self.means is None else ((step.mean - self.means).abs() / step.std).max()
        return GateFigures(mean_error=error, ratio_deviation=(ratios - 1).abs().max())


class Replayer:
    """Forward passes of one trainer rank."""

    def __init__(
        self,
        policies: Policies,
        algorithm: PolicyGradient,
        needs: AlgorithmNeeds,
        sampling: SamplingSpec,
    ) -> None:
        """The second policy is needed for `Gate.BEHAVIOUR` alone. Without a reference no KL is watched."""
        self._policies = policies
        self._model = policies.model
        self._algorithm = algorithm
        self._needs = needs
        self._sampling = sampling

    def conditioning(self, prompt: str) -> Conditioning:
        return self._model.conditioning(prompt, self._sampling, training=True)

    def take(self, group: GroupBatch) -> GroupPairs:
        """Raises as `GroupPairs.of`."""
        return GroupPairs.of(group)

    def __call__(
        self,
        pairs: GroupPairs,
        micro: MicroBatch,
        conditioning: Conditioning,
        *,
        gate: Gate,
        is_watched: bool,
        is_stale: bool,
    ) -> Replayed:
        rows = torch.tensor(micro.pairs)
        stored = _Stored.of(pairs, rows, self._sampling, self._model.device)
        step = stored.replay(self._policies.velocity, conditioning)
        is_measured = self._needs.reference or (is_watched and gate is not Gate.OFF)
        kl = self._kl(stored, step, conditioning) if is_measured else None
        terms = self._algorithm.terms(
            ReplayedPairs(
                log_probs=step.log_prob,
                old_log_probs=stored.old_log_probs,
                advantages=pairs.advantages[rows].to(step.log_prob.device),
                kl=kl if self._needs.reference else None,
                is_stale=is_stale,
                old_means=stored.compare(step) if self._needs.old_means else None,
            )
        )
        return Replayed(
            losses=terms.loss,
            ratios=terms.ratio,
            clipped=terms.clipped,
            kl=None if kl is None else kl.detach(),
            gate=self._judge(stored, step, conditioning, gate, is_watched=is_watched),
        )

    def _kl(self, stored: _Stored, step: SdeStep, conditioning: Conditioning) -> torch.Tensor | None:
        if self._policies.reference is None:
            return None
        with torch.no_grad():
            reference = stored.replay(self._policies.reference.velocity, conditioning)
        return stored.kernel.kl(step.mean, reference.mean, reference.std, stored.indices)

    @torch.no_grad()
    def _judge(
        self, stored: _Stored, step: SdeStep, conditioning: Conditioning, gate: Gate, *, is_watched: bool
    ) -> GateFigures | None:
        if gate is Gate.LIVE:
            return stored.judge(step)
        if gate is Gate.OFF or not is_watched:
            return None
        assert self._policies.second is not None, "made wherever `max_staleness` allows stale data"
        return stored.judge(stored.replay(self._policies.second.velocity, conditioning))
