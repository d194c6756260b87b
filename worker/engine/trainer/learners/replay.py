"""Replay: the log-probs of stored transitions under the current policy, with the kernel that sampled them.

```text
stored transitions ─► velocity of the policy ─► kernel ─► log-prob, mean ─► ratio ─► loss of the algorithm
        │                                                       │
        └──────────── log-prob and mean stored in sampling ─────┴─► replay gate
```

The replay gate checks that sampling and replay are the same policy. Before the first optimizer step on a batch, the
policy being trained is the one that drew it, so its own replay is compared with what sampling stored. Stale data was
drawn by an older version, which is bound again from its published bytes and replays the monitored micro-batches. Its
pairs are clipped around the proximal policy (`worker.engine.algorithms.decoupled`), which is replayed where its
log-ratios do not follow from the pass itself or from an earlier one. Under `sampling.old_log_probs: trainer` the same
replay of fresh data takes the place of what sampling stored, in the loss and nowhere else.
"""

from dataclasses import dataclass, replace

import torch

from worker.contracts.algorithms import AlgorithmNeeds
from worker.contracts.names import OldLogProbs
from worker.contracts.prompts import Prompt
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import OldMeans, PolicyGradient, ProximalPairs, ReplayedPairs
from worker.engine.models.conditioning import Conditioning
from worker.engine.rollout.sde import SdeStep
from worker.engine.rollout.sde_kernel import SdeKernel
from worker.engine.trainer.learners.base import (
    GateMetrics,
    GateMode,
    MicroBatchLoss,
    ProximalInput,
    ProximalSource,
)
from worker.engine.trainer.learners.mean_errors import MeanErrors
from worker.engine.trainer.learners.transition_pairs import GroupPairs, StoredPairs
from worker.engine.trainer.policy.policies import Policies, Velocity
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class _Transitions:
    """B stored transitions and the kernel that sampled them."""

    kernel: SdeKernel
    pairs: StoredPairs

    def replay(self, velocity: Velocity, conditioning: Conditioning) -> SdeStep:
        """The stored transitions under the policy that predicts `velocity`."""
        pairs = self.pairs
        predicted = velocity(pairs.latents, self.kernel.sigmas[pairs.indices], conditioning)
        return self.kernel.step(predicted, pairs.latents, pairs.indices, next_sample=pairs.next_latents)

    def old_means(self, step: SdeStep, means: torch.Tensor | None = None) -> OldMeans:
        """How far the means of `step`, a replay of these pairs, are from `means`, by default from those stored in
        sampling."""
        means = self.pairs.means if means is None else means
        assert means is not None, "sampling keeps them for algorithms that need them"
        sigmas, indices = self.kernel.sigmas, self.pairs.indices
        return OldMeans(
            divergences=_divergences(step, means),
            stds=step.std.flatten(),
            step_sizes=sigmas[indices] - sigmas[indices + 1],
        )

    @torch.no_grad()
    def gate_metrics(self, step: SdeStep) -> GateMetrics:
        """How far `step`, a replay of these pairs, is from what sampling stored."""
        means = self.pairs.means
        ratios = torch.exp(step.log_prob - self.pairs.old_log_probs)
        errors = None if means is None else MeanErrors.of((step.mean - means).abs() / step.std)
        return GateMetrics(mean_errors=errors, ratio_deviation=(ratios - 1).abs().max())


class ReplayLearner:
    """Trains a policy gradient on stored transitions; a unit is a (trajectory, denoising step) pair."""

    def __init__(
        self,
        policies: Policies,
        algorithm: PolicyGradient,
        needs: AlgorithmNeeds,
        sampling: SamplingSpec,
    ) -> None:
        """`policies.behaviour` is needed for `GateMode.BEHAVIOUR_POLICY` only; without `policies.reference` the KL is
        not monitored."""
        self._policies = policies
        self._model = policies.model
        self._algorithm = algorithm
        self._needs = needs
        self._sampling = sampling
        self._recomputes = sampling.old_log_probs is OldLogProbs.TRAINER

    def conditioning(self, prompt: Prompt) -> Conditioning:
        return self._model.conditioning(prompt, self._sampling, training=True)

    def prepare(self, group: GroupBatch) -> GroupPairs:
        """The group's pairs. Raises as `GroupPairs.of`."""
        return GroupPairs.of(group)

    def __call__(
        self,
        prepared: GroupPairs,
        micro: MicroBatch,
        conditioning: Conditioning,
        *,
        gate: GateMode,
        is_monitored: bool,
        proximal: ProximalInput,
    ) -> MicroBatchLoss:
        device = self._model.device
        stored = _Transitions(
            kernel=prepared.kernel(self._sampling, device), pairs=prepared.stored(micro.pairs, device)
        )
        step = stored.replay(self._policies.velocity, conditioning)
        has_kl = self._needs.reference or (is_monitored and gate is not GateMode.OFF)
        kl = self._kl(stored, step, conditioning) if has_kl else None
        pairs = ReplayedPairs(
            log_probs=step.log_prob,
            old_log_probs=stored.pairs.old_log_probs,
            advantages=stored.pairs.advantages,
            kl=kl if self._needs.reference else None,
            old_means=stored.old_means(step) if self._needs.old_means else None,
        )
        proximal_log_ratios = None
        if self._recomputes and proximal.source is not ProximalSource.NONE:
            drawn, pairs = pairs, self._recomputed(pairs, stored, step, conditioning, proximal)
            proximal_log_ratios = pairs.old_log_probs - drawn.old_log_probs
        else:
            pairs = replace(pairs, proximal=self._proximal(pairs, stored, step, conditioning, proximal))
            proximal_log_ratios = None if pairs.proximal is None else pairs.proximal.log_ratios
        terms = self._algorithm.terms(pairs)
        return MicroBatchLoss(
            losses=terms.loss,
            ratios=terms.ratio,
            clipped=terms.clipped,
            kl=None if kl is None else kl.detach(),
            proximal_log_ratios=proximal_log_ratios,
            gate=self._gate_metrics(stored, step, conditioning, gate, is_monitored=is_monitored),
        )

    def _kl(self, stored: _Transitions, step: SdeStep, conditioning: Conditioning) -> torch.Tensor | None:
        """(B,), with gradient through `step`; `None` without a reference policy."""
        if self._policies.reference is None:
            return None
        with torch.no_grad():
            reference = stored.replay(self._policies.reference.velocity, conditioning)
        return stored.kernel.kl(step.mean, reference.mean, reference.std, stored.pairs.indices)

    def _proximal(
        self,
        pairs: ReplayedPairs,
        stored: _Transitions,
        step: SdeStep,
        conditioning: Conditioning,
        given: ProximalInput,
    ) -> ProximalPairs | None:
        """`pairs` under the proximal policy; `step` is their replay under the policy being trained."""
        if given.source is ProximalSource.NONE:
            return None
        if given.source is ProximalSource.RECORDED:
            assert given.log_ratios is not None, "given with this source"
            return ProximalPairs(log_ratios=given.log_ratios)
        with torch.no_grad():
            own = self._before_update(stored, step, conditioning, given.source)
            old_means = stored.old_means(own) if self._needs.old_means else None
            log_ratios = self._algorithm.log_ratios(replace(pairs, log_probs=own.log_prob, old_means=old_means))
        divergences = _divergences(step, own.mean.detach()) if self._needs.proximal_means else None
        return ProximalPairs(log_ratios=log_ratios.detach(), divergences=divergences)

    def _recomputed(
        self,
        pairs: ReplayedPairs,
        stored: _Transitions,
        step: SdeStep,
        conditioning: Conditioning,
        given: ProximalInput,
    ) -> ReplayedPairs:
        """`pairs` with the trainer's own old log-probs and means; `step` is their replay under the policy being
        trained."""
        if given.source is ProximalSource.RECORDED:
            assert given.log_ratios is not None and not self._needs.old_means, "means are replayed, not recorded"
            return replace(pairs, old_log_probs=pairs.old_log_probs + given.log_ratios)
        with torch.no_grad():
            own = self._before_update(stored, step, conditioning, given.source)
        old_means = stored.old_means(step, own.mean.detach()) if self._needs.old_means else None
        return replace(pairs, old_log_probs=own.log_prob.detach(), old_means=old_means)

    def _before_update(
        self, stored: _Transitions, step: SdeStep, conditioning: Conditioning, source: ProximalSource
    ) -> SdeStep:
        """The replay under the weights before the batch's first optimizer step: `step` itself as long as these are
        being trained, else that of the policy that holds them."""
        if source is not ProximalSource.REPLAYED:
            return step
        assert self._policies.behaviour is not None, "made wherever a batch is replayed after its first update"
        return stored.replay(self._policies.behaviour.velocity, conditioning)

    @torch.no_grad()
    def _gate_metrics(
        self, stored: _Transitions, step: SdeStep, conditioning: Conditioning, gate: GateMode, *, is_monitored: bool
    ) -> GateMetrics | None:
        if gate is GateMode.CURRENT_POLICY:
            return stored.gate_metrics(step)
        if gate is GateMode.OFF or not is_monitored:
            return None
        assert self._policies.behaviour is not None, "made wherever `max_staleness` allows stale data"
        return stored.gate_metrics(stored.replay(self._policies.behaviour.velocity, conditioning))


def _divergences(step: SdeStep, means: torch.Tensor) -> torch.Tensor:
    """mean((mean - other mean)²) / (2 std²) of each transition, (B,), from `means` (B, ...)."""
    return (step.mean - means).square().flatten(1).mean(1) / (2 * step.std.flatten().square())
