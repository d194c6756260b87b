"""The registry names of the engine, as data: forms and validation know them without importing torch.

A test equates each list with the engine's registry of the same kind.
"""

from enum import StrEnum


class ModelFamily(StrEnum):
    FLUX = "flux"


class RewardName(StrEnum):
    SHAPE_MATCH = "shape_match"
    SHAPE_JUDGE = "shape_judge"
    JPEG_COMPRESSIBILITY = "jpeg_compressibility"
    COLORFULNESS = "colorfulness"


class SdeType(StrEnum):
    """The stochastic denoising kernels of `worker.engine.rollout.sde`."""

    FLOW = "flow"
    CPS = "cps"


class Role(StrEnum):
    """What a lane does. The driver reports as a lane too, so its own seconds are accounted for."""

    ROLLOUT = "rollout"
    TRAINER = "trainer"
    REWARD = "reward"
