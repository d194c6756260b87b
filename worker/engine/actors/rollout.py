"""A rollout lane: generates fragments and pulls adapters between them, never inside one."""

import time
from typing import TYPE_CHECKING

import numpy as np

from worker.contracts.run_spec import RunSpec
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.reports import CallReport, GenerationReport
from worker.engine.types import GenerationRequest, PublishedAdapter, PullReceipt, Trajectories

if TYPE_CHECKING:
    from worker.engine.rollout.engine import RolloutEngine


class RolloutActor(LaneActor):
    _engine: "RolloutEngine"

    def load(self, spec: RunSpec, base_model_path: str) -> CallReport[None]:
        start = time.monotonic()
        from worker.engine.rollout.engine import RolloutEngine

        self._engine = RolloutEngine(spec, base_model_path)
        self._check_device()
        return self._report(start, None)

    def generate(
        self, request: GenerationRequest
    ) -> tuple[CallReport[GenerationReport], np.ndarray, Trajectories | None]:
        """Called with three returns: the driver reads the first, a reward lane the second, trainers the third."""
        start = time.monotonic()
        made = self._engine.generate(request)
        report = GenerationReport(seeds=made.seeds, decode_seconds=made.decode_seconds)
        return self._report(start, report), made.images, made.trajectories

    def pull(self, adapter: PublishedAdapter) -> CallReport[PullReceipt]:
        start = time.monotonic()
        return self._report(start, self._engine.pull(adapter))
