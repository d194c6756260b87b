"""The values that emulated actors pass through Ray's object store: small arrays in place of tensors."""

import hashlib
import zlib
from dataclasses import dataclass

import numpy as np

from worker.engine.errors import SyncError
from worker.engine.transport.parts import Part
from worker.engine.types import PullReceipt, ShardInfo
from worker.scheduling.core.messages import Fragment, Purpose

PICTURE_SIDE = 8
"""Height and width of an emulated picture, in pixels: few, since only messages are tested."""
NUM_LATENT_VALUES = 64
"""Values of an emulated trajectory, few for the same reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedTrajectories:
    """Takes the place of `PackedTrajectories`."""

    fragment: Fragment
    part: Part
    """Which of the fragment's members and micro-batches it is for."""
    latents: np.ndarray
    """(members of the part, NUM_LATENT_VALUES) fp32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedShard:
    """Takes the place of `PublishedShard`: bytes that differ by version, and the checksum that a pull must
    reproduce."""

    policy_version: int
    info: ShardInfo
    content: np.ndarray

    def pull(self) -> PullReceipt:
        """Checksum the content. Raises `SyncError` when it is not what was published."""
        sha256 = _digest(self.content)
        if sha256 != self.info.sha256:
            raise SyncError(
                f"policy version {self.policy_version} must read back as sha256 {self.info.sha256}, got {sha256}"
            )
        return PullReceipt(policy_version=self.policy_version, num_bound_tensors=len(self.info.names), sha256=sha256)


def make_shard(policy_version: int, num_bytes: int) -> EmulatedShard:
    """The only shard of an emulated version: `num_bytes` random bytes, seeded by the version."""
    content = np.frombuffer(np.random.default_rng(policy_version).bytes(num_bytes), dtype=np.uint8)
    info = ShardInfo(names=("emulated",), num_bytes=num_bytes, sha256=_digest(content))
    return EmulatedShard(policy_version=policy_version, info=info, content=content)


def trajectory_seed(run_seed: int, purpose: Purpose, batch: int, prompt_index: int, member: int, draw: int) -> int:
    """The seed of one trajectory, from the same numbers as `worker.engine.rollout.noise.trajectory_seed`."""
    return zlib.crc32(f"{run_seed}|{purpose}|{batch}|{prompt_index}|{member}|{draw}".encode())


def _digest(content: np.ndarray) -> str:
    return hashlib.sha256(content.data).hexdigest()
