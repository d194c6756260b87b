"""A rollout lane: generates fragments and pulls adapters between them, never inside one."""

import time

from worker.contracts.run_spec import RunSpec
from worker.engine.actors.generating import GeneratingActor
from worker.engine.actors.reports import CallReport


class RolloutActor(GeneratingActor):
    def load(self, spec: RunSpec, base_model_path: str) -> CallReport[None]:
        start = time.monotonic()
        from worker.engine.rollout.engine import RolloutEngine

        self._rollout = RolloutEngine.load(spec, base_model_path)
        self._check_device()
        return self._report(start, None)
