"""Profiles have the values that torch counts of diffusers' classes with published configurations, on the meta
device."""

from dataclasses import dataclass
from typing import Any

import pytest
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
from torch.utils.flop_counter import FlopCounterMode

from worker.contracts.names import ModelFamily
from worker.engine.models.registry import MODEL_ADAPTERS
from worker.scheduling.profiles.image_models import (
    FLUX,
    FLUX2,
    KLEIN_4B,
    KLEIN_9B,
    QWEN_IMAGE,
    SD35_LARGE,
    SD35_MEDIUM,
    Z_IMAGE,
)
from worker.scheduling.profiles.model_profile import ModelProfile
from worker.scheduling.profiles.video_models import HUNYUAN_VIDEO, WAN, WAN22_5B, WAN_1_3B

TOLERANCE = 0.05
"""Relative: profiles are rounded, and leave out layers of which a model has only one."""


@dataclass(frozen=True)
class Published:
    """A published transformer, and one call of it with 512² pixels or 9 latent frames."""

    profile: ModelProfile
    family: ModelFamily
    kind: Any
    config: dict[str, Any]
    inputs: dict[str, tuple[int, ...]]


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
    Published(QWEN_IMAGE, ModelFamily.QWEN_IMAGE, QwenImageTransformer2DModel, {}, {}),
    Published(HUNYUAN_VIDEO, ModelFamily.HUNYUAN_VIDEO, HunyuanVideoTransformer3DModel, {}, {}),
    Published(Z_IMAGE, ModelFamily.Z_IMAGE, ZImageTransformer2DModel, {}, {}),
]
PICTURE = {"height": 512, "width": 512, "num_frames": 1}
EACH = pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published.profile.name)


def _built(published: Published) -> torch.nn.Module:
    with torch.device("meta"):
        model: torch.nn.Module = published.kind(**published.config).to(torch.bfloat16)
    return model


def _meta(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, device="meta", dtype=torch.bfloat16)


@EACH
def test_parameters_are_the_models_and_lora_trains_what_the_family_adapts(published: Published) -> None:
    model, profile = _built(published), published.profile
    assert sum(parameter.numel() for parameter in model.parameters()) == pytest.approx(profile.parameters, rel=0.01)
    endings = MODEL_ADAPTERS[published.family].default_lora_targets
    adapted = [
        module
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and f".{name}".endswith(tuple(f".{end}" for end in endings))
    ]
    assert sum(module.in_features + module.out_features for module in adapted) == profile.lora_parameters_per_rank


@pytest.mark.parametrize(
    "published", [one for one in PUBLISHED if one.inputs], ids=lambda published: published.profile.name
)
def test_operations_of_a_forward_are_those_that_torch_counts(published: Published) -> None:
    model, profile = _built(published), published.profile
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(**{name: _meta(*shape) for name, shape in published.inputs.items()})
    size = {"height": 480, "width": 832, "num_frames": 33} if profile.cross_attends else PICTURE
    num_tokens = profile.num_tokens(**size)
    assert profile.forward_flops(num_tokens) == pytest.approx(counter.get_total_flops(), rel=TOLERANCE)


_AUTOENCODERS = {
    "flux.1": (FLUX, AutoencoderKL, {"latent_channels": 16}, (1, 16, 32, 32), 256**2),
    "flux.2": (FLUX2, AutoencoderKLFlux2, {}, (1, 32, 32, 32), 256**2),
    "qwen-image": (QWEN_IMAGE, AutoencoderKLQwenImage, {}, (1, 16, 1, 32, 32), 256**2),
    "hunyuanvideo": (HUNYUAN_VIDEO, AutoencoderKLHunyuanVideo, {}, (1, 16, 9, 60, 104), 33 * 480 * 832),
    "wan2.1": (WAN, AutoencoderKLWan, {}, (1, 16, 3, 16, 16), 9 * 128**2),
    "wan2.2-5b": (
        WAN22_5B,
        AutoencoderKLWan,
        {
            "base_dim": 160,
            "decoder_base_dim": 256,
            "z_dim": 48,
            "is_residual": True,
            "in_channels": 12,
            "out_channels": 12,
            "patch_size": 2,
            "scale_factor_spatial": 16,
        },
        (1, 48, 3, 8, 8),
        9 * 128**2,
    ),
}
_KL = {
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
    "block_out_channels": (128, 256, 512, 512),
    "layers_per_block": 2,
    "use_quant_conv": False,
    "use_post_quant_conv": False,
}


@pytest.mark.parametrize("name", _AUTOENCODERS)
def test_decoding_takes_the_operations_and_keeps_the_values_that_torch_counts(name: str) -> None:
    profile, kind, config, latent, num_pixels = _AUTOENCODERS[name]
    with torch.device("meta"):
        vae = kind(**({**_KL, **config} if kind is AutoencoderKL else config)).to(torch.bfloat16).requires_grad_(False)
    num_parameters = sum(parameter.numel() for parameter in vae.parameters())
    assert profile.decoder_parameters == pytest.approx(num_parameters, rel=TOLERANCE)
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[id(tensor.untyped_storage())] = tensor
        return tensor

    own = {id(parameter.untyped_storage()) for parameter in vae.parameters()}
    with FlopCounterMode(display=False) as counter, torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept):
        vae.decode(_meta(*latent).requires_grad_())
    num_values = sum(tensor.numel() for identity, tensor in kept.items() if identity not in own)
    assert profile.decoder_flops_per_pixel * num_pixels == pytest.approx(counter.get_total_flops(), rel=2 * TOLERANCE)
    assert profile.decoder_values_per_pixel * num_pixels == pytest.approx(num_values, rel=4 * TOLERANCE)
