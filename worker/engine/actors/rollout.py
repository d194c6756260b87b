"""A rollout lane: generates fragments and pulls versions between them, never inside one. A lane of several GPUs spreads
each prediction over them, where the spec says so; this process is the first of them."""

import logging
import time
from collections.abc import Sequence
from typing import ClassVar

from worker.contracts.device_masks import entries
from worker.contracts.performance import ContextParallel
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.follower import FollowerActor
from worker.engine.actors.generating import GeneratingActor
from worker.engine.actors.lane_followers import LaneFollowers
from worker.engine.actors.reports import CallReport

logger = logging.getLogger(__name__)


class RolloutActor(GeneratingActor):
    follower_class: ClassVar = FollowerActor
    """The class of the actors of the lane's other GPUs."""

    def load(self, spec: RunSpec, base_model_path: str, prompts: Sequence[Prompt]) -> CallReport[None]:
        """Load the model. The run's `prompts` are encoded first, so that text encoders and transformer are never in
        memory together."""
        start = time.monotonic()
        self._algebra = spec.algebra
        with self._loading():
            from worker.engine.models.prompt_encoding import run_embeddings
            from worker.engine.rollout.sampler import Sampler

            followers = self._start_followers(spec, base_model_path)
            embeddings = run_embeddings(spec, base_model_path, prompts)
            self._sampler = Sampler.load(spec, base_model_path, embeddings=embeddings, followers=followers)
        return self._report(start, None)

    def _start_followers(self, spec: RunSpec, base_model_path: str) -> LaneFollowers | None:
        """The lane's other GPUs, which begin to load; `None` where it has none, or they stay idle. Raises
        `ModelLoadError` for a model that cannot be spread over so many."""
        devices = entries(self._device)
        if len(devices) == 1:
            return None
        if spec.kernels.context_parallel is ContextParallel.OFF:
            logger.info("the lane computes on the first of its %d GPUs: predictions are not spread", len(devices))
            return None
        from worker.engine.context_parallel.spreading import check_spreadable
        from worker.engine.models.registry import load_model

        model = load_model(spec.base_model, base_model_path, parts=frozenset())
        check_spreadable(model, spec.sampling, len(devices))
        followers = LaneFollowers(self.lane, devices[1:], actor_class=self.follower_class)
        followers.load(spec, base_model_path)
        return followers
