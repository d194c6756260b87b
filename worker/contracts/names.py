"""The registry names of the engine, as data: forms and validation know them without importing torch.

A test equates each list with the engine's registry of the same kind.
"""

from enum import StrEnum
from typing import Self

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class ExplainedName(StrEnum):
    """A name with one line of help, which the JSON schema carries beside it: forms show both."""

    help: str

    def __new__(cls, value: str, help: str) -> Self:
        name = str.__new__(cls, value)
        name._value_ = value
        name.help = help
        return name

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        written = handler.resolve_ref_schema(handler(schema))
        written["oneOf"] = [{"const": name.value, "description": name.help} for name in cls]
        return written


class ModelFamily(ExplainedName):
    FLUX = "flux", "FLUX.1: a rectified-flow transformer with embedded guidance."
    SD3 = "sd3", "Stable Diffusion 3 and 3.5: true CFG."
    FLUX2 = "flux2", "FLUX.2 dev: embedded guidance, prompts read by Mistral."
    FLUX2_KLEIN = "flux2_klein", "FLUX.2 klein: small, prompts read by Qwen3; true CFG, or none where distilled."
    QWEN_IMAGE = "qwen_image", "Qwen-Image: true CFG, strong at text."
    Z_IMAGE = "z_image", "Z-Image (true CFG) and Z-Image-Turbo (guidance 1)."
    WAN = "wan", "Wan2.1, video: true CFG."
    WAN22 = "wan22", "Wan2.2, video: A14B with an expert each for high and low noise, or TI2V-5B; true CFG."
    HUNYUAN_VIDEO = "hunyuan_video", "HunyuanVideo, video: embedded guidance."


class Tuning(ExplainedName):
    """What of a model's transformer is trained."""

    LORA = "lora", "Low-rank updates beside frozen weights: megabytes to train and to publish."
    FULL = (
        "full",
        "All weights of the transformer: some 16 bytes a weight over the trainer lanes, and all of them published.",
    )


class GuidanceKind(ExplainedName):
    """How a checkpoint is steered towards its prompt."""

    NONE = "none", "Not at all: a distilled model."
    EMBEDDED = "embedded", "The scale is an input of the model."
    TRUE_CFG = "true_cfg", "From a second prediction, for the negative prompt."


class RewardName(ExplainedName):
    SHAPE_MATCH = "shape_match", "Colour purity × overlap with the ideal shape, 0 to 1."
    SHAPE_JUDGE = "shape_judge", "1 when an independent judge finds colour and shape right."
    JPEG_COMPRESSIBILITY = "jpeg_compressibility", "Higher for pictures that compress well."
    COLORFULNESS = "colorfulness", "Higher for vivid pictures."
    OCR = "ocr", "How much of the text between the prompt's double quotes can be read in the picture, 0 to 1."
    CLIP_SCORE = "clip_score", "Likeness of picture and prompt to CLIP, about 0 to 1."
    PICK_SCORE = "pick_score", "What people preferred on Pick-a-Pic: CLIP-H trained on their choices."
    HPS_V2 = "hps_v2", "Human Preference Score v2: CLIP-H trained on ranked pictures."
    IMAGE_REWARD = "image_reward", "ImageReward: BLIP trained on ranked pictures, about −2 to 2."
    AESTHETIC = "aesthetic", "LAION's aesthetic rating, about 1 to 10. Prompts are ignored."
    MOTION_SMOOTHNESS = "motion_smoothness", "How well a clip's frames follow from their neighbours, 0 to 1."
    REMOTE = "remote", "A scorer of your own behind HTTP."


class RewardMixing(ExplainedName):
    """How several trained rewards become one advantage."""

    SUM = "sum", "Weighted sum of the raw scores: a reward of a larger scale outweighs the others."
    NORMALISED = "normalised", "Each reward's advantages on their own scale, then their weighted mean."


class RemoteFormat(ExplainedName):
    MSGPACK = "msgpack", "Pictures as bytes."
    JSON = "json", "Pictures as base64 text: a third larger, readable anywhere."


class SdeType(ExplainedName):
    """The stochastic denoising kernels of `worker.engine.rollout.sde`."""

    FLOW = "flow", "Flow-GRPO's SDE."
    CPS = "cps", "Coefficient-preserving sampling."
    DANCE = "dance", "DanceGRPO's SDE: Flow-GRPO's with a constant diffusion coefficient, the noise level."


class Placement(ExplainedName):
    COLOCATED = "colocated", "All lanes generate, then all lanes train: the baseline."
    DISAGGREGATED = "disaggregated", "Rollout lanes and trainer lanes, at work at the same time."
    AUTO = "auto", "The planner chooses placement, split and switches for the lanes given."


class TrainerAssist(ExplainedName):
    """Trainer-assisted generation."""

    OFF = "off", "Trainer lanes only train."
    GREEDY = "greedy", "An idle trainer lane generates whenever fragments wait."
    SEARCH = "search", "An idle trainer lane generates where the batch is predicted to end sooner for it."


class Priority(ExplainedName):
    """Where a run stands in the queue, first to last; equal ones by age."""

    HIGH = "high", "Before all others: for work that somebody waits for."
    NORMAL = "normal", "In the order of creation."
    LOW = "low", "When nothing else waits: for sweeps that may take their time."

    @property
    def rank(self) -> int:
        """Position in the queue's order, 0 first."""
        return list(Priority).index(self)


class LaneRole(StrEnum):
    """What a lane does. The driver reports as a lane too, so its own seconds are accounted for."""

    ROLLOUT = "rollout"
    TRAINER = "trainer"
    REWARD = "reward"
