"""Policy gradients from stored transition to loss: kernel, means, KL and clip, recomputed in numpy pair by pair.

The formulas are written from the papers and share nothing with `worker.engine` but the model's velocities.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.stacked import latents_of, means_of, next_latents_of
from tests.engine.training_setup import shared_version
from tests.slow_params import slow_but
from worker.contracts.run_spec import RunSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.lora import lora_disabled
from worker.engine.types import GroupBatch

BETA = 0.3
"""The coefficient of the KL penalty."""
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "flow": ({"name": "flow_grpo", "clip_range": 5e-3}, "flow"),
    "cps": ({"name": "flow_grpo", "clip_range": 1e-3}, "cps"),
    "dance": ({"name": "dance_grpo", "clip_range": 1e-2, "timestep_fraction": 1.0}, "dance"),
    "fast": ({"name": "flow_grpo_fast", "clip_range": 5e-3, "window_size": 2}, "flow"),
    "mix": ({"name": "mix_grpo", "clip_range": 1e-3, "window_size": 2}, "flow"),
    "guard": ({"name": "grpo_guard", "clip_range": 1e-3}, "flow"),
    "guard on dance": ({"name": "grpo_guard", "clip_range": 1e-3}, "dance"),
    "dppo": ({"name": "flow_dppo", "divergence_bound": 1e-4}, "flow"),
}
QUICK = ("cps", "mix", "guard on dance", "dppo")
"""Every kernel and every way to bound a step."""


@dataclass
class Gaussian:
    """The distribution of one denoising step."""

    mean: np.ndarray
    std: float
    s: float
    """The diffusion coefficient, which the KL is divided by."""

    def log_prob(self, drawn: np.ndarray, kernel: str) -> float:
        squared = (drawn - self.mean) ** 2
        if kernel == "cps":
            return float(-squared.mean())
        return float((-squared / (2 * self.std**2) - math.log(self.std) - 0.5 * math.log(2 * math.pi)).mean())


def gaussian(kernel: str, a: float, x: np.ndarray, v: np.ndarray, schedule: np.ndarray, index: int) -> Gaussian:
    sigma, after = schedule[index], schedule[index + 1]
    dt = after - sigma
    if kernel == "cps":
        std = after * math.sin(a * math.pi / 2)
        return Gaussian((1 - after) * (x - sigma * v) + math.sqrt(after**2 - std**2) * (x + (1 - sigma) * v), std, std)
    s = a if kernel == "dance" else a * math.sqrt(sigma / (1 - (schedule[1] if sigma == 1 else sigma)))
    score = -(x - (1 - sigma) * (x - sigma * v)) / sigma**2
    return Gaussian(x + v * dt - 0.5 * s**2 * score * dt, s * math.sqrt(-dt), s)


def one_pair(spec: RunSpec, new: Gaussian, base: Gaussian, old_mean: np.ndarray, pair: dict[str, Any]) -> list[float]:
    """Loss, clipped and KL of one transition."""
    algorithm, advantage = spec.algorithm, pair["advantage"]
    change = new.log_prob(pair["drawn"], spec.sampling.sde_type) - pair["old_log_prob"]
    divergence = ((new.mean - old_mean) ** 2).mean() / (2 * new.std**2)
    kl = ((new.mean - base.mean) ** 2).mean() / (2 * new.s**2)
    if algorithm.name == "flow_dppo":
        ratio = math.exp(change)
        is_masked = divergence >= algorithm.divergence_bound and advantage * (ratio - 1) > 0
        return [(0.0 if is_masked else -advantage * ratio) + BETA * kl, float(is_masked), kl]
    is_guard = algorithm.name == "grpo_guard"
    ratio = math.exp((change + divergence) * new.std) if is_guard else math.exp(change)
    clip: float = getattr(algorithm, "clip_range", math.nan)
    loss = max(-advantage * ratio, -advantage * min(max(ratio, 1 - clip), 1 + clip))
    return [loss / (pair["step_size"] if is_guard else 1) + BETA * kl, float(abs(ratio - 1) > clip), kl]


def expected_sums(spec: RunSpec, model: ModelAdapter, groups: list[GroupBatch]) -> np.ndarray:
    sums = np.zeros(3)
    kernel, a = spec.sampling.sde_type.value, spec.sampling.noise_level
    for group in groups:
        stored = group.trajectories[0]
        assert stored.means
        schedule = stored.sigmas.double().numpy()
        conditioning = model.conditioning(stored.prompt, spec.sampling, training=True)
        for member, advantage in enumerate(group.advantages):
            for slot, index in enumerate(stored.sde_indices):
                given, sigma = latents_of(stored)[member, slot][None], stored.sigmas[index][None]
                x = given[0].double().numpy()
                v = model.predict_velocity(given, sigma, conditioning)[0].double().numpy()
                with lora_disabled(model.transformer):
                    base = model.predict_velocity(given, sigma, conditioning)[0].double().numpy()
                pair = {
                    "advantage": advantage,
                    "drawn": next_latents_of(stored)[member, slot].double().numpy(),
                    "old_log_prob": float(stored.log_probs[member, slot]),
                    "step_size": schedule[index] - schedule[index + 1],
                }
                new, reference = (gaussian(kernel, a, x, velocity, schedule, index) for velocity in (v, base))
                sums += one_pair(spec, new, reference, means_of(stored)[member, slot].double().numpy(), pair)
    return sums


@pytest.mark.parametrize("case", slow_but(QUICK, CASES))
@torch.no_grad()
def test_sums_over_the_pairs_are_the_papers_formulas(make_setup: SetupMaker, case: str) -> None:
    """The trained policy is not the one that drew, so that no ratio is 1 and no divergence 0."""
    algorithm, kernel = CASES[case]
    setup = make_setup(algorithm=algorithm | {"kl_coefficient": BETA}, sampling={"sde_type": kernel})
    trainer = setup.trainer()
    trainer.load_version(shared_version(setup.spec, setup.path, seed=2))
    with torch.enable_grad():
        stats = setup.accumulate(trainer, fresh=False)
    trainer.abort()
    loss, num_clipped, kl = expected_sums(setup.spec, trainer._model, setup.groups)
    assert stats.num_pairs == setup.spec.algebra.num_pairs_per_optimizer_step
    assert stats.sums["kl"] == pytest.approx(kl, rel=1e-3)
    assert stats.sums["clipped"] == num_clipped
    assert 0 < num_clipped < stats.num_pairs, "some pairs are clipped, not all"
    # Advantages add up to 0, so the sum of losses is small compared with its terms, whose scale the tolerance uses.
    assert stats.sums["loss"] == pytest.approx(loss, rel=1e-3, abs=1e-4 * stats.num_pairs)
