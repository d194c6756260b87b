"""The actor methods of lanes that generate, rollout lanes and lent trainer lanes: pull a version, generate fragments.
Either may have several GPUs, of which the actor's process is the first."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ray

from worker.contracts.algebra import BatchAlgebra
from worker.engine.actors.lane import WATCHING, LaneActor
from worker.engine.actors.lane_followers import LaneFollowers
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport, GenerationReport, OpenCollective
from worker.engine.transport.parts import Part
from worker.engine.types import GenerationRequest, PullReceipt

if TYPE_CHECKING:
    from worker.engine.rollout.sampler import Sampler


class GeneratingActor(LaneActor):
    """Generates fragments with a sampler, which the subclass's `load` sets together with the run's algebra."""

    _sampler: "Sampler"
    _algebra: BatchAlgebra
    _followers: LaneFollowers | None = None
    """The lane's other GPUs, where they compute together."""

    def generate(self, requests: Sequence[GenerationRequest], parts: Sequence[Sequence[Part]]) -> tuple[Any, ...]:
        """Generate fragments.

        Args:
            requests: the fragments, of one purpose.
            parts: for each of them, how its trajectories are cut; empty where they are not trained on.

        Returns:
            A `CallReport` of a `GenerationReport` for each fragment, for the driver; then, for each fragment, the
            pictures for a reward lane and `PackedTrajectories` for each of its parts, for trainer lanes: each a Ray
            return value of its own.
        """
        start = time.monotonic()
        from worker.engine.transport.packed_trajectories import PackedTrajectories, cut

        reports, values = list[GenerationReport](), list[Any]()
        for generated, own_parts in zip(self._sampler.generate_all(requests), parts, strict=True):
            trajectories = generated.trajectories
            reports.append(
                GenerationReport(
                    seeds=generated.seeds,
                    generate_seconds=generated.generate_seconds,
                    decode_seconds=generated.decode_seconds,
                    num_bytes=0 if trajectories is None else trajectories.num_bytes,
                )
            )
            values.append(generated.images)
            if trajectories is not None:
                values += [PackedTrajectories.of(part) for part in cut(trajectories, own_parts, self._algebra)]
        return self._report(start, tuple(reports)), *values

    def pull(self, version: RemoteVersion) -> CallReport[PullReceipt]:
        """Bind a published version. Raises `SyncError` as `Sampler.pull` does."""
        start = time.monotonic()
        return self._report(start, self._sampler.pull(version))

    @ray.method(concurrency_group=WATCHING)
    def collectives_by_gpu(self) -> dict[int, tuple[OpenCollective, ...] | None]:
        """As `LaneActor.collectives_by_gpu`."""
        found = super().collectives_by_gpu()
        return found if self._followers is None else {**found, **self._followers.open_collectives()}
