"""The values that move between rollout, reward, trainer and controller. Tensors stay behind Ray object references.

Invariant: importing this module does not import torch, which the driver and most reward lanes do without.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from worker.contracts.prompts import Prompt
from worker.scheduling.core.messages import Fragment

if TYPE_CHECKING:
    import torch


UNTRAINED_FILE = "untrained.safetensors"
"""The file of weights and buffers that a transformer stores and a full fine-tuning run does not train; `export` writes
it, and the download of all weights includes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One fragment to generate, whose members share one prompt. Noise is seeded by these numbers, never by worker."""

    fragment: Fragment
    prompt: Prompt
    run_seed: int
    prompt_index: int
    """The prompt's index among the run's prompts; with run seed, batch and member it seeds the noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectories:
    """What training reads of one fragment, or a part of it: N members, K stored denoising steps, on the CPU.

    Latents are in the transformer's own (packed) layout. Which tensors are filled depends on the algorithm's needs.
    """

    fragment: Fragment
    prompt: Prompt
    members: tuple[int, ...]
    """The N members whose tensors are here, as indices within their group: all of the fragment's, or those of a
    part."""
    sde_indices: tuple[int, ...]
    """The K stored denoising steps. All are stochastic, except for reward feedback, which starts from their latents."""
    sigmas: torch.Tensor
    """(num_denoising_steps + 1,) fp32: the exact sigmas used in sampling, from 1 to 0."""
    states: Mapping[int, torch.Tensor]
    """By denoising step, (N, ...) fp32: x before it. There is one for each stored step and, where transitions are
    replayed, for the step after it, which consecutive steps share; in a part, those that its micro-batches need."""
    log_probs: torch.Tensor
    """(N, K) fp32: log-probs of the transitions under the behaviour policy; (N, 0) where they are not replayed."""
    means: Mapping[int, torch.Tensor]
    """By stored denoising step, (N, ...) fp32: the mean of its transition under the behaviour policy, where gate or
    algorithm need them; otherwise empty."""
    clean: torch.Tensor | None = None
    """(N, ...) fp32: the finished samples, where the algorithm adds noise to them in training."""
    seeds: tuple[int, ...] = ()
    """The noise seed of each of the N members."""

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors."""
        optional = () if self.clean is None else (self.clean,)
        tensors = (self.sigmas, self.log_probs, *self.states.values(), *self.means.values(), *optional)
        return sum(tensor.nbytes for tensor in tensors)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedFragment:
    """What a rollout lane returns: transitions for the trainer, samples for the reward lanes, and its timings."""

    fragment: Fragment
    prompt: Prompt
    trajectories: Trajectories | None
    """The fragment's trajectories; `None` for evaluation and requested samples, which are not trained on."""
    images: np.ndarray
    """Pictures (N, H, W, 3) or clips (N, F, H, W, 3), uint8."""
    seeds: tuple[int, ...]
    """The noise seed of each member."""
    generate_seconds: float
    """Seconds of encoding the prompt and denoising; of passes that fragments share, its share by members."""
    decode_seconds: float
    """Seconds of the autoencoder, shared likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredFragment:
    """The rewards of one fragment, in member order. Every number is finite: a failed required reward is an error."""

    fragment: Fragment
    rewards: tuple[float, ...]
    """The weighted sum of the trained rewards, for each member."""
    parts: dict[str, tuple[float | None, ...]]
    """The scores of each reward by its key, rewards that are only watched included; `None` for a score that is missing
    and may be."""
    errors: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    """For each reward with missing scores, the reason of each member's missing score."""
    unrewarded: frozenset[int] = frozenset()
    """Indices of samples that lack a trained reward; their `rewards` mean nothing."""
    num_retries: dict[str, int] = field(default_factory=dict)
    """The number of repeated calls, by reward."""


@dataclass(frozen=True, slots=True)
class PackedTensor:
    """A tensor as bytes: it goes through Ray's object store without a copy, and can be read without torch."""

    dtype: str
    """The name of the torch dtype, e.g. `bfloat16`."""
    shape: tuple[int, ...]
    content: np.ndarray
    """(num_bytes,) uint8: the tensor's memory in row-major order."""

    @classmethod
    def of(cls, tensor: torch.Tensor) -> PackedTensor:
        """Pack `tensor`, which must be on the CPU and contiguous, and whose memory is shared."""
        import torch

        content = tensor.detach().reshape(-1).view(torch.uint8).numpy()
        return cls(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), content)

    def tensor(self) -> torch.Tensor:
        """A view of the bytes, which callers read and never write."""
        import torch

        if not self.content.size:
            return torch.empty(self.shape, dtype=getattr(torch, self.dtype))
        with warnings.catch_warnings():
            # Torch warns that writing to a read-only buffer is undefined; nobody writes to these.
            warnings.filterwarnings("ignore", message="The given buffer is not writable")
            flat = torch.frombuffer(self.content, dtype=torch.uint8)
        return flat.view(getattr(torch, self.dtype)).reshape(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedShard:
    """Some tensors of an immutable policy version, with the checksum that every puller must reproduce.

    A LoRA fits into one shard, which is then a complete `PublishedVersion`; full weights take many.
    """

    policy_version: int
    packed: Mapping[str, PackedTensor]
    """The tensors by the names of the trainable parameters."""
    sha256: str
    """The checksum of `packed`, see `worker.engine.sync.checksums`."""
    evaluated: PublishedShard | None = None
    """The weights for evaluation and requested samples, where they are not those that draw training data."""

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """Views of the packed tensors, which callers read and never write."""
        return {name: packed.tensor() for name, packed in self.packed.items()}

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors, `evaluated` included."""
        own = sum(packed.content.nbytes for packed in self.packed.values())
        return own + (0 if self.evaluated is None else self.evaluated.num_bytes)

    def shards(self) -> Iterator[PublishedShard]:
        """This shard alone, which makes a single shard a `PublishedVersion`."""
        yield self


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardInfo:
    """A published shard, without its tensors."""

    names: tuple[str, ...]
    """The names of its tensors, in order."""
    num_bytes: int
    sha256: str
    """The checksum of its tensors."""


def version_checksum(shards: Sequence[str]) -> str:
    """A version's checksum, from the checksums of its shards in order; that of a single shard is the version's."""
    return shards[0] if len(shards) == 1 else hashlib.sha256("|".join(shards).encode()).hexdigest()


class BindableShard(Protocol):
    """Some tensors of a policy version, wherever they are, with their checksum."""

    @property
    def policy_version(self) -> int: ...

    @property
    def tensors(self) -> Mapping[str, torch.Tensor]:
        """The tensors by the names of the trainable parameters; read and never written."""
        ...

    @property
    def sha256(self) -> str: ...

    @property
    def evaluated(self) -> BindableShard | None:
        """The weights for evaluation, where the shard has them and they are others."""
        ...


class BindableVersion(Protocol):
    """A complete policy version that live modules can be bound to."""

    @property
    def policy_version(self) -> int: ...

    @property
    def sha256(self) -> str:
        """The checksum over all shards."""
        ...

    def shards(self) -> Iterator[BindableShard]:
        """All shards in order."""
        ...


class PublishedVersion(Protocol):
    """A complete policy version, in this process or in Ray's object store."""

    @property
    def policy_version(self) -> int: ...

    @property
    def sha256(self) -> str:
        """The checksum over all shards."""
        ...

    def shards(self) -> Iterator[PublishedShard]:
        """All shards in order, fetched one at a time so that no process has to hold them all; can be repeated."""
        ...


def shard_indices_of_rank(num_shards: int, *, rank: int, world_size: int) -> range:
    """The indices of the shards that `rank` publishes: every `world_size`-th from `rank` on, possibly none."""
    return range(rank, num_shards, world_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class PullReceipt:
    """What a rollout lane reports after binding a version, read back from the live modules and not from the shards."""

    policy_version: int
    num_bound_tensors: int
    """The number of trainable tensors of the live model, all of which were bound."""
    sha256: str
    """The checksum of the live tensors, in shard order."""
    is_direct: bool = False
    """Whether the version was received by broadcast."""
    missed: str = ""
    """Why a lane that a broadcast was for fetched the version from the object store; empty for any other pull."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBatch:
    """One complete group, ready to train: its trajectories and the advantage of each member."""

    batch: int
    group: int
    trajectories: tuple[Trajectories, ...]
    """The group's fragments, or those parts of them that the micro-batches of this rank need."""
    advantages: tuple[float, ...]
    """The advantage of each member of the group, in member order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateStats:
    """Statistics of one `accumulate` on one rank, as sums: calls and ranks are added up before dividing."""

    num_pairs: int = 0
    """The number of (trajectory, denoising step) pairs that this rank trained on."""
    sums: dict[str, float] = field(default_factory=dict)
    """Sums over those pairs: `loss`, `ratio`, `clipped`; and `kl`, over the `kl_pairs` pairs it was measured on."""
    maxima: dict[str, float] = field(default_factory=dict)
    """Maxima over pairs: `ratio_deviation` = |ratio − 1|; in the first update of a batch also the replay gate's
    `replay_ratio_deviation` and `mean_error` = |μ_replay − μ_rollout| / std."""
    histograms: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Of all elements, in the bins of `worker.engine.metrics.error_histogram`: in the first update of a batch
    `mean_error`, the sum of whose squares is `squared_mean_error` in `sums`."""
