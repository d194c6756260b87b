"""Stand-ins for tensors, with the bytes that travel: what emulated actors hand each other through the object store."""

import hashlib
import zlib
from dataclasses import dataclass

import numpy as np

from worker.engine.actors.reports import AdapterFacts
from worker.engine.errors import SyncError
from worker.engine.types import PullReceipt
from worker.pipeline.types import Fragment, Purpose

PICTURE_SIDE = 8
NUM_LATENT_VALUES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedTrajectories:
    """Stands for `Trajectories`."""

    fragment: Fragment
    latents: np.ndarray
    """(N, NUM_LATENT_VALUES) fp32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedAdapter:
    """Stands for `PublishedAdapter`: bytes that differ with the version, with the checksum a puller must reproduce."""

    facts: AdapterFacts
    content: np.ndarray

    def pull(self) -> PullReceipt:
        """Read every byte. Raises `SyncError` where they are not what was published."""
        sha256 = _digest(self.content)
        if sha256 != self.facts.sha256:
            raise SyncError(
                f"policy version {self.facts.policy_version} must read back as sha256 {self.facts.sha256}, got {sha256}"
            )
        return PullReceipt(
            policy_version=self.facts.policy_version, num_bound_tensors=self.facts.num_tensors, sha256=sha256
        )


def make_adapter(policy_version: int, num_bytes: int) -> EmulatedAdapter:
    content = np.frombuffer(np.random.default_rng(policy_version).bytes(num_bytes), dtype=np.uint8)
    facts = AdapterFacts(policy_version=policy_version, num_tensors=1, num_bytes=num_bytes, sha256=_digest(content))
    return EmulatedAdapter(facts=facts, content=content)


def trajectory_seed(run_seed: int, purpose: Purpose, batch: int, prompt_index: int, member: int) -> int:
    return zlib.crc32(f"{run_seed}|{purpose}|{batch}|{prompt_index}|{member}".encode())


def _digest(content: np.ndarray) -> str:
    return hashlib.sha256(content.data).hexdigest()
