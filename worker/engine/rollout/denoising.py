"""Draw trajectories: stochastic denoising steps inside the window, deterministic ones outside.

Only the denoising steps that are trained on are kept, in buffers filled in place; the rest of a trajectory is never
stored. The finished sample is returned anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from worker.engine.algorithms.base import GroupSteps
from worker.engine.models.base import Conditioning, ModelAdapter
from worker.engine.rollout.noise import step_noise
from worker.engine.rollout.sde import ode_step
from worker.engine.rollout.sde_kernel import SdeKernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions:
    """What the trained denoising steps saw, N trajectories and K of them; all fp32 on the CPU."""

    latents: torch.Tensor
    """(N, K, ...)"""
    next_latents: torch.Tensor
    """(N, K, ...), or (N, 0, ...) where transitions are not replayed."""
    log_probs: torch.Tensor
    """(N, K), or (N, 0) likewise."""
    means: torch.Tensor | None
    """(N, K, ...), where asked for."""

    @classmethod
    def empty(cls, steps: GroupSteps, like: torch.Tensor, keep_means: bool) -> "Transitions":
        """Room for `steps.trained`; what comes of them is kept where they are stochastic."""
        num_steps, num_drawn = len(steps.trained), len(set(steps.trained) & set(steps.stochastic))
        first, rest = like.shape[0], like.shape[1:]
        return cls(
            latents=torch.empty(first, num_steps, *rest),
            next_latents=torch.empty(first, num_drawn, *rest),
            log_probs=torch.empty(first, num_drawn),
            means=torch.empty(first, num_drawn, *rest) if keep_means else None,
        )


def sample_ode(
    model: ModelAdapter, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning
) -> torch.Tensor:
    """Denoise x_T deterministically; returns the clean latents (N, ...), fp32 on the model's device."""
    sample = latents.to(model.device)
    with torch.inference_mode():
        for index in range(len(sigmas) - 1):
            velocity = model.predict_velocity(sample, sigmas[index].expand(len(sample)), conditioning)
            sample = ode_step(velocity, sample, sigmas[index], sigmas[index + 1]).next_sample
    return sample


def sample_sde(
    model: ModelAdapter,
    latents: torch.Tensor,
    kernel: SdeKernel,
    conditioning: Conditioning,
    *,
    steps: GroupSteps,
    seeds: Sequence[int],
    keep_means: bool,
    scored_as: Conditioning | None = None,
) -> tuple[torch.Tensor, Transitions]:
    """Denoise x_T with the kernel at `steps.stochastic`; returns clean latents and what is kept of `steps.trained`.

    Where the policy is trained with another guidance than it is sampled with, `scored_as` says which: log-probs and
    means are then those of the policy that is trained, of the very samples drawn, so that replay finds them again.
    """
    sample, sigmas = latents.to(model.device), kernel.sigmas
    # Allocated outside inference mode: tensors born inside it may not be used by autograd in the same process.
    kept = Transitions.empty(steps, latents, keep_means)
    slots = {index: slot for slot, index in enumerate(steps.trained)}
    with torch.inference_mode():
        for index in range(len(sigmas) - 1):
            velocity = model.predict_velocity(sample, sigmas[index].expand(len(sample)), conditioning)
            # Drawn on the CPU while the device predicts: what is kept below waits for the device.
            noise = step_noise(seeds, index, latents.shape[1:]) if index in steps.stochastic else None
            slot = slots.get(index)
            if slot is not None:
                kept.latents[:, slot] = sample
            if noise is None:
                sample = ode_step(velocity, sample, sigmas[index], sigmas[index + 1]).next_sample
                continue
            step = scored = kernel.step(velocity, sample, index, noise=noise.to(model.device))
            if slot is not None:
                if scored_as is not None:
                    velocity = model.predict_velocity(sample, sigmas[index].expand(len(sample)), scored_as)
                    scored = kernel.step(velocity, sample, index, next_sample=step.next_sample)
                kept.next_latents[:, slot] = step.next_sample
                kept.log_probs[:, slot] = scored.log_prob
                if kept.means is not None:
                    kept.means[:, slot] = scored.mean
            sample = step.next_sample
    return sample, kept
