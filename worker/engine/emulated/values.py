"""Stand-ins for tensors, with the bytes that travel: what emulated actors hand each other through the object store."""

import hashlib
import zlib
from dataclasses import dataclass

import numpy as np

from worker.engine.actors.reports import ShardFacts
from worker.engine.errors import SyncError
from worker.engine.types import PullReceipt
from worker.scheduling.core.messages import Fragment, Purpose

PICTURE_SIDE = 8
NUM_LATENT_VALUES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedTrajectories:
    """Stands for `Trajectories`."""

    fragment: Fragment
    latents: np.ndarray
    """(N, NUM_LATENT_VALUES) fp32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedShard:
    """Stands for `PublishedShard`: bytes that differ with the version, with the checksum a puller must reproduce."""

    policy_version: int
    facts: ShardFacts
    content: np.ndarray

    def pull(self) -> PullReceipt:
        """Read every byte. Raises `SyncError` where they are not what was published."""
        sha256 = _digest(self.content)
        if sha256 != self.facts.sha256:
            raise SyncError(
                f"policy version {self.policy_version} must read back as sha256 {self.facts.sha256}, got {sha256}"
            )
        return PullReceipt(policy_version=self.policy_version, num_bound_tensors=len(self.facts.names), sha256=sha256)


def make_shard(policy_version: int, num_bytes: int) -> EmulatedShard:
    content = np.frombuffer(np.random.default_rng(policy_version).bytes(num_bytes), dtype=np.uint8)
    facts = ShardFacts(names=("emulated",), num_bytes=num_bytes, sha256=_digest(content))
    return EmulatedShard(policy_version=policy_version, facts=facts, content=content)


def trajectory_seed(run_seed: int, purpose: Purpose, batch: int, prompt_index: int, member: int) -> int:
    return zlib.crc32(f"{run_seed}|{purpose}|{batch}|{prompt_index}|{member}".encode())


def _digest(content: np.ndarray) -> str:
    return hashlib.sha256(content.data).hexdigest()
