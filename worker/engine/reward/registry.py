"""From a reward's name in the spec to the object that scores. One entry per `RewardName`; a test equates the two."""

from collections.abc import Callable

from worker.contracts.names import RewardName
from worker.engine.reward.base import Reward
from worker.engine.reward.colorfulness import Colorfulness
from worker.engine.reward.jpeg_compressibility import JpegCompressibility
from worker.engine.reward.shape_match import ShapeMatch


def _shape_judge() -> Reward:
    # Its network needs torch: seconds of start-up that lanes with other rewards are spared.
    from worker.engine.reward.shape_judge import ShapeJudge

    return ShapeJudge()


REWARDS: dict[RewardName, Callable[[], Reward]] = {
    RewardName.SHAPE_MATCH: ShapeMatch,
    RewardName.SHAPE_JUDGE: _shape_judge,
    RewardName.JPEG_COMPRESSIBILITY: JpegCompressibility,
    RewardName.COLORFULNESS: Colorfulness,
}


def build_reward(name: RewardName) -> Reward:
    """A new scorer; loads its model now, so that a missing one fails before the run begins."""
    return REWARDS[name]()
