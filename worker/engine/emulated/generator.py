"""Emulated rollout and reward lanes: they take and return the same messages as real ones, and wait instead of
computing."""

import time
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.scorer_access import ScorerAccess
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport, GenerationReport
from worker.engine.emulated.timing import EmulatedTiming, Emulation
from worker.engine.emulated.values import (
    NUM_LATENT_VALUES,
    PICTURE_SIDE,
    EmulatedTrajectories,
    trajectory_seed,
)
from worker.engine.errors import SyncError
from worker.engine.transport.parts import Part
from worker.engine.types import GenerationRequest, PullReceipt, ScoredFragment
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.messages import Fragment, Purpose
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread


class EmulatedLane(LaneActor):
    """A lane whose work is a wait; `emulation` is set by `emulated_actors`."""

    emulation: ClassVar[Emulation]

    def __init__(self, lane: str, device: str, is_kept: bool = False) -> None:
        super().__init__(lane, device, is_kept)
        self._timing = EmulatedTiming(self.emulation)


class EmulatedGenerator(EmulatedLane):
    """The methods of lanes that generate: rollout lanes and lent trainer lanes."""

    _version: int | None = None
    """The policy version pulled last."""

    def generate(self, requests: Sequence[GenerationRequest], parts: Sequence[Sequence[Part]]) -> tuple[Any, ...]:
        """As `GeneratingActor.generate`, with `EmulatedTrajectories` for each part. A call takes as long as its
        fragments: their cost is their share of calls such as this."""
        start = time.monotonic()
        reports, values = list[GenerationReport](), list[Any]()
        for request, own_parts in zip(requests, parts, strict=True):
            report, *own_values = self._generate(request, own_parts)
            reports.append(report)
            values += own_values
        return self._report(start, tuple(reports)), *values

    def _generate(self, request: GenerationRequest, parts: Sequence[Part]) -> tuple[Any, ...]:
        """The report of one fragment, its pictures and its parts, when its cost has passed."""
        start = time.monotonic()
        fragment = request.fragment
        if fragment.policy_version != self._version:
            raise SyncError(
                f"fragment {fragment.key} needs policy version {fragment.policy_version}, got {self._version}: pull it "
                "first"
            )
        key, num_members = fragment.key, len(fragment.members)
        seeds = tuple(
            trajectory_seed(request.run_seed, key.purpose, key.batch, request.prompt_index, member, fragment.draw)
            for member in fragment.members
        )
        rng = np.random.default_rng(seeds)
        images = rng.integers(0, 256, (num_members, PICTURE_SIDE, PICTURE_SIDE, 3), dtype=np.uint8)
        latents = rng.standard_normal((num_members, NUM_LATENT_VALUES), dtype=np.float32)
        rows = {member: row for row, member in enumerate(fragment.members)}
        trajectories = [
            EmulatedTrajectories(fragment=fragment, part=part, latents=latents[[rows[each] for each in part.members]])
            for part in parts
        ]
        self._timing.wait_until_due(start, self.lane, CostKind.GENERATE, num_members)
        num_bytes = self.emulation.trajectory_num_bytes * num_members if parts else 0
        seconds = time.monotonic() - start
        report = GenerationReport(seeds=seeds, generate_seconds=seconds, decode_seconds=0.0, num_bytes=num_bytes)
        return report, images, *trajectories

    def pull(self, version: RemoteVersion) -> CallReport[PullReceipt]:
        start = time.monotonic()
        (shard,) = version.shards()
        receipt = shard.pull()
        self._version = receipt.policy_version
        self._timing.wait_until_due(start, self.lane, CostKind.PULL)
        return self._report(start, receipt)


class EmulatedRollout(EmulatedGenerator):
    """An emulated rollout lane."""

    def load(self, spec: RunSpec, base_model_path: str, prompts: Sequence[Prompt]) -> CallReport[None]:
        return self._report(time.monotonic(), None)


class EmulatedReward(EmulatedLane):
    """An emulated reward lane: every reward is the mean brightness of the picture, or 0 for all members of a group that
    the emulation leaves without spread."""

    def load(self, spec: RunSpec, access: ScorerAccess, num_gpus: int = 1) -> CallReport[None]:
        self._names = tuple(reward.key for reward in spec.rewards)
        return self._report(time.monotonic(), None)

    def score(self, fragment: Fragment, prompt: Prompt, images: np.ndarray) -> CallReport[ScoredFragment]:
        start = time.monotonic()
        rewards = tuple(float(value) for value in images.mean(axis=(1, 2, 3)))
        share = self.emulation.share_without_spread
        if fragment.key.purpose is Purpose.TRAIN and not has_synthetic_spread(fragment, share):
            rewards = (0.0,) * len(rewards)
        self._timing.wait_until_due(start, self.lane, CostKind.SCORE, len(fragment.members))
        parts: dict[str, tuple[float | None, ...]] = dict.fromkeys(self._names, rewards)
        return self._report(start, ScoredFragment(fragment=fragment, rewards=rewards, parts=parts))
