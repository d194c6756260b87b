"""A reward lane's scorer: failures of required rewards end the run, except on samples that a user requested."""

import numpy as np
import pytest

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RewardSpec
from worker.engine.reward.base import RewardError
from worker.engine.reward.scorer import Scorer
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

IMAGES = np.full((2, 32, 32, 3), 240, dtype=np.uint8)
REWARDS = (
    RewardSpec(name=RewardName.SHAPE_MATCH, weight=2.0),
    RewardSpec(name=RewardName.COLORFULNESS, watched=True),
)


def fragment(purpose: Purpose) -> Fragment:
    return Fragment(FragmentKey(purpose, 0, 0, 0), (0, 1), 0)


def test_rewards_are_weighted_and_every_part_is_returned() -> None:
    scored = Scorer(REWARDS).score(fragment(Purpose.TRAIN), Prompt(text="a red square"), IMAGES)
    assert set(scored.parts) == {"shape_match", "colorfulness"}
    assert scored.rewards == tuple(2 * part for part in scored.parts["shape_match"] if part is not None)
    assert len(scored.rewards) == 2
    assert not scored.unrewarded
    assert not scored.errors


@pytest.mark.parametrize("purpose", [Purpose.TRAIN, Purpose.EVALUATE])
def test_a_required_reward_that_fails_raises(purpose: Purpose) -> None:
    with pytest.raises(RewardError, match="failed on 2 of 2 samples"):
        Scorer(REWARDS).score(fragment(purpose), Prompt(text="a view of the sea"), IMAGES)


def test_a_requested_sample_may_lack_required_rewards() -> None:
    scored = Scorer(REWARDS).score(fragment(Purpose.REQUEST), Prompt(text="a view of the sea"), IMAGES)
    assert scored.unrewarded == {0, 1}
    assert scored.parts["shape_match"] == (None, None)
    assert None not in scored.parts["colorfulness"]


def test_a_watched_reward_that_fails_is_missing_and_no_other() -> None:
    watched = (
        RewardSpec(name=RewardName.COLORFULNESS),
        RewardSpec(name=RewardName.SHAPE_MATCH, watched=True),
    )
    scored = Scorer(watched).score(fragment(Purpose.TRAIN), Prompt(text="a view of the sea"), IMAGES)
    assert scored.parts["shape_match"] == (None, None)
    assert set(scored.errors) == {"shape_match"}
    assert all(error is not None and "a view of the sea" in error for error in scored.errors["shape_match"])
    assert scored.rewards == scored.parts["colorfulness"]
    assert not scored.unrewarded


def test_an_optional_reward_that_fails_leaves_the_sample_without_a_sum() -> None:
    optional = (
        RewardSpec(name=RewardName.COLORFULNESS),
        RewardSpec(name=RewardName.SHAPE_MATCH, required=False),
    )
    scored = Scorer(optional).score(fragment(Purpose.TRAIN), Prompt(text="a view of the sea"), IMAGES)
    assert scored.parts["shape_match"] == (None, None)
    assert scored.unrewarded == {0, 1}
