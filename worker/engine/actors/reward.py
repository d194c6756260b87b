"""A reward lane: scores the pictures of generated fragments. It imports torch only if one of its rewards does."""

import time
from typing import TYPE_CHECKING

import numpy as np

from worker.contracts.lanes import CPU_DEVICE
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.scorer_access import ScorerAccess
from worker.engine.actors.lane import LaneActor
from worker.engine.actors.reports import CallReport
from worker.engine.devices.cpu_threads import threads_of_scoring, use_threads
from worker.engine.load_keys import scoring_key
from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment

if TYPE_CHECKING:
    from worker.engine.reward.scorer import Scorer


class RewardActor(LaneActor):
    _scorer: "Scorer"

    def __init__(self, lane: str, device: str, is_kept: bool = False) -> None:
        """As `LaneActor`; without an accelerator, networks and text recognition get the cores that are idle."""
        super().__init__(lane, device, is_kept)
        if device == CPU_DEVICE:
            use_threads(threads_of_scoring())

    def load(self, spec: RunSpec, access: ScorerAccess, num_gpus: int = 1) -> CallReport[None]:
        """Build the scorers. A surviving lane has them.

        Args:
            spec: the run's.
            access: for remote scorers.
            num_gpus: of the lane whose card this one shares; 1 where it shares none.
        """
        start = time.monotonic()
        key = scoring_key(spec, access)
        if self._loaded_as == key:
            return self._report(start, None)
        with self._loading():
            from worker.engine.reward.scored_run import ScoredRun
            from worker.engine.reward.scorer import Scorer

            self._scorer = Scorer(spec.rewards, access, ScoredRun(spec, num_gpus))
        self._loaded_as = key
        return self._report(start, None)

    def score(self, fragment: Fragment, prompt: Prompt, images: np.ndarray) -> CallReport[ScoredFragment]:
        """Score a fragment. Raises `RewardError` as `Scorer.score` does."""
        start = time.monotonic()
        return self._report(start, self._scorer.score(fragment, prompt, images))
