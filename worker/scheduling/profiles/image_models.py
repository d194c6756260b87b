"""Image models of the hub, and the demo's, as the planner describes them.

Invariant: by the formulas of `model_profile`, block widths from published configurations reproduce published counts
(FLUX.1 at 1024²: 74.4 TFLOP per forward, arXiv 2503.06923: 3719.5 for 50), and what torch counts of the same classes:
`tests/scheduling/profiles/test_counted_models.py` builds them without memory behind them.
"""

from worker.scheduling.profiles.decoding_profile import KL_DECODING, QWEN_DECODING, DecodingProfile
from worker.scheduling.profiles.embedding_profile import (
    FLUX2_POSITION_BYTES,
    FLUX_EMBEDDING,
    FLUX_POSITION_BYTES,
    SD3_EMBEDDING,
    EmbeddingProfile,
)
from worker.scheduling.profiles.model_profile import ModelProfile

_FLUX_WIDTH = 3072
"""Width of a FLUX.1 block: 24 heads of 128 (black-forest-labs/FLUX.1-dev transformer/config.json)."""
_KL_DECODER_FLOPS = 9.6e6
"""FLOPs per pixel, 2.5 TFLOP for 512²: the decoder of the KL autoencoder that latent diffusion has used since its first
version, counted from its published configuration (channels 128 to 512, two residual blocks per level)."""
_KL_DECODER_VALUES = 5800
"""Values per pixel that a backward pass through the same decoder keeps, counted by torch."""

FLUX = ModelProfile(
    name="flux.1-12b",
    hub_names=("flux.1",),
    parameters=11.9e9,
    num_layers=57,
    width=_FLUX_WIDTH,
    layer_parameters_per_token=12 * _FLUX_WIDTH**2,
    text_tokens=512,
    # The family's default targets include the feed-forward layers.
    lora_parameters_per_rank=4_085_760,
    lora_activation_bytes=39,
    full_activation_bytes=52,
    decoder_flops_per_pixel=_KL_DECODER_FLOPS,
    embedding=FLUX_EMBEDDING,
    # The encoder of T5-XXL, 4.76e9, and CLIP-L, 0.12e9.
    text_encoder_parameters=4.89e9,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_KL_DECODER_VALUES,
    decoding=KL_DECODING,
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
    lora_activation_bytes=49,
    full_activation_bytes=63,
    decoder_flops_per_pixel=_KL_DECODER_FLOPS,
    embedding=EmbeddingProfile(width=3 * 5120, position_bytes=FLUX2_POSITION_BYTES),
    # Mistral Small 3.
    text_encoder_parameters=24.0e9,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_KL_DECODER_VALUES,
    decoding=KL_DECODING,
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
    lora_activation_bytes=48,
    full_activation_bytes=63,
    decoder_flops_per_pixel=_KL_DECODER_FLOPS,
    embedding=EmbeddingProfile(width=3 * 2560, position_bytes=FLUX2_POSITION_BYTES),
    # Qwen3-4B.
    text_encoder_parameters=4.02e9,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_KL_DECODER_VALUES,
    decoding=KL_DECODING,
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
    lora_activation_bytes=48,
    full_activation_bytes=63,
    decoder_flops_per_pixel=_KL_DECODER_FLOPS,
    embedding=EmbeddingProfile(width=3 * 4096, position_bytes=FLUX2_POSITION_BYTES),
    # Qwen3-8B.
    text_encoder_parameters=8.19e9,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_KL_DECODER_VALUES,
    decoding=KL_DECODING,
    source="black-forest-labs/FLUX.2-klein-base-9B transformer/config.json: 8 two- and 24 one-stream blocks of 4096",
)
SD3_MEDIUM = ModelProfile(
    name="sd3-medium-2b",
    hub_names=("stable-diffusion-3-medium",),
    parameters=2.03e9,
    num_layers=24,
    width=1536,
    head_width=64,
    layer_parameters_per_token=12 * 1536**2,
    text_tokens=333,
    lora_parameters_per_rank=24 * 8 * 2 * 1536 - 2 * 1536,
    lora_activation_bytes=24,
    full_activation_bytes=42,
    decoder_flops_per_pixel=_KL_DECODER_FLOPS,
    embedding=SD3_EMBEDDING,
    # As for the 3.5 models.
    text_encoder_parameters=5.58e9,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_KL_DECODER_VALUES,
    decoding=KL_DECODING,
    source="stabilityai/stable-diffusion-3-medium-diffusers transformer/config.json: 24 two-stream blocks of width "
    "1536, without normalised queries and keys; prompts of 77 and 256 tokens",
)
SD35_MEDIUM = ModelProfile(
    name="sd3.5-medium-2.5b",
    hub_names=("stable-diffusion-3.5-medium",),
    parameters=2.24e9,
    num_layers=24,
    width=1536,
    head_width=64,
    # 12 d², and in 13 of the 24 blocks a second attention over the image's tokens alone, 4 d² for each of those.
    layer_parameters_per_token=13.7 * 1536**2,
    text_tokens=333,
    lora_parameters_per_rank=24 * 8 * 2 * 1536 - 2 * 1536,
    lora_activation_bytes=44,
    full_activation_bytes=70,
    decoder_flops_per_pixel=_KL_DECODER_FLOPS,
    embedding=SD3_EMBEDDING,
    # The encoder of T5-XXL, 4.76e9, CLIP-L, 0.12e9, and CLIP-G, 0.69e9.
    text_encoder_parameters=5.58e9,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_KL_DECODER_VALUES,
    decoding=KL_DECODING,
    source="stabilityai/stable-diffusion-3.5-medium transformer/config.json: 24 two-stream blocks of width 1536, 13 of "
    "them with a second attention; prompts of 77 and 256 tokens",
)
SD35_LARGE = ModelProfile(
    name="sd3.5-large-8b",
    hub_names=("stable-diffusion-3.5-large",),
    parameters=8.06e9,
    num_layers=38,
    width=2432,
    head_width=64,
    layer_parameters_per_token=12 * 2432**2,
    text_tokens=333,
    lora_parameters_per_rank=38 * 8 * 2 * 2432 - 2 * 2432,
    lora_activation_bytes=36,
    full_activation_bytes=58,
    decoder_flops_per_pixel=_KL_DECODER_FLOPS,
    embedding=SD3_EMBEDDING,
    # As for the medium model.
    text_encoder_parameters=5.58e9,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_KL_DECODER_VALUES,
    decoding=KL_DECODING,
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
    lora_activation_bytes=34,
    full_activation_bytes=56,
    decoder_flops_per_pixel=10.8e6,
    embedding=EmbeddingProfile(width=3584),
    # Qwen2.5-VL-7B with its vision tower.
    text_encoder_parameters=8.29e9,
    decoder_parameters=0.127e9,
    decoder_values_per_pixel=7200,
    decoding=QWEN_DECODING,
    source="Qwen/Qwen-Image transformer/config.json: 60 two-stream blocks of width 3072; prompts of about 64 tokens",
)
Z_IMAGE = ModelProfile(
    name="z-image-6b",
    hub_names=("z-image",),
    parameters=6.15e9,
    # 30 for both, and 2 refiners each for image and text alone.
    num_layers=32,
    width=3840,
    # Attention 4 d², gated feed-forward 3 · d · 10240.
    layer_parameters_per_token=4 * 3840**2 + 3 * 3840 * 10240,
    text_tokens=64,
    lora_parameters_per_rank=2_480_640,
    lora_activation_bytes=69,
    full_activation_bytes=90,
    decoder_flops_per_pixel=_KL_DECODER_FLOPS,
    embedding=EmbeddingProfile(width=2560),
    # Qwen3-4B.
    text_encoder_parameters=4.02e9,
    decoder_parameters=0.084e9,
    decoder_values_per_pixel=_KL_DECODER_VALUES,
    decoding=KL_DECODING,
    source="Tongyi-MAI/Z-Image transformer/config.json: 30 blocks of width 3840, 2 refiners each for image and text; "
    "prompts of about 64 tokens",
)
SHAPES = ModelProfile(
    name="shapes",
    hub_names=("shapes",),
    parameters=1.8e6,
    num_layers=4,
    width=128,
    head_width=32,
    layer_parameters_per_token=12 * 128**2,
    text_tokens=6,
    token_channels=64,
    lora_parameters_per_rank=13568,
    lora_activation_bytes=38,
    full_activation_bytes=49,
    decoder_flops_per_pixel=20e3,
    embedding=EmbeddingProfile(width=32, pooled_width=32, position_bytes=FLUX_POSITION_BYTES),
    text_encoder_parameters=37280,
    decoder_parameters=0.4e6,
    decoder_values_per_pixel=530,
    # `sample_size` 32 of its configuration.
    decoding=DecodingProfile(first_frame_values=48, tile=32, stride=24),
    source="deploy/models/shapes: 2 two-stream and 2 one-stream blocks of width 128, 4 tokens of 32 × 32 pixels, 6 "
    "of text; `tests.bench.lane_costs`: 868,352 bytes published at rank 16",
)
