"""The values that move between rollout, reward, trainer and controller. Tensors stay behind Ray object references.

Driver and reward lanes read these words too, so torch is imported for the type checker alone.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from worker.scheduling.core.messages import Fragment

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
    errors: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    """Why scores are missing, member by member, for the rewards of which some are."""
    unrewarded: frozenset[int] = frozenset()
    """Places of samples that lack a trained reward; their `rewards` mean nothing."""
    num_retries: dict[str, int] = field(default_factory=dict)
    """Further tries it took, by reward."""


UNTRAINED_FILE = "untrained.safetensors"
"""What a trainer leaves of a transformer's weights that are stored and not trained, for the export of all weights."""


@dataclass(frozen=True, slots=True)
class PackedTensor:
    """A tensor as bytes: it goes through Ray's object store without a copy, and can be read without torch."""

    dtype: str
    """As torch spells it: `bfloat16`."""
    shape: tuple[int, ...]
    content: np.ndarray
    """(num_bytes,) uint8"""

    @classmethod
    def of(cls, tensor: torch.Tensor) -> PackedTensor:
        """`tensor` must be on the CPU and contiguous; its memory is shared."""
        import torch

        content = tensor.detach().reshape(-1).view(torch.uint8).numpy()
        return cls(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), content)

    def tensor(self) -> torch.Tensor:
        """A view of the bytes, to be read and never written."""
        import torch

        if not self.content.size:
            return torch.empty(self.shape, dtype=getattr(torch, self.dtype))
        with warnings.catch_warnings():
            # Torch warns of a buffer that it could not write to; to these nobody does.
            warnings.filterwarnings("ignore", message="The given buffer is not writable")
            flat = torch.frombuffer(self.content, dtype=torch.uint8)
        return flat.view(getattr(torch, self.dtype)).reshape(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedShard:
    """Some tensors of an immutable policy version, with the checksum that every puller must reproduce.

    A LoRA is one shard, which is then a whole version; all weights of a transformer are many.
    """

    policy_version: int
    packed: Mapping[str, PackedTensor]
    """By the name under which they are trained."""
    sha256: str
    evaluated: PublishedShard | None = None
    """What evaluation and requested samples are drawn with, where that is not the policy that draws training data."""

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """Views, to be read only."""
        return {name: packed.tensor() for name, packed in self.packed.items()}

    @property
    def num_bytes(self) -> int:
        own = sum(packed.content.nbytes for packed in self.packed.values())
        return own + (0 if self.evaluated is None else self.evaluated.num_bytes)

    def shards(self) -> Iterator[PublishedShard]:
        """As `PublishedVersion`."""
        yield self


def version_checksum(shards: Sequence[str]) -> str:
    """Of a version, from the checksums of its shards in their order; a lone shard's is the version's."""
    return shards[0] if len(shards) == 1 else hashlib.sha256("|".join(shards).encode()).hexdigest()


class PublishedVersion(Protocol):
    """A whole policy version, wherever its shards lie."""

    @property
    def policy_version(self) -> int: ...

    @property
    def sha256(self) -> str:
        """Over all shards."""
        ...

    def shards(self) -> Iterator[PublishedShard]:
        """One after the other, so that nobody need hold them all; may be gone through again."""
        ...


def shard_indices_of_rank(num_shards: int, *, rank: int, world_size: int) -> range:
    """Every `world_size`-th shard from the rank's own number on; none for ranks beyond the shards."""
    return range(rank, num_shards, world_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class PullReceipt:
    """What a rollout lane reports after binding a version: read back from the live modules, not from the message."""

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
