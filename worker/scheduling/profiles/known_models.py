"""Finds the profile of a base model by its path or hub id, or the one that stands in for an unknown model.

Invariant: profiles are only priors. Nothing here is consulted once a run has measured its own costs.
"""

from worker.contracts.names import ModelFamily
from worker.contracts.sections import BaseModelSpec
from worker.scheduling.profiles.image_models import (
    FLUX,
    FLUX2,
    KLEIN_4B,
    KLEIN_9B,
    QWEN_IMAGE,
    SD3_MEDIUM,
    SD35_LARGE,
    SD35_MEDIUM,
    SHAPES,
    Z_IMAGE,
)
from worker.scheduling.profiles.model_profile import ModelProfile
from worker.scheduling.profiles.video_models import HUNYUAN_VIDEO, WAN, WAN22_5B, WAN22_A14B, WAN_1_3B

PROFILES = {
    profile.name: profile
    for profile in (
        HUNYUAN_VIDEO,
        WAN,
        WAN_1_3B,
        WAN22_A14B,
        WAN22_5B,
        FLUX,
        FLUX2,
        KLEIN_4B,
        KLEIN_9B,
        SD3_MEDIUM,
        SD35_MEDIUM,
        SD35_LARGE,
        QWEN_IMAGE,
        Z_IMAGE,
        SHAPES,
    )
}
"""All profiles by name; the first one whose hub name fits a path is taken."""
_STAND_INS = {
    ModelFamily.FLUX: FLUX,
    ModelFamily.SD3: SD35_MEDIUM,
    ModelFamily.FLUX2: FLUX2,
    ModelFamily.FLUX2_KLEIN: KLEIN_4B,
    ModelFamily.QWEN_IMAGE: QWEN_IMAGE,
    ModelFamily.Z_IMAGE: Z_IMAGE,
    ModelFamily.WAN: WAN,
    ModelFamily.WAN22: WAN22_A14B,
    ModelFamily.HUNYUAN_VIDEO: HUNYUAN_VIDEO,
}
"""By family: the model of its usual size, which an unknown model of the family is assumed to resemble."""


def profile_of(base_model: BaseModelSpec) -> ModelProfile:
    """The profile of the model that a base model's path or hub id (`org/name`) names, or its family's stand-in."""
    return _named(base_model.path) or _STAND_INS[base_model.family]


def has_profile(base_model: BaseModelSpec) -> bool:
    """Whether a base model has a profile of its own."""
    return _named(base_model.path) is not None


def stand_in_profile(base_model: BaseModelSpec) -> str | None:
    """The name of the profile that stands in for a model without one; `None` for a model that has its own."""
    return None if has_profile(base_model) else profile_of(base_model).name


def _named(path: str) -> ModelProfile | None:
    name = path.rstrip("/").rsplit("/", 1)[-1].lower()
    matching = [profile for profile in PROFILES.values() if name.startswith(profile.hub_names)]
    return matching[0] if matching else None
