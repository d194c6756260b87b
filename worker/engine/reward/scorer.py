"""The reward lane as a plain class: pictures of one fragment in, its rewards out."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.contracts.sections import RewardSpec
from worker.engine.reward.mixing import MixedReward, MixedRewardResult
from worker.engine.types import ScoredFragment
from worker.pipeline.types import Fragment, Purpose


class Scorer:
    def __init__(self, rewards: Sequence[RewardSpec]) -> None:
        """Build every scorer of the run, so that a missing one fails before the run begins."""
        self._mixed = MixedReward.from_specs(rewards)

    def score(self, fragment: Fragment, prompt: str, images: NDArray[np.uint8]) -> ScoredFragment:
        """Score the pictures (N, H, W, 3) or clips (N, F, H, W, 3) of one fragment.

        A watched reward that failed on some sample is left out of `parts`. Pictures that a user asked for may show
        prompts that no trained reward understands: the run goes on, with such a picture named in `unrewarded` and the
        failed reward left out of `parts`. Nothing is ever trained on those.

        Raises:
            RewardError: when a trained reward failed on a sample of training or evaluation.
        """
        result = self._mixed.score(images, [prompt] * len(images))
        total = result.total
        if fragment.key.purpose is not Purpose.REQUEST:
            return ScoredFragment(fragment=fragment, rewards=total.require_complete("total"), parts=_parts(result))
        return ScoredFragment(
            fragment=fragment,
            rewards=tuple(0.0 if score is None else score for score in total.scores),
            parts=_parts(result),
            unrewarded=frozenset(place for place, score in enumerate(total.scores) if score is None),
        )


def _parts(result: MixedRewardResult) -> dict[str, tuple[float, ...]]:
    return {name: part.require_complete(name) for name, part in result.parts.items() if not part.num_errors}
