from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.sections import RewardSpec
from worker.engine.reward.base import RewardResult
from worker.engine.reward.mixing import MixedReward, WeightedReward

PICTURES = np.zeros((3, 32, 32, 3), dtype=np.uint8)
PROMPTS = ["a red circle"] * 3


class Fixed:
    """A reward that always gives the scores it was made with; None is a failed sample."""

    def __init__(self, name: str, scores: Sequence[float | None]) -> None:
        self.name = name
        self._result = RewardResult(tuple(scores), tuple("broken" if score is None else None for score in scores))

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        return self._result


def test_the_total_is_the_weighted_sum_and_the_parts_are_kept() -> None:
    mixed = MixedReward([WeightedReward(Fixed("a", [1, 2, 3]), 2.0), WeightedReward(Fixed("b", [10, 20, 30]), 0.5)])
    result = mixed.score(PICTURES, PROMPTS)
    assert result.total.scores == (7.0, 14.0, 21.0)
    assert result.parts["a"].scores == (1, 2, 3)
    assert result.parts["b"].scores == (10, 20, 30)


def test_a_watched_reward_is_kept_but_never_enters_the_total() -> None:
    watched = WeightedReward(Fixed("seen", [100, None, 100]), 5.0, watched=True)
    result = MixedReward([WeightedReward(Fixed("a", [1, 2, 3])), watched]).score(PICTURES, PROMPTS)
    assert result.total.scores == (1.0, 2.0, 3.0)
    assert result.parts["seen"].errors == (None, "broken", None)


def test_a_failed_trained_part_makes_the_total_of_that_sample_an_error() -> None:
    mixed = MixedReward([WeightedReward(Fixed("a", [1, None, 3])), WeightedReward(Fixed("b", [1, 1, 1]))])
    result = mixed.score(PICTURES, PROMPTS)
    assert result.total.scores == (2.0, None, 4.0)
    assert result.total.errors == (None, "a: broken", None)


def test_a_mix_of_watched_rewards_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="not watched"):
        MixedReward([WeightedReward(Fixed("a", [1]), watched=True)])


def test_one_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="each reward once"):
        MixedReward([WeightedReward(Fixed("a", [1])), WeightedReward(Fixed("a", [1]))])


def test_specs_become_scorers_with_their_weights() -> None:
    mixed = MixedReward.from_specs(
        [RewardSpec(name=RewardName.COLORFULNESS, weight=2.0), RewardSpec(name=RewardName.SHAPE_MATCH, watched=True)]
    )
    vivid = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    vivid[:, :, :16] = (255, 0, 0)
    vivid[:, :, 16:] = (0, 0, 255)
    result = mixed.score(vivid, ["a red circle"])
    assert set(result.parts) == {"colorfulness", "shape_match"}
    assert result.total.require_complete("total")[0] == pytest.approx(
        2.0 * result.parts["colorfulness"].require_complete("colorfulness")[0]
    )
