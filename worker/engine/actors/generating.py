"""What a rollout lane and a lent trainer lane have in common: pull a version, generate fragments with it."""

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
    """`_sampler` is set by `load`."""

    _sampler: "Sampler"

    def generate(
        self, request: GenerationRequest
    ) -> tuple[CallReport[GenerationReport], np.ndarray, Trajectories | None]:
        """Called with three returns: the driver reads the first, a reward lane the second, trainers the third."""
        start = time.monotonic()
        made = self._sampler.generate(request)
        report = GenerationReport(seeds=made.seeds, decode_seconds=made.decode_seconds)
        return self._report(start, report), made.images, made.trajectories

    def pull(self, version: RemoteVersion) -> CallReport[PullReceipt]:
        start = time.monotonic()
        return self._report(start, self._sampler.pull(version))
