"""The names of the engine's registries, as data: form and validation know them without importing torch.

Invariant, held by a test: each list equals the engine's registry of the same kind.
"""

from enum import StrEnum
from typing import Self

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class ExplainedName(StrEnum):
    """A name with one line of help, which the JSON schema carries and the form shows."""

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
    """Architectures of base models."""

    FLUX = "flux", "FLUX.1: a rectified-flow transformer with embedded guidance."
    SD3 = "sd3", "Stable Diffusion 3 and 3.5: true CFG."
    FLUX2 = "flux2", "FLUX.2 dev: embedded guidance, Mistral as text encoder."
    FLUX2_KLEIN = "flux2_klein", "FLUX.2 klein: small, Qwen3 as text encoder; true CFG, or none if distilled."
    QWEN_IMAGE = "qwen_image", "Qwen-Image: true CFG, strong at text in pictures."
    Z_IMAGE = "z_image", "Z-Image (true CFG) and Z-Image-Turbo (guidance 1)."
    WAN = "wan", "Wan2.1 (video): true CFG."
    WAN22 = "wan22", "Wan2.2 (video): A14B with experts for high and for low noise, or TI2V-5B; true CFG."
    HUNYUAN_VIDEO = "hunyuan_video", "HunyuanVideo (video): embedded guidance."


class Tuning(ExplainedName):
    """Which weights of a model's transformer are trained."""

    LORA = "lora", "Low-rank layers beside frozen weights: megabytes to train and to publish."
    FULL = (
        "full",
        "All weights of the transformer: about 16 bytes each over the trainer lanes, and all of them published.",
    )


class RewardDevice(ExplainedName):
    """What reward lanes compute their scorers' networks on."""

    AUTO = (
        "auto",
        "The GPU of a lane that generates, where that is predicted to fit and to be faster; else CPU slots.",
    )
    CPU = "cpu", "CPU slots. On a node of GPUs a reward lane takes up to half of the cores."
    SHARED_GPU = (
        "shared_gpu",
        "The GPU of a lane that generates, beside its work: takes a CPU slot of the same node, and no GPU more.",
    )
    OWN_GPU = "own_gpu", "A GPU for each reward lane, where the pool has any."


class GuidanceKind(ExplainedName):
    """How a checkpoint applies classifier-free guidance."""

    NONE = "none", "Not at all: the model is distilled."
    EMBEDDED = "embedded", "The scale is an input of the model."
    TRUE_CFG = "true_cfg", "From a second prediction, for the negative or empty prompt."


class RewardName(ExplainedName):
    """The scorers."""

    SHAPE_MATCH = "shape_match", "Colour purity × overlap with the ideal shape, 0 to 1."
    SHAPE_JUDGE = "shape_judge", "1 when an independent judge finds colour and shape right, else 0."
    JPEG_COMPRESSIBILITY = "jpeg_compressibility", "Higher for pictures that compress well."
    COLORFULNESS = "colorfulness", "Higher for vivid pictures."
    OCR = "ocr", "How much of the text between the prompt's double quotes can be read in the picture, 0 to 1."
    CLIP_SCORE = "clip_score", "Cosine similarity of picture and prompt in CLIP, about 0 to 1."
    PICK_SCORE = "pick_score", "PickScore: CLIP-H trained on people's choices in Pick-a-Pic, near 20."
    HPS_V2 = "hps_v2", "Human Preference Score v2: CLIP-H trained on ranked pictures."
    IMAGE_REWARD = "image_reward", "ImageReward: BLIP trained on ranked pictures, about −2 to 2."
    AESTHETIC = "aesthetic", "LAION's aesthetic rating, about 1 to 10. Prompts are ignored."
    MOTION_SMOOTHNESS = (
        "motion_smoothness",
        "How well neighbouring frames predict each frame of a clip, 0 to 1.",
    )
    REMOTE = "remote", "A scorer of your own behind HTTP."


class RewardMixing(ExplainedName):
    """How several trained rewards become one advantage."""

    SUM = "sum", "Weighted sum of the raw scores: a reward of a larger scale outweighs the others."
    NORMALISED = "normalised", "Each reward's advantages on their own scale, then their weighted mean."


class RemoteFormat(ExplainedName):
    """Encodings of requests to a remote scorer."""

    MSGPACK = "msgpack", "Pictures as bytes."
    JSON = "json", "Pictures as base64 text: a third larger, readable anywhere."


class SdeType(ExplainedName):
    """The stochastic denoising kernels of `worker.engine.rollout.sde`."""

    FLOW = "flow", "Flow-GRPO's SDE: most noise at the first steps."
    CPS = "cps", "Coefficient-preserving sampling: noise is replaced, not added, so samples are cleaner."
    DANCE = "dance", "DanceGRPO's SDE: as `flow`, but with the noise level as constant diffusion coefficient."


class VaeTiling(ExplainedName):
    """Whether the autoencoder decodes samples in tiles (diffusers' VAE tiling)."""

    AUTO = "auto", "As the model's authors advise: enabled for HunyuanVideo, else disabled."
    ENABLED = "enabled", "Tiles that overlap and are blended: far less memory for large samples, slightly other pixels."
    DISABLED = "disabled", "Whole pictures, or all of a frame at once."


class Placement(ExplainedName):
    """How generation and training are placed on the lanes."""

    COLOCATED = "colocated", "Each lane generates, then trains: the baseline."
    DISAGGREGATED = "disaggregated", "Rollout lanes generate while trainer lanes train."
    AUTO = "auto", "The planner chooses placement, split and switches for the lanes given."


class TrainerAssist(ExplainedName):
    """Trainer-assisted generation: whether idle trainer lanes are lent to generation."""

    OFF = "off", "Trainer lanes only train."
    GREEDY = "greedy", "An idle trainer lane generates while fragments wait that others would not end before."
    SEARCH = "search", "An idle trainer lane generates if the batch is predicted to end sooner."


class Publishing(ExplainedName):
    """The way of a policy version from trainer lanes to rollout lanes."""

    STORE = "store", "By Ray's object store: each lane fetches the version when it is about to generate with it."
    DIRECT = "direct", "Broadcast from device to device; the object store has a copy for lanes that it does not reach."


class StaleClip(ExplainedName):
    """The policy that the ratio of stale samples is clipped around (or masked by its divergence from)."""

    PROXIMAL = (
        "proximal",
        "The weights at the start of training on the batch: being stale costs no gradient.",
    )
    BEHAVIOUR = "behaviour", "The older weights that generated, as for samples that are not stale."


class OldLogProbs(ExplainedName):
    """Who computes the log-probs that ratios divide by."""

    ROLLOUT = "rollout", "Rollout, while it generates: no further forward pass."
    TRAINER = (
        "trainer",
        "The trainer, with the weights before the batch's first update: ratios are free of what rollout rounds "
        "differently.",
    )


class Priority(ExplainedName):
    """Order of a project's runs in the queue, first to last; among equals the older run is first."""

    HIGH = "high", "Before the project's other runs: for work that somebody waits for."
    NORMAL = "normal", "In the order of creation."
    LOW = "low", "After the project's other runs: for sweeps that may take their time."

    @property
    def rank(self) -> int:
        """Position in the queue's order, 0 first."""
        return list(Priority).index(self)


class LaneRole(StrEnum):
    """What a lane does."""

    ROLLOUT = "rollout"
    TRAINER = "trainer"
    REWARD = "reward"
