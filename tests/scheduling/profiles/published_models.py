"""Diffusers' classes of published transformers and autoencoders, with their published configurations.

Invariant: only what differs from the class's defaults, which are those of the largest published model, is named here.
Used to count what profiles state (`test_counted_models`), and to make models of full size with random weights
(`tests.bench.gpu`).
"""

from dataclasses import dataclass
from typing import Any

import torch
from diffusers import (
    AutoencoderKL,
    AutoencoderKLFlux2,
    AutoencoderKLHunyuanVideo,
    AutoencoderKLQwenImage,
    AutoencoderKLWan,
    Flux2Transformer2DModel,
    FluxTransformer2DModel,
    HunyuanVideoTransformer3DModel,
    QwenImageTransformer2DModel,
    SD3Transformer2DModel,
    WanTransformer3DModel,
    ZImageTransformer2DModel,
)

from worker.contracts.names import ModelFamily
from worker.scheduling.profiles.image_models import (
    FLUX,
    FLUX2,
    KLEIN_4B,
    KLEIN_9B,
    QWEN_IMAGE,
    SD3_MEDIUM,
    SD35_LARGE,
    SD35_MEDIUM,
    Z_IMAGE,
)
from worker.scheduling.profiles.model_profile import ModelProfile
from worker.scheduling.profiles.video_models import HUNYUAN_VIDEO, WAN, WAN22_5B, WAN_1_3B


@dataclass(frozen=True)
class Published:
    """A published transformer, and one call of it with 512² pixels or 9 latent frames."""

    profile: ModelProfile
    family: ModelFamily
    kind: Any
    config: dict[str, Any]
    inputs: dict[str, Any]
    """Shapes by name; a shape in a list becomes a list of one tensor, and what is no shape is passed as it is."""

    def meta_inputs(self) -> dict[str, Any]:
        """`inputs` in bf16 on the meta device."""
        return {name: _on_meta(value) for name, value in self.inputs.items()}

    @property
    def num_tokens(self) -> int:
        """Of the sample in `inputs`, without the text's."""
        is_clip = self.profile.token_frames > 1
        return self.profile.num_tokens(
            height=480 if is_clip else 512, width=832 if is_clip else 512, num_frames=33 if is_clip else 1
        )


def _on_meta(value: Any) -> Any:
    if isinstance(value, tuple):
        return torch.zeros(value, device="meta", dtype=torch.bfloat16)
    is_shape = isinstance(value[0], tuple)
    return [_on_meta(value[0])] if is_shape else value


def _sd3(width: int, num_layers: int, **config: Any) -> dict[str, Any]:
    return {
        "num_layers": num_layers,
        "num_attention_heads": width // 64,
        "attention_head_dim": 64,
        "caption_projection_dim": width,
        "joint_attention_dim": 4096,
        "pooled_projection_dim": 2048,
        "sample_size": 128,
        "out_channels": 16,
        "pos_embed_max_size": 192,
        "qk_norm": "rms_norm",
        **config,
    }


_SD3_INPUTS = {
    "hidden_states": (1, 16, 64, 64),
    "encoder_hidden_states": (1, 333, 4096),
    "pooled_projections": (1, 2048),
    "timestep": (1,),
}


def _flux2_inputs(text_width: int, *, is_guided: bool) -> dict[str, tuple[int, ...]]:
    return {
        "hidden_states": (1, 1024, 128),
        "encoder_hidden_states": (1, 512, text_width),
        "timestep": (1,),
        "img_ids": (1, 1024, 4),
        "txt_ids": (1, 512, 4),
        **({"guidance": (1,)} if is_guided else {}),
    }


def _wan_inputs(channels: int, height: int, width: int) -> dict[str, tuple[int, ...]]:
    return {
        "hidden_states": (1, channels, 9, height, width),
        "timestep": (1,),
        "encoder_hidden_states": (1, 512, 4096),
    }


PUBLISHED = [
    Published(SD3_MEDIUM, ModelFamily.SD3, SD3Transformer2DModel, {**_sd3(1536, 24), "qk_norm": None}, _SD3_INPUTS),
    Published(
        SD35_MEDIUM,
        ModelFamily.SD3,
        SD3Transformer2DModel,
        _sd3(1536, 24, dual_attention_layers=tuple(range(13)), pos_embed_max_size=384),
        _SD3_INPUTS,
    ),
    Published(SD35_LARGE, ModelFamily.SD3, SD3Transformer2DModel, _sd3(2432, 38), _SD3_INPUTS),
    Published(
        FLUX,
        ModelFamily.FLUX,
        FluxTransformer2DModel,
        {"guidance_embeds": True},
        {
            "hidden_states": (1, 1024, 64),
            "encoder_hidden_states": (1, 512, 4096),
            "pooled_projections": (1, 768),
            "timestep": (1,),
            "img_ids": (1024, 3),
            "txt_ids": (512, 3),
            "guidance": (1,),
        },
    ),
    Published(FLUX2, ModelFamily.FLUX2, Flux2Transformer2DModel, {}, _flux2_inputs(15360, is_guided=True)),
    Published(
        KLEIN_4B,
        ModelFamily.FLUX2_KLEIN,
        Flux2Transformer2DModel,
        {
            "num_layers": 5,
            "num_single_layers": 20,
            "num_attention_heads": 24,
            "joint_attention_dim": 7680,
            "guidance_embeds": False,
        },
        _flux2_inputs(7680, is_guided=False),
    ),
    Published(
        KLEIN_9B,
        ModelFamily.FLUX2_KLEIN,
        Flux2Transformer2DModel,
        {
            "num_layers": 8,
            "num_single_layers": 24,
            "num_attention_heads": 32,
            "joint_attention_dim": 12288,
            "guidance_embeds": False,
        },
        _flux2_inputs(12288, is_guided=False),
    ),
    Published(
        WAN_1_3B,
        ModelFamily.WAN,
        WanTransformer3DModel,
        {"num_layers": 30, "num_attention_heads": 12, "ffn_dim": 8960},
        _wan_inputs(16, 60, 104),
    ),
    Published(WAN, ModelFamily.WAN, WanTransformer3DModel, {}, _wan_inputs(16, 60, 104)),
    Published(
        WAN22_5B,
        ModelFamily.WAN22,
        WanTransformer3DModel,
        {"in_channels": 48, "out_channels": 48, "num_layers": 30, "num_attention_heads": 24, "ffn_dim": 14336},
        _wan_inputs(48, 30, 52),
    ),
    Published(
        QWEN_IMAGE,
        ModelFamily.QWEN_IMAGE,
        QwenImageTransformer2DModel,
        {},
        {
            "hidden_states": (1, 1024, 64),
            "encoder_hidden_states": (1, 64, 3584),
            "timestep": (1,),
            "img_shapes": [[(1, 32, 32)]],
        },
    ),
    Published(
        HUNYUAN_VIDEO,
        ModelFamily.HUNYUAN_VIDEO,
        HunyuanVideoTransformer3DModel,
        {},
        {
            "hidden_states": (1, 16, 9, 60, 104),
            "timestep": (1,),
            "encoder_hidden_states": (1, 256, 4096),
            "encoder_attention_mask": (1, 256),
            "pooled_projections": (1, 768),
            "guidance": (1,),
        },
    ),
    Published(
        Z_IMAGE,
        ModelFamily.Z_IMAGE,
        ZImageTransformer2DModel,
        {},
        {"x": [(16, 1, 64, 64)], "t": (1,), "cap_feats": [(64, 2560)]},
    ),
]


@dataclass(frozen=True)
class PublishedAutoencoder:
    """A published autoencoder, and the latents of one sample to decode."""

    profile: ModelProfile
    kind: Any
    config: dict[str, Any]
    latent: tuple[int, ...]
    num_pixels: int
    """Pixels of all frames that the latents decode to."""


_KL = {
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
    "block_out_channels": (128, 256, 512, 512),
    "layers_per_block": 2,
    "use_quant_conv": False,
    "use_post_quant_conv": False,
}
_WAN22_5B = {
    "base_dim": 160,
    "decoder_base_dim": 256,
    "z_dim": 48,
    "is_residual": True,
    "in_channels": 12,
    "out_channels": 12,
    "patch_size": 2,
    "scale_factor_spatial": 16,
}
AUTOENCODERS = {
    "flux.1": PublishedAutoencoder(
        FLUX, AutoencoderKL, {**_KL, "latent_channels": 16, "shift_factor": 0.1159}, (1, 16, 32, 32), 256**2
    ),
    "flux.2": PublishedAutoencoder(FLUX2, AutoencoderKLFlux2, {}, (1, 32, 32, 32), 256**2),
    "qwen-image": PublishedAutoencoder(QWEN_IMAGE, AutoencoderKLQwenImage, {}, (1, 16, 1, 32, 32), 256**2),
    "hunyuanvideo": PublishedAutoencoder(
        HUNYUAN_VIDEO, AutoencoderKLHunyuanVideo, {}, (1, 16, 9, 60, 104), 33 * 480 * 832
    ),
    "wan2.1": PublishedAutoencoder(WAN, AutoencoderKLWan, {}, (1, 16, 3, 16, 16), 9 * 128**2),
    "wan2.2-5b": PublishedAutoencoder(WAN22_5B, AutoencoderKLWan, _WAN22_5B, (1, 48, 3, 8, 8), 9 * 128**2),
}
