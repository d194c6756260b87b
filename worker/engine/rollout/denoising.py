"""Draw trajectories: stochastic denoising steps inside the window, deterministic ones outside.

Only the denoising steps that are trained on are stored, in preallocated buffers, and the finished samples are returned
beside them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from worker.engine.algorithms.base import GroupSteps
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.rollout.noise import step_noise
from worker.engine.rollout.sde import SdeStep, ode_step
from worker.engine.rollout.sde_kernel import SdeKernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions:
    """The K trained denoising steps of N trajectories; all tensors fp32 on the CPU."""

    states: dict[int, torch.Tensor]
    """By denoising step, (N, ...): x before it. There is one for each trained step and for the step after each that is
    stochastic, so that consecutive steps share the latents between them."""
    log_probs: torch.Tensor
    """(N, K): log-probs of the transitions; (N, 0) where the steps are deterministic."""
    means: dict[int, torch.Tensor]
    """By trained denoising step, (N, ...): the mean of its transition; empty where means are not asked for."""

    @classmethod
    def empty(cls, steps: GroupSteps, like: torch.Tensor, keep_means: bool) -> "Transitions":
        """Uninitialised buffers for `steps.trained` of trajectories like `like` (N, ...). States and means lie side by
        side in memory, so that they travel as one buffer."""
        replayed = [step for step in steps.trained if step in steps.stochastic]
        stored = sorted({*steps.trained, *(step + 1 for step in replayed)})
        kept = replayed if keep_means else []
        tensors = iter(torch.empty(len(stored) + len(kept), *like.shape))
        return cls(
            states={step: next(tensors) for step in stored},
            log_probs=torch.empty(len(like), len(replayed)),
            means={step: next(tensors) for step in kept},
        )

    @classmethod
    def joined(cls, parts: "Sequence[Transitions]") -> "Transitions":
        """The transitions of all trajectories of `parts`, in order; what `split` undoes."""
        if len(parts) == 1:
            return parts[0]
        first, number = parts[0], sum(len(part.log_probs) for part in parts)
        tensors = [[*part.states.values(), *part.means.values()] for part in parts]
        # There are none where an algorithm trains on finished samples.
        buffers = torch.empty(len(tensors[0]), number, *tensors[0][0].shape[1:]) if tensors[0] else ()
        for buffer, pieces in zip(buffers, zip(*tensors, strict=True), strict=True):
            torch.cat(pieces, out=buffer)
        copies = iter(buffers)
        return cls(
            states={step: next(copies) for step in first.states},
            log_probs=torch.cat([part.log_probs for part in parts]),
            means={step: next(copies) for step in first.means},
        )

    def split(self, numbers: Sequence[int]) -> "list[Transitions]":
        """The transitions of the first `numbers[0]` trajectories, of the next `numbers[1]` and so on, each in buffers
        of its own as `empty` makes them."""
        found, first = list[Transitions](), 0
        tensors = [*self.states.values(), *self.means.values()]
        for number in numbers:
            rows = slice(first, first + number)
            # There are none where an algorithm trains on finished samples.
            copies = iter(torch.stack([tensor[rows] for tensor in tensors]) if tensors else ())
            found.append(
                Transitions(
                    states={step: next(copies) for step in self.states},
                    log_probs=self.log_probs[rows].clone(),
                    means={step: next(copies) for step in self.means},
                )
            )
            first += number
        return found

    def reached(self, step: int, sample: torch.Tensor) -> None:
        """Store `sample`, x before denoising step `step` or at the end, if it is trained on."""
        if step in self.states:
            self.states[step].copy_(sample)

    def store(self, slot: int, step: int, scored: SdeStep) -> None:
        """Store log-prob and mean, as `scored`, of the transition at denoising step `step`, the trained step number
        `slot`."""
        self.log_probs[:, slot] = scored.log_prob
        if step in self.means:
            self.means[step].copy_(scored.mean)


def sample_ode(
    model: ModelAdapter, latents: torch.Tensor, sigmas: torch.Tensor, conditioning: Conditioning
) -> torch.Tensor:
    """Denoise x_T (N, ...) deterministically; returns the clean latents (N, ...), fp32 on the model's device."""
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
    log_prob_conditioning: Conditioning | None = None,
) -> tuple[torch.Tensor, Transitions]:
    """Denoise x_T with the stochastic kernel at `steps.stochastic` and deterministically elsewhere.

    Args:
        model: the policy.
        latents: x_T, (N, ...).
        kernel: the SDE on the run's schedule.
        conditioning: what is sampled with.
        steps: which denoising steps are stochastic, and which are stored.
        seeds: the noise seed of each trajectory.
        keep_means: store the means of the transitions too.
        log_prob_conditioning: what is trained with, where its guidance differs from `conditioning`. Log-probs and means
            of the drawn transitions are then computed with it, so that replay reproduces them.

    Returns:
        The clean latents (N, ...), fp32 on the model's device, and the stored transitions.
    """
    sample, sigmas = latents.to(model.device), kernel.sigmas
    # Allocated outside inference mode: autograd refuses tensors that are created inside.
    transitions = Transitions.empty(steps, latents, keep_means)
    slots = {index: slot for slot, index in enumerate(steps.trained)}
    with torch.inference_mode():
        for index in range(len(sigmas) - 1):
            velocity = model.predict_velocity(sample, sigmas[index].expand(len(sample)), conditioning)
            # Drawn on the CPU while the device predicts: the copies into `transitions` below wait for the device.
            noise = step_noise(seeds, index, latents.shape[1:]) if index in steps.stochastic else None
            slot = slots.get(index)
            transitions.reached(index, sample)
            if noise is None:
                sample = ode_step(velocity, sample, sigmas[index], sigmas[index + 1]).next_sample
                continue
            step = scored = kernel.step(velocity, sample, index, noise=noise.to(model.device))
            if slot is not None:
                if log_prob_conditioning is not None:
                    velocity = model.predict_velocity(sample, sigmas[index].expand(len(sample)), log_prob_conditioning)
                    scored = kernel.step(velocity, sample, index, next_sample=step.next_sample)
                transitions.store(slot, index, scored)
            sample = step.next_sample
        transitions.reached(len(sigmas) - 1, sample)
    return sample, transitions
