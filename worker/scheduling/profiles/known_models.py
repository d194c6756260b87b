"""The models of the hub that the planner knows, and what it takes for one that it does not.

By the formulas of `model_profile`, block widths from published configurations reproduce published counts: FLUX.1 at
1024², 74.4 TFLOP a forward (arXiv 2503.06923: 3719.5 for 50), and HunyuanVideo at 480×640×65, 595 (29773). A test
builds every model by those configurations, without memory behind it, and counts parameters, operations and what LoRA
trains.

Invariant: only priors. Nothing here is consulted once a run has measured its own costs.
"""

from worker.contracts.names import ModelFamily
from worker.contracts.sections import BaseModelSpec
from worker.scheduling.profiles.model_profile import ModelProfile

_FLUX_WIDTH = 3072
_PICTURE_DECODER_FLOPS = 9.6e6
"""2.5 TFLOP for 512² pixels: the decoder of the KL autoencoder that latent diffusion has used since its first version,
counted from its published configuration (channels 128 to 512, two residual blocks a level)."""
_PICTURE_DECODER_VALUES = 5800

FLUX = ModelProfile(
    name="flux.1-12b",
    hub_names=("flux.1",),
    parameters=11.9e9,
    num_layers=57,
    width=_FLUX_WIDTH,
    layer_parameters_per_token=12 * _FLUX_WIDTH**2,
    text_tokens=512,
    # Feed-forward layers are adapted too.
    lora_parameters_per_rank=4_088_896,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_PICTURE_DECODER_VALUES,
    source="black-forest-labs/FLUX.1-dev transformer/config.json: 19 two-stream and 38 one-stream blocks of width 3072",
)
FLUX2 = ModelProfile(
    name="flux.2-32b",
    hub_names=("flux.2-dev",),
    parameters=32.2e9,
    num_layers=56,
    width=6144,
    # Attention 4 d², gated feed-forward of 3 d: 9 d².
    layer_parameters_per_token=13 * 6144**2,
    text_tokens=512,
    token_channels=128,
    lora_parameters_per_rank=5_210_112,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_PICTURE_DECODER_VALUES,
    source="black-forest-labs/FLUX.2-dev transformer/config.json: 8 two-stream and 48 one-stream blocks of width 6144",
)
KLEIN_4B = ModelProfile(
    name="flux.2-klein-4b",
    hub_names=("flux.2-klein-4b", "flux.2-klein-base-4b"),
    parameters=3.88e9,
    num_layers=25,
    width=_FLUX_WIDTH,
    layer_parameters_per_token=13 * _FLUX_WIDTH**2,
    text_tokens=512,
    token_channels=128,
    lora_parameters_per_rank=1_167_360,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_PICTURE_DECODER_VALUES,
    source="black-forest-labs/FLUX.2-klein-base-4B transformer/config.json: 5 two- and 20 one-stream blocks of 3072",
)
KLEIN_9B = ModelProfile(
    name="flux.2-klein-9b",
    hub_names=("flux.2-klein-9b", "flux.2-klein-base-9b"),
    parameters=9.08e9,
    num_layers=32,
    width=4096,
    layer_parameters_per_token=13 * 4096**2,
    text_tokens=512,
    token_channels=128,
    lora_parameters_per_rank=1_998_848,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_PICTURE_DECODER_VALUES,
    source="black-forest-labs/FLUX.2-klein-base-9B transformer/config.json: 8 two- and 24 one-stream blocks of 4096",
)
SD35_MEDIUM = ModelProfile(
    name="sd3.5-medium-2.5b",
    hub_names=("stable-diffusion-3.5-medium", "stable-diffusion-3-medium"),
    parameters=2.24e9,
    num_layers=24,
    width=1536,
    # 12 d², and a second attention over the picture's tokens alone, 4 d² of theirs, in 13 of the 24 blocks.
    layer_parameters_per_token=13.7 * 1536**2,
    text_tokens=333,
    lora_parameters_per_rank=24 * 8 * 2 * 1536 - 2 * 1536,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_PICTURE_DECODER_VALUES,
    source="stabilityai/stable-diffusion-3.5-medium transformer/config.json: 24 two-stream blocks of width 1536, 13 of "
    "them with a second attention; prompts of 77 and 256 tokens",
)
SD35_LARGE = ModelProfile(
    name="sd3.5-large-8b",
    hub_names=("stable-diffusion-3.5-large",),
    parameters=8.06e9,
    num_layers=38,
    width=2432,
    layer_parameters_per_token=12 * 2432**2,
    text_tokens=333,
    lora_parameters_per_rank=38 * 8 * 2 * 2432 - 2 * 2432,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_PICTURE_DECODER_VALUES,
    source="stabilityai/stable-diffusion-3.5-large transformer/config.json: 38 two-stream blocks of width 2432; "
    "prompts of 77 and 256 tokens",
)
QWEN_IMAGE = ModelProfile(
    name="qwen-image-20b",
    hub_names=("qwen-image",),
    parameters=20.4e9,
    num_layers=60,
    width=_FLUX_WIDTH,
    layer_parameters_per_token=12 * _FLUX_WIDTH**2,
    text_tokens=64,
    lora_parameters_per_rank=60 * 8 * 2 * _FLUX_WIDTH,
    decoder_flops_per_pixel=10.8e6,
    decoder_parameters=0.127e9,
    decoder_values_per_pixel=7200,
    source="Qwen/Qwen-Image transformer/config.json: 60 two-stream blocks of width 3072; prompts of about 64 tokens",
)
Z_IMAGE = ModelProfile(
    name="z-image-6b",
    hub_names=("z-image",),
    parameters=6.15e9,
    # 30, and 2 each for picture and text alone.
    num_layers=32,
    width=3840,
    # Attention 4 d², gated feed-forward 3 · d · 10240.
    layer_parameters_per_token=4 * 3840**2 + 3 * 3840 * 10240,
    text_tokens=64,
    lora_parameters_per_rank=2_480_640,
    decoder_flops_per_pixel=_PICTURE_DECODER_FLOPS,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_PICTURE_DECODER_VALUES,
    source="Tongyi-MAI/Z-Image transformer/config.json: 30 blocks of width 3840, 2 refiners each for picture and text; "
    "prompts of about 64 tokens",
)
HUNYUAN_VIDEO = ModelProfile(
    name="hunyuanvideo-13b",
    hub_names=("hunyuanvideo",),
    parameters=12.8e9,
    num_layers=60,
    width=_FLUX_WIDTH,
    layer_parameters_per_token=12 * _FLUX_WIDTH**2,
    text_tokens=256,
    token_frames=4,
    lora_parameters_per_rank=1_769_472,
    decoder_flops_per_pixel=23.3e6,
    decoder_parameters=0.246e9,
    decoder_values_per_pixel=8900,
    source="hunyuanvideo-community/HunyuanVideo transformer/config.json: 20 two- and 40 one-stream blocks, width 3072",
)
_WAN_DECODER_FLOPS = 8.6e6
_WAN_DECODER_VALUES = 5300

WAN = ModelProfile(
    name="wan2.1-14b",
    hub_names=("wan2.1-t2v-14b",),
    parameters=14.3e9,
    num_layers=40,
    width=5120,
    # Self-attention 4 d², query and output of cross-attention 2 d², feed-forward 2 · d · 13824.
    layer_parameters_per_token=6 * 5120**2 + 2 * 5120 * 13824,
    text_tokens=512,
    cross_attends=True,
    token_frames=4,
    lora_parameters_per_rank=40 * 8 * 2 * 5120,
    decoder_flops_per_pixel=_WAN_DECODER_FLOPS,
    decoder_parameters=0.127e9,
    decoder_values_per_pixel=_WAN_DECODER_VALUES,
    decodes_in_fp32=True,
    source="Wan-AI/Wan2.1-T2V-14B config.json: 40 layers of width 5120, feed-forward 13824",
)
WAN_1_3B = ModelProfile(
    name="wan2.1-1.3b",
    hub_names=("wan2.1-t2v-1.3b",),
    parameters=1.42e9,
    num_layers=30,
    width=1536,
    layer_parameters_per_token=6 * 1536**2 + 2 * 1536 * 8960,
    text_tokens=512,
    cross_attends=True,
    token_frames=4,
    lora_parameters_per_rank=30 * 8 * 2 * 1536,
    decoder_flops_per_pixel=_WAN_DECODER_FLOPS,
    decoder_parameters=0.127e9,
    decoder_values_per_pixel=_WAN_DECODER_VALUES,
    decodes_in_fp32=True,
    source="Wan-AI/Wan2.1-T2V-1.3B config.json: 30 layers of width 1536, feed-forward 8960",
)
WAN22_A14B = ModelProfile(
    name="wan2.2-a14b",
    hub_names=("wan2.2-t2v-a14b",),
    parameters=2 * 14.3e9,
    num_experts=2,
    num_layers=40,
    width=5120,
    layer_parameters_per_token=6 * 5120**2 + 2 * 5120 * 13824,
    text_tokens=512,
    cross_attends=True,
    token_frames=4,
    lora_parameters_per_rank=2 * 40 * 8 * 2 * 5120,
    decoder_flops_per_pixel=_WAN_DECODER_FLOPS,
    decoder_parameters=0.127e9,
    decoder_values_per_pixel=_WAN_DECODER_VALUES,
    decodes_in_fp32=True,
    source="Wan-AI/Wan2.2-T2V-A14B: two experts of Wan2.1-T2V-14B's size",
)
WAN22_5B = ModelProfile(
    name="wan2.2-5b",
    hub_names=("wan2.2-ti2v-5b",),
    parameters=5.0e9,
    num_layers=30,
    width=3072,
    layer_parameters_per_token=6 * 3072**2 + 2 * 3072 * 14336,
    text_tokens=512,
    cross_attends=True,
    token_pixels=32,
    token_frames=4,
    token_channels=192,
    lora_parameters_per_rank=30 * 8 * 2 * 3072,
    decoder_flops_per_pixel=18.5e6,
    decoder_parameters=0.705e9,
    decoder_values_per_pixel=4100,
    decodes_in_fp32=True,
    source="Wan-AI/Wan2.2-TI2V-5B config.json: 30 layers of width 3072, feed-forward 14336; autoencoder of 16 × 16",
)
SHAPES = ModelProfile(
    name="shapes",
    hub_names=("shapes",),
    parameters=1.8e6,
    num_layers=4,
    width=128,
    layer_parameters_per_token=12 * 128**2,
    text_tokens=6,
    token_channels=64,
    lora_parameters_per_rank=13760,
    decoder_flops_per_pixel=20e3,
    decoder_parameters=0.4e6,
    decoder_values_per_pixel=530,
    source="deploy/models/shapes: 2 two-stream and 2 one-stream blocks of width 128, 4 tokens of 32 × 32 pixels, 6 "
    "of text; `tests.bench.lane_costs`: 880,640 bytes published at rank 16",
)

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
        SD35_MEDIUM,
        SD35_LARGE,
        QWEN_IMAGE,
        Z_IMAGE,
        SHAPES,
    )
}
_USUAL = {
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


def profile_of(base_model: BaseModelSpec) -> ModelProfile:
    """The profile that a base model's path or hub id (`org/name`) names; its family's usual size where it names none: a
    prior only, soon replaced by what the run measures."""
    return _named(base_model.path) or _USUAL[base_model.family]


def has_profile(base_model: BaseModelSpec) -> bool:
    """Whether a base model has a profile of its own."""
    return _named(base_model.path) is not None


def stand_in_profile(base_model: BaseModelSpec) -> str | None:
    """The model that stands for one whose size is not known."""
    return None if has_profile(base_model) else profile_of(base_model).name


def _named(path: str) -> ModelProfile | None:
    name = path.rstrip("/").rsplit("/", 1)[-1].lower()
    fitting = [profile for profile in PROFILES.values() if name.startswith(profile.hub_names)]
    return fitting[0] if fitting else None
