"""One denoising step, stochastic or not, with its log-prob. Sampling and replay call the same functions.

Convention: sigma runs from 1 (noise) to 0, x = (1 - sigma) x0 + sigma eps, the model predicts v = eps - x0, and
dt = sigma_next - sigma < 0. Given `noise` a step is sampled; given `next_sample` it is replayed: mean and std are the
same, and the log-prob is that of the given sample. Everything is computed in fp32; the log-prob is the mean over all
but the first dimension (a sum is unstable at image sizes), and gradients reach it through the velocity only.
"""

import math
from typing import NamedTuple

import torch

from worker.engine.models.precision import at_least_fp32

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
"""The constant term of a Gaussian log-density."""


class SdeStep(NamedTuple):
    """The result of one denoising step of N samples, all fp32."""

    next_sample: torch.Tensor
    """(N, ...): the sample drawn, or the one given."""
    log_prob: torch.Tensor
    """(N,): its log-prob, averaged over the sample's dimensions."""
    mean: torch.Tensor
    """(N, ...): the mean of its distribution."""
    std: torch.Tensor
    """The standard deviation of its distribution, shaped to broadcast over (N, ...)."""


def flow_sde_step(
    velocity: torch.Tensor,
    sample: torch.Tensor,
    sigma: torch.Tensor | float,
    sigma_next: torch.Tensor | float,
    *,
    noise_level: float,
    second_sigma: torch.Tensor | float,
    noise: torch.Tensor | None = None,
    next_sample: torch.Tensor | None = None,
) -> SdeStep:
    """The SDE with the marginals of the flow's ODE: Flow-GRPO, arXiv 2505.05470.

    s = a sqrt(sigma / (1 - sigma)); mean = x (1 + s² dt / (2 sigma)) + v (1 + s² (1 - sigma) / (2 sigma)) dt;
    std = s sqrt(-dt); Gaussian log-prob.

    Args:
        velocity: the model's v, (N, ...).
        sample: x at `sigma`, (N, ...).
        sigma: in (0, 1], a number or (N,).
        sigma_next: below `sigma`, a number or (N,).
        noise_level: a.
        second_sigma: the schedule's second sigma; at sigma = 1 the denominator of s is 1 - second_sigma, not 0.
        noise: standard normal like `sample`, to draw with; exclusive with `next_sample`.
        next_sample: the stored sample to replay, (N, ...).

    Raises:
        ValueError: when not exactly one of `noise` and `next_sample` is given.
    """
    sigma = _per_sample(sigma, sample)
    denominator = 1 - torch.where(sigma >= 1, _per_sample(second_sigma, sample), sigma)
    scale = noise_level * torch.sqrt(sigma / denominator)
    return _gaussian_step(velocity, sample, sigma, sigma_next, scale, noise, next_sample)


def dance_sde_step(
    velocity: torch.Tensor,
    sample: torch.Tensor,
    sigma: torch.Tensor | float,
    sigma_next: torch.Tensor | float,
    *,
    noise_level: float,
    noise: torch.Tensor | None = None,
    next_sample: torch.Tensor | None = None,
) -> SdeStep:
    """DanceGRPO's SDE, arXiv 2505.07818: its diffusion coefficient eta is the same at every sigma.

    score = -(x - (1 - sigma) x0) / sigma²; mean = x + v dt - eta² score dt / 2; std = eta sqrt(-dt); Gaussian log-prob.
    With x0 = x - sigma v that is `flow_sde_step` for s = eta. Arguments and errors as there; `noise_level` is eta.
    """
    scale = torch.full_like(_per_sample(sigma, sample), noise_level)
    return _gaussian_step(velocity, sample, sigma, sigma_next, scale, noise, next_sample)


def _gaussian_step(
    velocity: torch.Tensor,
    sample: torch.Tensor,
    sigma: torch.Tensor | float,
    sigma_next: torch.Tensor | float,
    scale: torch.Tensor,
    noise: torch.Tensor | None,
    next_sample: torch.Tensor | None,
) -> SdeStep:
    """The step of an SDE whose diffusion coefficient is `scale`, (N, 1, ...)."""
    x, v = at_least_fp32(sample), at_least_fp32(velocity)
    sigma, sigma_next = _per_sample(sigma, x), _per_sample(sigma_next, x)
    dt = sigma_next - sigma
    drift = scale.square() / (2 * sigma)
    mean = x * (1 + drift * dt) + v * ((1 + drift * (1 - sigma)) * dt)
    std = scale * torch.sqrt(-dt)
    drawn = _draw_or_replay(mean, std, noise, next_sample)
    deviation = (drawn.detach() - mean) / std
    log_prob = -0.5 * deviation.square() - torch.log(std) - HALF_LOG_TWO_PI
    return SdeStep(drawn, _mean_over_sample(log_prob), mean, std)


def cps_step(
    velocity: torch.Tensor,
    sample: torch.Tensor,
    sigma: torch.Tensor | float,
    sigma_next: torch.Tensor | float,
    *,
    noise_level: float,
    noise: torch.Tensor | None = None,
    next_sample: torch.Tensor | None = None,
) -> SdeStep:
    """Coefficients-preserving sampling, arXiv 2509.05952: noise is replaced, never added on top.

    std = sigma_next sin(a pi / 2); n = x + (1 - sigma) v;
    mean = (1 - sigma_next) x0 + sqrt(sigma_next² - std²) n; log-prob = -(x' - mean)², without normaliser, so it
    needs a clip range of its own. Arguments and errors as in `flow_sde_step`.
    """
    x, v = at_least_fp32(sample), at_least_fp32(velocity)
    sigma, sigma_next = _per_sample(sigma, x), _per_sample(sigma_next, x)
    std = sigma_next * math.sin(noise_level * math.pi / 2)
    clean, noisy = x - sigma * v, x + (1 - sigma) * v
    mean = (1 - sigma_next) * clean + torch.sqrt((sigma_next.square() - std.square()).clamp(min=0)) * noisy
    drawn = _draw_or_replay(mean, std, noise, next_sample)
    log_prob = -(drawn.detach() - mean).square()
    return SdeStep(drawn, _mean_over_sample(log_prob), mean, std)


def ode_step(
    velocity: torch.Tensor, sample: torch.Tensor, sigma: torch.Tensor | float, sigma_next: torch.Tensor | float
) -> SdeStep:
    """The deterministic Euler step x' = x + v dt; log-prob and std are 0, nothing here is trained."""
    x = at_least_fp32(sample)
    sigma, sigma_next = _per_sample(sigma, x), _per_sample(sigma_next, x)
    mean = x + (sigma_next - sigma) * at_least_fp32(velocity)
    return SdeStep(mean, mean.new_zeros(mean.shape[0]), mean, torch.zeros_like(sigma))


def _per_sample(value: torch.Tensor | float, sample: torch.Tensor) -> torch.Tensor:
    """A number or (N,) as fp32, shaped to broadcast over (N, ...)."""
    tensor = torch.as_tensor(value, dtype=torch.float32, device=sample.device)
    return tensor.reshape(-1, *[1] * (sample.ndim - 1))


def _draw_or_replay(
    mean: torch.Tensor, std: torch.Tensor, noise: torch.Tensor | None, next_sample: torch.Tensor | None
) -> torch.Tensor:
    if noise is not None and next_sample is None:
        return mean + std * at_least_fp32(noise)
    if next_sample is not None and noise is None:
        return at_least_fp32(next_sample)
    raise ValueError("give exactly one of `noise` (to sample) and `next_sample` (to replay)")


def _mean_over_sample(values: torch.Tensor) -> torch.Tensor:
    return values.flatten(1).mean(1)
