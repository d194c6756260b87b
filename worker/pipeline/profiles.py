"""What the work of a model amounts to: tokens, floating-point operations, bytes. No seconds here.

Formulas: a linear layer costs 2 operations for each parameter and token; attention 4 · tokens² · width for each layer
(scores and weighted sum). With block widths from the models' published configurations this reproduces published counts:
FLUX.1 at 1024², 74.4 TFLOP a forward (arXiv 2503.06923: 3719.5 for 50), and HunyuanVideo at 480×640×65, 595 (29773).

Invariant: only priors. Nothing here is consulted once a run has measured its own costs.
"""

import math
from dataclasses import dataclass

TRAINING_FORWARDS = 3.0
"""Forward, recomputation of what checkpointing dropped, and the gradient through frozen layers, each one forward's
worth; gradients of LoRA matrices themselves are under 2 % of that (Korthikanti et al., arXiv 2205.05198, counts a full
backward as two forwards: one of them is the weights' gradient, which frozen weights do without)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """A diffusion transformer with its autoencoder and the reward it is usually trained on."""

    name: str
    parameters: float
    """All of the transformer's, as memory holds them."""
    num_layers: int
    width: int
    layer_parameters_per_token: float
    """Linear parameters that each token passes in one layer: a two-stream block has a set for pictures and one for
    text, and a token passes one of them."""
    text_tokens: int
    """Tokens of the prompt; joined to the picture's, or attended to across where `cross_attends`."""
    cross_attends: bool = False
    token_pixels: int = 16
    """Side of the square of pixels that one token stands for."""
    token_frames: int = 1
    """Frames that one latent frame stands for, after the first."""
    lora_parameters_per_rank: float
    """Sum of inputs and outputs of the adapted linear layers."""
    decoder_flops_per_pixel: float
    """Of the autoencoder, for each pixel of each frame."""
    decoder_parameters: float
    reward_flops: float
    """One sample scored."""
    weight_bytes: int = 2
    """Of one frozen parameter."""
    source: str

    def num_tokens(self, *, height: int, width: int, num_frames: int) -> int:
        """Tokens of one sample, without the text."""
        latent_frames = 1 + math.ceil((num_frames - 1) / self.token_frames)
        return latent_frames * math.ceil(height / self.token_pixels) * math.ceil(width / self.token_pixels)

    def forward_flops(self, num_tokens: int) -> float:
        """Of one sample's pass through the transformer, `num_tokens` being the picture's."""
        keys = num_tokens if self.cross_attends else num_tokens + self.text_tokens
        linear = 2 * self.layer_parameters_per_token * keys
        attention = 4 * keys**2 * self.width
        across = 4 * num_tokens * self.text_tokens * self.width if self.cross_attends else 0
        return self.num_layers * (linear + attention + across)

    def training_flops(self, num_tokens: int) -> float:
        """Of one (trajectory, denoising step) pair."""
        return TRAINING_FORWARDS * self.forward_flops(num_tokens)

    def decoding_flops(self, *, height: int, width: int, num_frames: int) -> float:
        return self.decoder_flops_per_pixel * height * width * num_frames

    def lora_parameters(self, rank: int) -> float:
        return self.lora_parameters_per_rank * rank

    @property
    def weights_bytes(self) -> float:
        return self.parameters * self.weight_bytes


_FLUX_WIDTH = 3072
_PICTURE_DECODER_FLOPS = 9.5e6
"""2.5 TFLOP for 512² pixels: the decoder of the KL autoencoder that latent diffusion has used since its first version,
counted from its published configuration (channels 128 to 512, two residual blocks a level)."""
_CLIP_SCORER_FLOPS = 0.4e12
"""PickScore: ViT-H/14 (632M parameters) over 257 tokens, and its text tower."""
_VIDEO_SCORER_FLOPS = 21e12
"""VideoAlign: Qwen2-VL-2B over 8 frames, vision tower (675M) over 10,000 patches, language model over 2,500 tokens."""

FLUX = ModelProfile(
    name="flux.1-12b",
    parameters=11.9e9,
    num_layers=57,
    width=_FLUX_WIDTH,
    layer_parameters_per_token=12 * _FLUX_WIDTH**2,
    text_tokens=512,
    lora_parameters_per_rank=(19 * 8 + 38 * 3) * 2 * _FLUX_WIDTH,
    reward_flops=_CLIP_SCORER_FLOPS,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    source="black-forest-labs/FLUX.1-dev transformer/config.json: 19 two-stream and 38 one-stream blocks of width 3072",
)
QWEN_IMAGE = ModelProfile(
    name="qwen-image-20b",
    parameters=20.4e9,
    num_layers=60,
    width=_FLUX_WIDTH,
    layer_parameters_per_token=12 * _FLUX_WIDTH**2,
    text_tokens=64,
    lora_parameters_per_rank=60 * 8 * 2 * _FLUX_WIDTH,
    reward_flops=_CLIP_SCORER_FLOPS,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    source="Qwen/Qwen-Image transformer/config.json: 60 two-stream blocks of width 3072; prompts of about 64 tokens",
)
HUNYUAN_VIDEO = ModelProfile(
    name="hunyuanvideo-13b",
    parameters=12.8e9,
    num_layers=60,
    width=_FLUX_WIDTH,
    layer_parameters_per_token=12 * _FLUX_WIDTH**2,
    text_tokens=256,
    token_frames=4,
    lora_parameters_per_rank=(20 * 8 + 40 * 3) * 2 * _FLUX_WIDTH,
    decoder_flops_per_pixel=30e6,
    decoder_parameters=0.12e9,
    reward_flops=_VIDEO_SCORER_FLOPS,
    source="hunyuanvideo-community/HunyuanVideo transformer/config.json: 20 two- and 40 one-stream blocks, width 3072",
)
WAN = ModelProfile(
    name="wan2.1-14b",
    parameters=14.3e9,
    num_layers=40,
    width=5120,
    # Self-attention 4 d², query and output of cross-attention 2 d², feed-forward 2 · d · 13824.
    layer_parameters_per_token=6 * 5120**2 + 2 * 5120 * 13824,
    text_tokens=512,
    cross_attends=True,
    token_frames=4,
    lora_parameters_per_rank=40 * 8 * 2 * 5120,
    decoder_flops_per_pixel=15e6,
    decoder_parameters=0.073e9,
    reward_flops=_VIDEO_SCORER_FLOPS,
    source="Wan-AI/Wan2.1-T2V-14B config.json: 40 layers of width 5120, feed-forward 13824",
)
SHAPES = ModelProfile(
    name="shapes",
    parameters=1.8e6,
    num_layers=4,
    width=128,
    layer_parameters_per_token=12 * 128**2,
    text_tokens=6,
    lora_parameters_per_rank=13760,
    decoder_flops_per_pixel=20e3,
    decoder_parameters=0.2e6,
    reward_flops=4e6,
    weight_bytes=4,
    source="deploy/models/shapes: 2 two-stream and 2 one-stream blocks of width 128, 4 tokens of 32 × 32 pixels, 6 "
    "of text; `tests.bench.lane_costs`: 880,640 bytes published at rank 16, three rewards a sample in 0.31 ms of a "
    "CPU core",
)

PROFILES = {profile.name: profile for profile in (HUNYUAN_VIDEO, WAN, FLUX, QWEN_IMAGE, SHAPES)}


def _alike(path: str) -> list[ModelProfile]:
    name = path.rsplit("/", 1)[-1].lower()
    return [profile for profile in PROFILES.values() if name.startswith(profile.name.split("-")[0])]


def profile_of(path: str) -> ModelProfile:
    """The profile that a base model's path or hub id (`org/name`) names; FLUX where it names none: a prior only, soon
    replaced by what the run measures."""
    return next(iter(_alike(path)), FLUX)


def is_described(path: str) -> bool:
    """Whether a base model has a profile of its own."""
    return bool(_alike(path))
