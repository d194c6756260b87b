"""A rollout lane: generates fragments and pulls versions between them, never inside one."""

import time
from collections.abc import Sequence

from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.generating import GeneratingActor
from worker.engine.actors.reports import CallReport


class RolloutActor(GeneratingActor):
    def load(self, spec: RunSpec, base_model_path: str, prompts: Sequence[Prompt]) -> CallReport[None]:
        """Load the model. The run's `prompts` are encoded first, so that text encoders and transformer are never in
        memory together."""
        start = time.monotonic()
        self._algebra = spec.algebra
        with self._loading():
            from worker.engine.models.prompt_encoding import run_embeddings
            from worker.engine.rollout.sampler import Sampler

            embeddings = run_embeddings(spec, base_model_path, prompts)
            self._sampler = Sampler.load(spec, base_model_path, embeddings=embeddings)
        return self._report(start, None)
