"""A reward lane: scores pictures as fragments arrive. Needs no torch unless one of its rewards does."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from worker.contracts.run_spec import RunSpec
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.reports import CallReport
from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment

if TYPE_CHECKING:
    from worker.engine.reward.scorer import Scorer


class RewardActor(LaneActor):
    _scorer: "Scorer"

    def load(self, spec: RunSpec, secrets: Mapping[str, str]) -> CallReport[None]:
        """`secrets` are the tokens of remote scorers by name: held in memory here, never in an environment."""
        start = time.monotonic()
        from worker.engine.reward.scorer import Scorer

        self._scorer = Scorer(spec.rewards, secrets)
        self._check_device()
        return self._report(start, None)

    def score(self, fragment: Fragment, prompt: str, images: np.ndarray) -> CallReport[ScoredFragment]:
        start = time.monotonic()
        return self._report(start, self._scorer.score(fragment, prompt, images))
