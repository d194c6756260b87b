"""Builds the scorer of a `RewardSpec`. The registry has one entry per `RewardName`; a test equates the two.

Scorers are imported when they are built, so that a lane spends no time and memory on libraries (torch, OCR, HTTP) that
its own rewards do not use.
"""

from collections.abc import Callable
from importlib import import_module

from worker.contracts.names import RewardName
from worker.contracts.rewards import RemoteSettings, RewardSpec
from worker.contracts.scorer_access import ScorerAccess
from worker.engine.reward.base import Reward
from worker.engine.reward.scored_run import ScoredRun

Builder = Callable[[RewardSpec, ScorerAccess, ScoredRun | None], Reward]


def _local(module: str, class_name: str) -> Builder:
    """A builder of a scorer whose constructor takes the spec's `settings`, or nothing where there are none."""

    def build(spec: RewardSpec, access: ScorerAccess, run: ScoredRun | None) -> Reward:
        reward_class = getattr(import_module(f"worker.engine.reward.{module}"), class_name)
        reward: Reward = reward_class() if spec.settings is None else reward_class(spec.settings)
        return reward

    return build


def _network(module: str, class_name: str) -> Builder:
    """A builder of a scorer with a network, which may need more memory than its device has left."""

    def build(spec: RewardSpec, access: ScorerAccess, run: ScoredRun | None) -> Reward:
        reward: Reward = getattr(import_module(f"worker.engine.reward.{module}"), class_name)(spec.settings, run)
        return reward

    return build


def _remote(spec: RewardSpec, access: ScorerAccess, run: ScoredRun | None) -> Reward:
    from worker.engine.reward.remote import RemoteReward

    assert isinstance(spec.settings, RemoteSettings), "`RewardSpec` validates this"
    return RemoteReward(spec.settings, access, timeout_seconds=spec.timeout_seconds)


REWARDS: dict[RewardName, Builder] = {
    RewardName.SHAPE_MATCH: _local("shapes.shape_match", "ShapeMatch"),
    RewardName.SHAPE_JUDGE: _local("shapes.shape_judge", "ShapeJudge"),
    RewardName.JPEG_COMPRESSIBILITY: _local("jpeg_compressibility", "JpegCompressibility"),
    RewardName.COLORFULNESS: _local("colorfulness", "Colorfulness"),
    RewardName.OCR: _local("ocr", "Ocr"),
    RewardName.CLIP_SCORE: _network("clip_score", "ClipScore"),
    RewardName.PICK_SCORE: _network("pick_score", "PickScore"),
    RewardName.HPS_V2: _network("hps_v2", "HpsV2"),
    RewardName.IMAGE_REWARD: _network("image_reward", "ImageReward"),
    RewardName.AESTHETIC: _network("aesthetic", "Aesthetic"),
    RewardName.MOTION_SMOOTHNESS: _local("motion_smoothness", "MotionSmoothness"),
    RewardName.REMOTE: _remote,
}


def build_reward(spec: RewardSpec, access: ScorerAccess, run: ScoredRun | None = None) -> Reward:
    """Build a scorer. Its model is loaded now, so that a missing one fails the run before it trains; `run` is for
    the figures of its plan.

    Raises:
        ModelLoadError: when its weights cannot be used.
        DeviceMemoryError: when the device has no memory for them.
        SecretMissingError: when it needs a token that is not among those of `access`.
        RemoteAddressError: when its address is not valid, or its host neither public nor allowed.
    """
    return REWARDS[spec.name](spec, access, run)
