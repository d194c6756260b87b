"""The values that move between rollout, reward, trainer and controller. Tensors stay behind Ray object references.

Driver and reward lanes read these words too, so torch is imported for the type checker alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from worker.pipeline.types import Fragment

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One fragment to generate: all members share one prompt. Noise is seeded by these numbers, never by worker."""

    fragment: Fragment
    prompt: str
    run_seed: int
    prompt_index: int
    """Index into the run's prompts; with run seed, batch and member it seeds the noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectories:
    """What is trained on of one fragment: N members, K stored denoising steps; as much of it as the algorithm needs.

    Latents are fp32 and in the transformer's own (packed) layout; `sigmas` are the exact ones used in sampling.
    """

    fragment: Fragment
    prompt: str
    sde_indices: tuple[int, ...]
    """The stored denoising steps: stochastic ones, but for an algorithm that only starts from their latents."""
    sigmas: torch.Tensor
    """(num_denoising_steps + 1,) fp32, from 1 to 0."""
    latents: torch.Tensor
    """(N, K, ...) fp32: x before each stochastic denoising step."""
    next_latents: torch.Tensor
    """(N, K, ...) fp32: x after it. (N, 0, ...) where transitions are not replayed."""
    log_probs: torch.Tensor
    """(N, K) fp32: under the behaviour policy. (N, 0) likewise."""
    means: torch.Tensor | None
    """(N, K, ...) fp32: μ of the behaviour policy, carried only where a gate or an algorithm needs it."""
    clean: torch.Tensor | None = None
    """(N, ...) fp32: the finished sample, carried only where an algorithm noises it anew."""
    seeds: tuple[int, ...] = ()
    """Of each member."""

    @property
    def num_members(self) -> int:
        return int(self.latents.shape[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedFragment:
    """What a rollout lane returns: transitions for the trainer, samples for the reward lanes, its own timings."""

    fragment: Fragment
    prompt: str
    trajectories: Trajectories | None
    """`None` for evaluation and requests: nothing there is trained on."""
    images: np.ndarray
    """Pictures (N, H, W, 3) or clips (N, F, H, W, 3), uint8."""
    seeds: tuple[int, ...]
    generate_seconds: float
    decode_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredFragment:
    """Rewards of one fragment, member by member; every number finite (a failed required reward is an error)."""

    fragment: Fragment
    rewards: tuple[float, ...]
    """Weighted sum of the trained rewards."""
    parts: dict[str, tuple[float | None, ...]]
    """Each reward by its key, watched ones included; None where one that may be missing is."""
    unrewarded: frozenset[int] = frozenset()
    """Places of samples that lack a trained reward; their `rewards` mean nothing."""
    num_retries: dict[str, int] = field(default_factory=dict)
    """Further tries it took, by reward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAdapter:
    """One immutable policy version: LoRA tensors by peft name, with the checksum every puller must reproduce."""

    policy_version: int
    tensors: dict[str, torch.Tensor]
    sha256: str
    evaluated: PublishedAdapter | None = None
    """What evaluation and requested samples are drawn with, where that is not the policy that draws training data."""

    @property
    def num_bytes(self) -> int:
        own = sum(tensor.numel() * tensor.element_size() for tensor in self.tensors.values())
        return own + (0 if self.evaluated is None else self.evaluated.num_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PullReceipt:
    """What a rollout lane reports after binding an adapter: read back from the live modules, not from the message."""

    policy_version: int
    num_bound_tensors: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBatch:
    """One complete group, ready to train: its fragments' trajectories and the advantage of each member."""

    batch: int
    group: int
    trajectories: tuple[Trajectories, ...]
    """In member order."""
    advantages: tuple[float, ...]
    """One per member, in the order of the fragments' members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateStats:
    """Sums over (trajectory, denoising step) pairs of what an `accumulate` saw; add them up, then divide."""

    num_pairs: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    """`loss`, `ratio`, `clipped`; `kl` over the `kl_pairs` it was measured on."""
    maxima: dict[str, float] = field(default_factory=dict)
    """`ratio_deviation`; on the first update of a batch also the replay gate's `replay_ratio_deviation` and
    `mean_error` = |μ_replay − μ_rollout| / std."""
