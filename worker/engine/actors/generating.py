"""The actor methods of lanes that generate, rollout lanes and lent trainer lanes: pull a version, generate
fragments."""

import time
from typing import TYPE_CHECKING

import numpy as np

from worker.engine.actors.lane import LaneActor
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport, GenerationReport
from worker.engine.types import GenerationRequest, PullReceipt, Trajectories

if TYPE_CHECKING:
    from worker.engine.rollout.sampler import Sampler


class GeneratingActor(LaneActor):
    """Generates fragments with a sampler, which the subclass's `load` sets."""

    _sampler: "Sampler"

    def generate(
        self, request: GenerationRequest
    ) -> tuple[CallReport[GenerationReport], np.ndarray, Trajectories | None]:
        """Generate a fragment. Called with `num_returns=3`, so that each value has a Ray reference of its own: the
        driver reads the first, a reward lane the second, trainer lanes the third."""
        start = time.monotonic()
        generated = self._sampler.generate(request)
        report = GenerationReport(seeds=generated.seeds, decode_seconds=generated.decode_seconds)
        return self._report(start, report), generated.images, generated.trajectories

    def pull(self, version: RemoteVersion) -> CallReport[PullReceipt]:
        """Bind a published version. Raises `SyncError` as `Sampler.pull` does."""
        start = time.monotonic()
        return self._report(start, self._sampler.pull(version))
