"""One GPU of a rollout lane beyond the first: it makes its part of the predictions of the lane's own process.

It is started by that process (`generation_followers`) and ends with it, since Ray ends actors whose owner has ended. It
has the transformer alone, with all of its weights.
"""

import time

from worker.contracts.run_spec import RunSpec
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport
from worker.engine.devices.visibility import visible_uuids
from worker.engine.types import PullReceipt


class FollowerActor(LaneActor):
    """Called by rank 0 of its lane, one method after the other, and beside that by the driver."""

    def load(self, spec: RunSpec, base_model_path: str) -> CallReport[tuple[str, ...]]:
        """Load the transformer; the value is the UUIDs of the accelerators that this process sees. Raises
        `ModelLoadError` as `Sampler.load` does."""
        start = time.monotonic()
        with self._loading():
            from worker.engine.models.pipeline_loading import Part
            from worker.engine.rollout.generation_model import load_generation_model

            self._model = load_generation_model(spec, base_model_path, parts=frozenset({Part.TRANSFORMER}))
        return self._report(start, visible_uuids())

    def join(self, rank: int, size: int, port: int) -> CallReport[None]:
        """Join the lane's group of `size` ranks at the store on `port`, and spread the transformer."""
        start = time.monotonic()
        from worker.engine.context_parallel.lane_group import join_group
        from worker.engine.context_parallel.spreading import lane_mesh, spread

        join_group(rank, size, port)
        spread(self._model.transformer, lane_mesh(self._model.device, size))
        return self._report(start, None)

    def bind(self, version: RemoteVersion, *, evaluated: bool) -> CallReport[PullReceipt]:
        """Bind a published version and read it back. Raises `SyncError` as `bind` does."""
        start = time.monotonic()
        from worker.engine.sync.binding import bind

        return self._report(start, bind(self._model.trainable, version, evaluated=evaluated))

    def follow(self) -> CallReport[int]:
        """Make this GPU's part of every prediction until rank 0 ends them; the value is their number."""
        start = time.monotonic()
        from worker.engine.context_parallel.calls import follow_calls

        return self._report(start, follow_calls(self._model.transformer, self._model.device))
