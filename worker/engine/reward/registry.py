"""From a reward's spec to the object that scores. One entry per `RewardName`; a test equates the two.

Scorers are imported when they are built: torch, OCR and HTTP cost seconds and memory that lanes with other rewards are
spared, and a lane loads what its own scorers need, nothing else.
"""

from collections.abc import Callable, Mapping
from importlib import import_module

from worker.contracts.names import RewardName
from worker.contracts.rewards import RemoteSettings, RewardSpec
from worker.engine.reward.base import Reward

Secrets = Mapping[str, str]
"""Tokens by name."""
Builder = Callable[[RewardSpec, Secrets], Reward]


def _plain(module: str, kind: str) -> Builder:
    """For scorers that are made with nothing, or with the spec's `settings` where it has some."""

    def build(spec: RewardSpec, secrets: Secrets) -> Reward:
        made: Reward = getattr(import_module(f"worker.engine.reward.{module}"), kind)(
            *(() if spec.settings is None else (spec.settings,))
        )
        return made

    return build


def _remote(spec: RewardSpec, secrets: Secrets) -> Reward:
    from worker.engine.reward.remote import RemoteReward

    assert isinstance(spec.settings, RemoteSettings), "the spec's validation says so"
    return RemoteReward(spec.settings, secrets, timeout_seconds=spec.timeout_seconds)


REWARDS: dict[RewardName, Builder] = {
    RewardName.SHAPE_MATCH: _plain("shapes.shape_match", "ShapeMatch"),
    RewardName.SHAPE_JUDGE: _plain("shapes.shape_judge", "ShapeJudge"),
    RewardName.JPEG_COMPRESSIBILITY: _plain("jpeg_compressibility", "JpegCompressibility"),
    RewardName.COLORFULNESS: _plain("colorfulness", "Colorfulness"),
    RewardName.OCR: _plain("ocr", "Ocr"),
    RewardName.CLIP_SCORE: _plain("clip_score", "ClipScore"),
    RewardName.PICK_SCORE: _plain("pick_score", "PickScore"),
    RewardName.HPS_V2: _plain("hps_v2", "HpsV2"),
    RewardName.IMAGE_REWARD: _plain("image_reward", "ImageReward"),
    RewardName.AESTHETIC: _plain("aesthetic", "Aesthetic"),
    RewardName.MOTION_SMOOTHNESS: _plain("motion_smoothness", "MotionSmoothness"),
    RewardName.REMOTE: _remote,
}


def build_reward(spec: RewardSpec, secrets: Secrets) -> Reward:
    """A new scorer; loads its model now, so that a missing one fails before the run begins.

    Raises:
        ModelLoadError: its weights cannot be used.
        SecretMissingError: it needs a token that is not among `secrets`.
    """
    return REWARDS[spec.name](spec, secrets)
