"""The parameters of the text encoders that profiles state, counted on transformers' classes of published sizes."""

from collections.abc import Callable, Sequence

import pytest
import torch
from transformers import (
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTextModelWithProjection,
    LlamaConfig,
    LlamaModel,
    Mistral3Config,
    Mistral3ForConditionalGeneration,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3Model,
    T5Config,
    T5EncoderModel,
    UMT5Config,
    UMT5EncoderModel,
)

from worker.scheduling.profiles import image_models, video_models
from worker.scheduling.profiles.model_profile import ModelProfile

Build = Callable[[], torch.nn.Module]


def clip_l() -> torch.nn.Module:
    return CLIPTextModel(_clip(768, 12, 12))


def clip_l_projected() -> torch.nn.Module:
    return CLIPTextModelWithProjection(_clip(768, 12, 12))


def clip_big_g() -> torch.nn.Module:
    return CLIPTextModelWithProjection(_clip(1280, 32, 20))


def _clip(width: int, num_layers: int, num_heads: int) -> CLIPTextConfig:
    return CLIPTextConfig(
        hidden_size=width,
        intermediate_size=4 * width,
        projection_dim=width,
        num_hidden_layers=num_layers,
        num_attention_heads=num_heads,
    )


def t5_xxl() -> torch.nn.Module:
    return T5EncoderModel(T5Config(vocab_size=32128, **_XXL))


def umt5_xxl() -> torch.nn.Module:
    return UMT5EncoderModel(UMT5Config(vocab_size=256384, **_XXL))


_XXL = {
    "d_model": 4096,
    "d_kv": 64,
    "d_ff": 10240,
    "num_layers": 24,
    "num_heads": 64,
    "feed_forward_proj": "gated-gelu",
}


def llama_8b() -> torch.nn.Module:
    """That of LLaVA, whose vocabulary is longer."""
    return LlamaModel(
        LlamaConfig(
            vocab_size=128320,
            hidden_size=4096,
            intermediate_size=14336,
            num_hidden_layers=32,
            num_attention_heads=32,
            num_key_value_heads=8,
        )
    )


def mistral_small_24b() -> torch.nn.Module:
    text = {
        "model_type": "mistral",
        "vocab_size": 131072,
        "hidden_size": 5120,
        "intermediate_size": 32768,
        "num_hidden_layers": 40,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
    }
    # The vision tower is the class's default.
    return Mistral3ForConditionalGeneration(Mistral3Config(text_config=text, tie_word_embeddings=False))


def qwen25_vl_7b() -> torch.nn.Module:
    text = {
        "vocab_size": 152064,
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
    }
    vision = {"hidden_size": 1280, "intermediate_size": 3420, "out_hidden_size": 3584, "depth": 32, "num_heads": 16}
    return Qwen2_5_VLForConditionalGeneration(
        Qwen2_5_VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=False)
    )


def qwen3_4b() -> torch.nn.Module:
    return Qwen3Model(_qwen3(2560, 9728, tied=True))


def qwen3_8b() -> torch.nn.Module:
    return Qwen3ForCausalLM(_qwen3(4096, 12288, tied=False))


def _qwen3(width: int, inner: int, *, tied: bool) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=151936,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=36,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        tie_word_embeddings=tied,
    )


@pytest.mark.parametrize(
    ("profile", "encoders"),
    [
        pytest.param(profile, encoders, id=profile.name)
        for profile, encoders in (
            (image_models.FLUX, [clip_l, t5_xxl]),
            (image_models.FLUX2, [mistral_small_24b]),
            (image_models.KLEIN_4B, [qwen3_4b]),
            (image_models.KLEIN_9B, [qwen3_8b]),
            (image_models.SD3_MEDIUM, [clip_l_projected, clip_big_g, t5_xxl]),
            (image_models.SD35_MEDIUM, [clip_l_projected, clip_big_g, t5_xxl]),
            (image_models.SD35_LARGE, [clip_l_projected, clip_big_g, t5_xxl]),
            (image_models.QWEN_IMAGE, [qwen25_vl_7b]),
            (image_models.Z_IMAGE, [qwen3_4b]),
            (video_models.HUNYUAN_VIDEO, [llama_8b, clip_l]),
            (video_models.WAN, [umt5_xxl]),
            (video_models.WAN_1_3B, [umt5_xxl]),
            (video_models.WAN22_5B, [umt5_xxl]),
        )
    ],
)
def test_the_text_encoders_have_as_many_parameters_as_the_profile_says(
    profile: ModelProfile, encoders: Sequence[Build]
) -> None:
    with torch.device("meta"):
        number = sum(each.numel() for build in encoders for each in build().parameters())
    assert profile.text_encoder_parameters == pytest.approx(number, rel=0.005)
