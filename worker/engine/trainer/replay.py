"""Replay: score stored transitions under the current policy, with the kernel that drew them."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import Algorithm, ReplayedPairs
from worker.engine.models.base import Conditioning, ModelAdapter
from worker.engine.models.lora import lora_disabled
from worker.engine.rollout.sde import SdeStep
from worker.engine.trainer.pairs import GroupPairs, MicroBatch

WATCHED_STRIDE = 10
"""Where nothing trains on the KL, every tenth fresh pair is compared with the reference: a curve for 3 % of a pass."""

Velocity = Callable[[torch.Tensor, torch.Tensor, Conditioning], torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One micro-batch of B pairs. `losses` carries the gradient; the rest is detached."""

    losses: torch.Tensor
    """(B,)"""
    ratios: torch.Tensor
    """(B,)"""
    clipped: torch.Tensor
    """(B,) bool"""
    kl: torch.Tensor | None
    """(B,), or fewer where it is only watched; `None` where it was not measured."""
    mean_error: torch.Tensor | None
    """max |μ_replay − μ_rollout| / std, a scalar; on fresh data that carries its means."""


class Replayer:
    """Forward passes of one trainer rank; `velocity` is the policy as DeepSpeed wraps it."""

    def __init__(self, model: ModelAdapter, velocity: Velocity, algorithm: Algorithm, sampling: SamplingSpec) -> None:
        self._model = model
        self._velocity = velocity
        self._algorithm = algorithm
        self._sampling = sampling

    def conditioning(self, prompt: str) -> Conditioning:
        return Conditioning(
            prompt=self._model.encode_prompt(prompt),
            height=self._sampling.height,
            width=self._sampling.width,
            guidance_scale=self._sampling.guidance_scale,
        )

    def __call__(self, pairs: GroupPairs, micro: MicroBatch, conditioning: Conditioning, *, fresh: bool) -> Replayed:
        device, rows = self._model.device, slice(micro.start, micro.end)
        kernel = pairs.kernel(self._sampling, device)
        indices = pairs.indices[rows].to(device)
        latents = pairs.latents[rows].to(device)
        sigmas = kernel.sigmas[indices]
        next_latents = pairs.next_latents[rows].to(device)
        velocity = self._velocity(latents, sigmas, conditioning)
        step = kernel.step(velocity, latents, indices, next_sample=next_latents)
        trains_on_kl = self._algorithm.needs_reference
        kl = None
        if trains_on_kl or fresh:
            compared = slice(None) if trains_on_kl else slice(None, None, WATCHED_STRIDE)
            with torch.no_grad(), lora_disabled(self._model.transformer):
                reference = self._model.predict_velocity(latents[compared], sigmas[compared], conditioning)
            of_reference = kernel.step(
                reference, latents[compared], indices[compared], next_sample=next_latents[compared]
            )
            kl = kernel.kl(step.mean[compared], of_reference.mean, of_reference.std, indices[compared])
        terms = self._algorithm.terms(
            ReplayedPairs(
                log_probs=step.log_prob,
                old_log_probs=pairs.old_log_probs[rows].to(device),
                advantages=pairs.advantages[rows].to(device),
                kl=kl if trains_on_kl else None,
            )
        )
        return Replayed(
            losses=terms.loss,
            ratios=terms.ratio,
            clipped=terms.clipped,
            kl=None if kl is None else kl.detach(),
            mean_error=_mean_error(step, pairs.means, rows) if fresh else None,
        )


def _mean_error(step: SdeStep, means: torch.Tensor | None, rows: slice) -> torch.Tensor | None:
    if means is None:
        return None
    with torch.no_grad():
        return ((step.mean - means[rows].to(step.mean.device)).abs() / step.std).max()
