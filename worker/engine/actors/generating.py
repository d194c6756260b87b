"""The actor methods of lanes that generate, rollout lanes and lent trainer lanes: pull a version, generate
fragments."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from worker.contracts.algebra import BatchAlgebra
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport, GenerationReport
from worker.engine.transport.parts import Part
from worker.engine.types import GenerationRequest, PullReceipt

if TYPE_CHECKING:
    from worker.engine.rollout.sampler import Sampler


class GeneratingActor(LaneActor):
    """Generates fragments with a sampler, which the subclass's `load` sets together with the run's algebra."""

    _sampler: "Sampler"
    _algebra: BatchAlgebra

    def generate(self, request: GenerationRequest, parts: Sequence[Part]) -> tuple[Any, ...]:
        """Generate a fragment.

        Args:
            request: the fragment.
            parts: how its trajectories are cut; empty where they are not trained on.

        Returns:
            A `CallReport` of a `GenerationReport` for the driver, the pictures for a reward lane, then
            `PackedTrajectories` for each of `parts`, for trainer lanes: each a Ray return value of its own.
        """
        start = time.monotonic()
        from worker.engine.transport.packed_trajectories import PackedTrajectories, cut

        generated = self._sampler.generate(request)
        trajectories = generated.trajectories
        report = GenerationReport(
            seeds=generated.seeds,
            decode_seconds=generated.decode_seconds,
            num_bytes=0 if trajectories is None else trajectories.num_bytes,
        )
        own = [] if trajectories is None else cut(trajectories, parts, self._algebra)
        return self._report(start, report), generated.images, *(PackedTrajectories.of(part) for part in own)

    def pull(self, version: RemoteVersion) -> CallReport[PullReceipt]:
        """Bind a published version. Raises `SyncError` as `Sampler.pull` does."""
        start = time.monotonic()
        return self._report(start, self._sampler.pull(version))
