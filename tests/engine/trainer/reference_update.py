"""One mini-batch in plain torch, pair by pair, with the formulas of Flow-GRPO (arXiv 2505.05470) written out."""

import math

import torch

from tests.engine.stacked import latents_of, next_latents_of
from worker.contracts.algorithms import FlowGrpoSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.registry import load_model
from worker.engine.sync.binding import bind
from worker.engine.types import GroupBatch, PublishedShard, Trajectories


def reference_update(
    spec: RunSpec, path: str, version: PublishedShard, groups: list[GroupBatch]
) -> tuple[torch.Tensor, dict[str, float]]:
    """The gradient of the mean loss of all pairs, flat in name order, and the sums of loss, ratio, clipped and KL.

    `version` is the policy that is trained.
    """
    model, base = load_model(spec.base_model, path), load_model(spec.base_model, path)
    model.prepare_training(spec)
    bind(model.trainable, version)
    pairs = [
        (trajectories, member, slot, advantage)
        for group in groups
        for trajectories in group.trajectories
        for member, advantage in enumerate(group.advantages)
        for slot in range(len(trajectories.sde_indices))
    ]
    sums = dict.fromkeys(("loss", "ratio", "clipped", "kl"), 0.0)
    for trajectories, member, slot, advantage in pairs:
        for name, value in _one_pair(spec, model, base, trajectories, member, slot, advantage, len(pairs)).items():
            sums[name] += value
    gradients = [parameter.grad for parameter in model.trainable.values()]
    return torch.cat([gradient.flatten() for gradient in gradients if gradient is not None]), sums


def _one_pair(
    spec: RunSpec,
    model: ModelAdapter,
    base: ModelAdapter,
    trajectories: Trajectories,
    member: int,
    slot: int,
    advantage: float,
    num_pairs: int,
) -> dict[str, float]:
    assert isinstance(spec.algorithm, FlowGrpoSpec)
    clip, beta = spec.algorithm.clip_range, spec.algorithm.kl_coefficient
    mean, s, dt = _mean(spec, model, trajectories, member, slot)
    with torch.no_grad():
        reference, _, _ = _mean(spec, base, trajectories, member, slot)
    std = s * math.sqrt(-dt)
    drawn = next_latents_of(trajectories)[member, slot]
    log_density = -((drawn - mean) ** 2) / (2 * std**2) - math.log(std) - 0.5 * math.log(2 * math.pi)
    ratio = torch.exp(log_density.mean() - trajectories.log_probs[member, slot])
    kl = ((mean - reference) ** 2).mean() / (2 * s**2)
    loss = torch.maximum(-advantage * ratio, -advantage * ratio.clamp(1 - clip, 1 + clip)) + beta * kl
    (loss / num_pairs).backward()
    return {
        "loss": loss.item(),
        "ratio": ratio.item(),
        "clipped": float(abs(ratio.item() - 1) > clip),
        "kl": kl.item(),
    }


def _mean(
    spec: RunSpec, model: ModelAdapter, trajectories: Trajectories, member: int, slot: int
) -> tuple[torch.Tensor, float, float]:
    """(μ, s, dt) of one transition."""
    conditioning = Conditioning(
        prompt=model.encode_prompt(trajectories.prompt.text), height=32, width=32, guidance_scale=1.0
    )
    index = trajectories.sde_indices[slot]
    sigma, sigma_next = float(trajectories.sigmas[index]), float(trajectories.sigmas[index + 1])
    dt = sigma_next - sigma
    s = spec.sampling.noise_level * math.sqrt(sigma / (1 - (float(trajectories.sigmas[1]) if sigma == 1 else sigma)))
    x = latents_of(trajectories)[member, slot]
    v = model.predict_velocity(x[None], torch.tensor([sigma]), conditioning)[0]
    drift = s**2 / (2 * sigma)
    return x * (1 + drift * dt) + v * (1 + drift * (1 - sigma)) * dt, s, dt
