"""The SDE kernels against their formulas, recomputed here in float64."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.contracts.names import SdeType
from worker.contracts.sections import SamplingSpec
from worker.engine.rollout.sde import cps_step, flow_sde_step, ode_step
from worker.engine.rollout.sde_kernel import SdeKernel

SHAPE = (3, 4, 5)
SIGMAS = (0.9, 0.6, 0.3)
NEXT_SIGMAS = (0.7, 0.4, 0.1)


def tensors(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    velocity, sample, noise = (torch.randn(SHAPE, generator=generator) for _ in range(3))
    return velocity, sample, noise


def column(values: tuple[float, ...]) -> np.ndarray:
    return np.asarray(values).reshape(-1, 1, 1)


def test_flow_sde_equals_its_formula() -> None:
    velocity, sample, noise = tensors()
    step = flow_sde_step(
        velocity,
        sample,
        torch.tensor(SIGMAS),
        torch.tensor(NEXT_SIGMAS),
        noise_level=0.7,
        second_sigma=0.8,
        noise=noise,
    )
    v, x, z = (tensor.double().numpy() for tensor in (velocity, sample, noise))
    sigma, dt = column(SIGMAS), column(NEXT_SIGMAS) - column(SIGMAS)
    s = 0.7 * np.sqrt(sigma / (1 - sigma))
    mean = x * (1 + s**2 * dt / (2 * sigma)) + v * (1 + s**2 * (1 - sigma) / (2 * sigma)) * dt
    std = s * np.sqrt(-dt)
    drawn = mean + std * z
    log_prob = -((drawn - mean) ** 2) / (2 * std**2) - np.log(std) - 0.5 * math.log(2 * math.pi)
    np.testing.assert_allclose(step.mean, mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(step.std, std, rtol=1e-5)
    np.testing.assert_allclose(step.next_sample, drawn, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(step.log_prob, log_prob.mean(axis=(1, 2)), rtol=1e-5)


def test_flow_sde_is_the_ode_drift_plus_half_the_scaled_score() -> None:
    """The reverse SDE written with the score -(x - (1 - sigma) x0) / sigma², as DanceGRPO writes it."""
    velocity, sample, noise = tensors(1)
    step = flow_sde_step(velocity, sample, 0.6, 0.4, noise_level=0.7, second_sigma=0.8, noise=noise)
    v, x, dt, s = velocity.double(), sample.double(), -0.2, 0.7 * math.sqrt(0.6 / 0.4)
    clean = x - 0.6 * v
    score = -(x - 0.4 * clean) / 0.36
    torch.testing.assert_close(step.mean.double(), x + dt * v - 0.5 * s**2 * score * dt, rtol=1e-5, atol=1e-5)


def test_at_sigma_one_the_second_sigma_keeps_the_denominator_above_zero() -> None:
    velocity, sample, noise = tensors()
    step = flow_sde_step(velocity, sample, 1.0, 0.8, noise_level=0.7, second_sigma=0.8, noise=noise)
    assert float(step.std) == pytest.approx(0.7 * math.sqrt(1 / 0.2) * math.sqrt(0.2))
    assert torch.isfinite(step.log_prob).all()


def test_cps_equals_its_formula_without_normaliser() -> None:
    velocity, sample, noise = tensors()
    step = cps_step(velocity, sample, torch.tensor(SIGMAS), torch.tensor(NEXT_SIGMAS), noise_level=0.6, noise=noise)
    v, x, z = (tensor.double().numpy() for tensor in (velocity, sample, noise))
    sigma, sigma_next = column(SIGMAS), column(NEXT_SIGMAS)
    std = sigma_next * math.sin(0.6 * math.pi / 2)
    mean = (1 - sigma_next) * (x - sigma * v) + np.sqrt(sigma_next**2 - std**2) * (x + (1 - sigma) * v)
    np.testing.assert_allclose(step.mean, mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(step.next_sample, mean + std * z, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(step.log_prob, -((std * z) ** 2).mean(axis=(1, 2)), rtol=1e-4)


def test_cps_keeps_the_noise_of_the_flow() -> None:
    """The squares of the noise coefficients of mean and std add up to sigma_next²: no noise is added on top."""
    velocity, sample = torch.randn(1, 4), torch.randn(1, 4)
    step = cps_step(velocity, sample, 0.6, 0.4, noise_level=1.0, noise=torch.zeros(1, 4))
    torch.testing.assert_close(step.mean, 0.6 * (sample - 0.6 * velocity))
    assert float(step.std) == pytest.approx(0.4)


def test_ode_step_is_euler_and_is_the_limit_of_both_kernels() -> None:
    velocity, sample, noise = tensors()
    euler = ode_step(velocity, sample, 0.6, 0.4)
    torch.testing.assert_close(euler.mean, sample - 0.2 * velocity)
    flow = flow_sde_step(velocity, sample, 0.6, 0.4, noise_level=1e-6, second_sigma=0.8, noise=noise)
    cps = cps_step(velocity, sample, 0.6, 0.4, noise_level=1e-6, noise=noise)
    torch.testing.assert_close(flow.mean, euler.mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(cps.mean, euler.mean, rtol=1e-5, atol=1e-5)


@settings(deadline=None, max_examples=30)
@given(
    sde_type=st.sampled_from(SdeType),
    seed=st.integers(0, 2**31),
    noise_level=st.floats(0.05, 1.0),
    num_steps=st.integers(2, 12),
)
def test_replay_reproduces_what_sampling_returned(
    sde_type: SdeType, seed: int, noise_level: float, num_steps: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    sigmas = torch.linspace(1, 0, num_steps + 1)
    kernel = SdeKernel.of(
        SamplingSpec(num_denoising_steps=num_steps, sde_type=sde_type, noise_level=noise_level), sigmas
    )
    indices = torch.randint(num_steps - 1, (5,), generator=generator)
    velocity, sample, noise = (torch.randn(5, 3, 2, generator=generator) for _ in range(3))
    drawn = kernel.step(velocity, sample, indices, noise=noise)
    replayed = kernel.step(velocity, sample, indices, next_sample=drawn.next_sample)
    for one, other in zip(drawn, replayed, strict=True):
        assert torch.equal(one, other)


def test_gradients_of_the_log_prob_flow_through_the_velocity_only() -> None:
    velocity, sample, noise = tensors()
    velocity.requires_grad_()
    step = flow_sde_step(velocity, sample, 0.6, 0.4, noise_level=0.7, second_sigma=0.8, noise=noise)
    step.log_prob.sum().backward()
    s = 0.7 * math.sqrt(0.6 / 0.4)
    # d log-prob / d mean = noise / std / num elements, and d mean / d velocity is a number.
    expected = noise / step.std.detach() / 20 * (1 + s**2 * 0.4 / 1.2) * -0.2
    assert velocity.grad is not None
    torch.testing.assert_close(velocity.grad, expected, rtol=1e-4, atol=1e-6)


def test_kernels_need_exactly_one_of_noise_and_next_sample() -> None:
    velocity, sample, noise = tensors()
    with pytest.raises(ValueError, match="exactly one"):
        cps_step(velocity, sample, 0.6, 0.4, noise_level=0.5)
    with pytest.raises(ValueError, match="exactly one"):
        cps_step(velocity, sample, 0.6, 0.4, noise_level=0.5, noise=noise, next_sample=noise)


def test_kl_leaves_dt_out_for_flow_and_is_gaussian_for_cps() -> None:
    sigmas = torch.tensor([1.0, 0.8, 0.5, 0.0])
    mean, reference = torch.ones(2, 3), torch.zeros(2, 3)
    indices = torch.tensor([1, 1])
    flow = SdeKernel(SdeType.FLOW, 0.7, sigmas)
    std = flow.step(torch.zeros(2, 3), mean, indices, noise=mean).std
    expected_flow = 1 / (2 * (0.7**2 * 0.8 / 0.2))
    assert flow.kl(mean, reference, std, indices).tolist() == pytest.approx([expected_flow] * 2, rel=1e-5)
    cps = SdeKernel(SdeType.CPS, 0.7, sigmas)
    std = cps.step(torch.zeros(2, 3), mean, indices, noise=mean).std
    expected_cps = 1 / (2 * (0.5 * math.sin(0.7 * math.pi / 2)) ** 2)
    assert cps.kl(mean, reference, std, indices).tolist() == pytest.approx([expected_cps] * 2, rel=1e-5)
