"""Video models of the hub, as the planner describes them.

Invariant: by the formulas of `model_profile`, block widths from published configurations reproduce published counts
(HunyuanVideo at 480×640×65: 595 TFLOP per forward, arXiv 2503.06923: 29773 for 50), and what torch counts of the same
classes: `tests/scheduling/profiles/test_counted_models.py` builds them without memory behind them.
"""

from worker.scheduling.profiles.decoding_profile import HUNYUAN_DECODING, WAN22_5B_DECODING, WAN_DECODING
from worker.scheduling.profiles.embedding_profile import WAN_EMBEDDING, EmbeddingProfile
from worker.scheduling.profiles.model_profile import ModelProfile

_HUNYUAN_WIDTH = 3072
"""Width of a HunyuanVideo block: 24 heads of 128 (hunyuanvideo-community/HunyuanVideo transformer/config.json)."""
_WAN_DECODER_FLOPS = 8.6e6
"""FLOPs per pixel and frame of the decoder of Wan 2.1's autoencoder, counted by torch."""
_WAN_DECODER_VALUES = 5300
"""Values per pixel and frame that a backward pass through the same decoder keeps, counted by torch."""

HUNYUAN_VIDEO = ModelProfile(
    name="hunyuanvideo-13b",
    hub_names=("hunyuanvideo",),
    parameters=12.8e9,
    num_layers=60,
    width=_HUNYUAN_WIDTH,
    layer_parameters_per_token=12 * _HUNYUAN_WIDTH**2,
    text_tokens=256,
    token_frames=4,
    lora_parameters_per_rank=1_769_472,
    lora_activation_bytes=33,
    full_activation_bytes=54,
    decoder_flops_per_pixel=23.3e6,
    embedding=EmbeddingProfile(width=4096, pooled_width=768),
    # LLaVA-Llama-3-8B without its output layer, 7.51e9, and CLIP-L, 0.12e9.
    text_encoder_parameters=7.63e9,
    decoder_parameters=0.246e9,
    decoder_values_per_pixel=8900,
    decoding=HUNYUAN_DECODING,
    source="hunyuanvideo-community/HunyuanVideo transformer/config.json: 20 two- and 40 one-stream blocks, width 3072",
)
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
    lora_activation_bytes=46,
    full_activation_bytes=80,
    decoder_flops_per_pixel=_WAN_DECODER_FLOPS,
    embedding=WAN_EMBEDDING,
    # The encoder of UMT5-XXL.
    text_encoder_parameters=5.68e9,
    decoder_parameters=0.127e9,
    decoder_values_per_pixel=_WAN_DECODER_VALUES,
    decoding=WAN_DECODING,
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
    lora_activation_bytes=52,
    full_activation_bytes=92,
    decoder_flops_per_pixel=_WAN_DECODER_FLOPS,
    embedding=WAN_EMBEDDING,
    # The encoder of UMT5-XXL.
    text_encoder_parameters=5.68e9,
    decoder_parameters=0.127e9,
    decoder_values_per_pixel=_WAN_DECODER_VALUES,
    decoding=WAN_DECODING,
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
    lora_activation_bytes=46,
    full_activation_bytes=80,
    decoder_flops_per_pixel=_WAN_DECODER_FLOPS,
    embedding=WAN_EMBEDDING,
    # The encoder of UMT5-XXL.
    text_encoder_parameters=5.68e9,
    decoder_parameters=0.127e9,
    decoder_values_per_pixel=_WAN_DECODER_VALUES,
    decoding=WAN_DECODING,
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
    lora_activation_bytes=51,
    full_activation_bytes=89,
    decoder_flops_per_pixel=18.5e6,
    embedding=WAN_EMBEDDING,
    # The encoder of UMT5-XXL.
    text_encoder_parameters=5.68e9,
    decoder_parameters=0.705e9,
    decoder_values_per_pixel=4100,
    decoding=WAN22_5B_DECODING,
    decodes_in_fp32=True,
    source="Wan-AI/Wan2.2-TI2V-5B config.json: 30 layers of width 3072, feed-forward 14336; autoencoder of 16 × 16",
)
