"""Tiny pipelines of the families that make pictures: 32 × 32 pixels as 16 tokens, two blocks of each kind. Schedulers
are configured as the published checkpoints' are."""

from diffusers import (
    AutoencoderKL,
    AutoencoderKLFlux2,
    AutoencoderKLQwenImage,
    FlowMatchEulerDiscreteScheduler,
    Flux2KleinPipeline,
    Flux2Pipeline,
    Flux2Transformer2DModel,
    FluxPipeline,
    FluxTransformer2DModel,
    QwenImagePipeline,
    QwenImageTransformer2DModel,
    SD3Transformer2DModel,
    StableDiffusion3Pipeline,
    ZImagePipeline,
    ZImageTransformer2DModel,
)
from transformers import CLIPTextConfig, CLIPTextModelWithProjection, CLIPTokenizer

from worker.shapes.text import (
    CLIP_NUM_TOKENS,
    EMBEDDING_DIM,
    build_clip_encoder,
    build_clip_tokenizer,
    build_t5_encoder,
    build_t5_tokenizer,
)
from worker.tiny_models.text import (
    HIDDEN_DIM,
    build_chat_tokenizer,
    build_mistral3,
    build_qwen2_5_vl,
    build_qwen3_language_model,
    build_qwen3_model,
    randomised,
)

LATENT_CHANNELS = 4


def build_sd3() -> StableDiffusion3Pipeline:
    clip, t5 = build_clip_tokenizer(), build_t5_tokenizer()
    transformer = SD3Transformer2DModel(
        sample_size=8,
        patch_size=2,
        in_channels=LATENT_CHANNELS,
        num_layers=2,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=EMBEDDING_DIM * 2,
        caption_projection_dim=32,
        pooled_projection_dim=EMBEDDING_DIM * 2,
        out_channels=LATENT_CHANNELS,
        pos_embed_max_size=16,
        dual_attention_layers=(0,),
        qk_norm="rms_norm",
    )
    t5_encoder = build_t5_encoder(t5, dim=EMBEDDING_DIM * 2)
    return StableDiffusion3Pipeline(
        transformer=randomised(transformer),
        scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0),
        vae=randomised(_autoencoder()),
        text_encoder=_projecting_clip(clip),
        tokenizer=clip,
        text_encoder_2=_projecting_clip(clip),
        tokenizer_2=clip,
        text_encoder_3=t5_encoder,
        tokenizer_3=t5,
    )


def build_flux() -> FluxPipeline:
    """As FLUX.1-dev, with embedded guidance; the shapes model has none."""
    clip, t5 = build_clip_tokenizer(), build_t5_tokenizer()
    transformer = FluxTransformer2DModel(
        patch_size=1,
        in_channels=LATENT_CHANNELS * 4,
        num_layers=2,
        num_single_layers=2,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=EMBEDDING_DIM,
        pooled_projection_dim=EMBEDDING_DIM,
        guidance_embeds=True,
        axes_dims_rope=(4, 6, 6),
    )
    return FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True, shift=3.0),
        vae=randomised(_autoencoder()),
        text_encoder=build_clip_encoder(clip),
        tokenizer=clip,
        text_encoder_2=build_t5_encoder(t5),
        tokenizer_2=t5,
        transformer=randomised(transformer),
    )


def build_flux2() -> Flux2Pipeline:
    tokenizer = build_chat_tokenizer()
    return Flux2Pipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True, shift=3.0),
        vae=_flux2_autoencoder(),
        text_encoder=randomised(build_mistral3(tokenizer)),
        tokenizer=tokenizer,
        transformer=_flux2_transformer(guidance_embeds=True),
    )


def build_flux2_klein() -> Flux2KleinPipeline:
    """As the base model of klein, which is not distilled."""
    tokenizer = build_chat_tokenizer()
    return Flux2KleinPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True, shift=3.0),
        vae=_flux2_autoencoder(),
        text_encoder=randomised(build_qwen3_language_model(tokenizer)),
        tokenizer=tokenizer,
        transformer=_flux2_transformer(guidance_embeds=False),
        is_distilled=False,
    )


def build_qwen_image() -> QwenImagePipeline:
    tokenizer = build_chat_tokenizer()
    transformer = QwenImageTransformer2DModel(
        patch_size=2,
        in_channels=LATENT_CHANNELS * 4,
        out_channels=LATENT_CHANNELS,
        num_layers=2,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=HIDDEN_DIM,
        axes_dims_rope=(4, 6, 6),
    )
    vae = AutoencoderKLQwenImage(
        base_dim=8,
        z_dim=LATENT_CHANNELS,
        dim_mult=[1, 1, 1],
        num_res_blocks=1,
        temperal_downsample=[False, True],
        latents_mean=[0.1, -0.2, 0.3, 0.0],
        latents_std=[1.1, 0.9, 1.2, 1.0],
    )
    return QwenImagePipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(
            use_dynamic_shifting=True, max_shift=0.9, max_image_seq_len=8192, shift_terminal=0.02
        ),
        vae=randomised(vae),
        text_encoder=randomised(build_qwen2_5_vl(tokenizer)),
        tokenizer=tokenizer,
        transformer=randomised(transformer),
    )


def build_z_image() -> ZImagePipeline:
    tokenizer = build_chat_tokenizer()
    transformer = ZImageTransformer2DModel(
        in_channels=LATENT_CHANNELS,
        dim=32,
        n_layers=2,
        n_refiner_layers=1,
        n_heads=2,
        n_kv_heads=2,
        cap_feat_dim=HIDDEN_DIM,
        axes_dims=[4, 6, 6],
        axes_lens=[1024, 64, 64],
    )
    return ZImagePipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0),
        vae=randomised(_autoencoder()),
        text_encoder=randomised(build_qwen3_model(tokenizer)),
        tokenizer=tokenizer,
        transformer=randomised(transformer),
    )


def _flux2_transformer(*, guidance_embeds: bool) -> Flux2Transformer2DModel:
    return randomised(
        Flux2Transformer2DModel(
            in_channels=LATENT_CHANNELS * 4,
            num_layers=2,
            num_single_layers=2,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=HIDDEN_DIM * 3,
            timestep_guidance_channels=32,
            axes_dims_rope=(4, 4, 4, 4),
            guidance_embeds=guidance_embeds,
        )
    )


def _flux2_autoencoder() -> AutoencoderKLFlux2:
    vae = randomised(
        AutoencoderKLFlux2(
            down_block_types=("DownEncoderBlock2D",) * 3,
            up_block_types=("UpDecoderBlock2D",) * 3,
            block_out_channels=(8, 8, 8),
            layers_per_block=1,
            latent_channels=LATENT_CHANNELS,
            norm_num_groups=4,
            sample_size=32,
            mid_block_add_attention=False,
        )
    )
    vae.bn.running_mean.normal_(0.0, 0.1)
    vae.bn.running_var.uniform_(0.5, 1.5)
    return vae


def _autoencoder() -> AutoencoderKL:
    """Four pixels to a latent."""
    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        block_out_channels=(8, 8, 8),
        latent_channels=LATENT_CHANNELS,
        norm_num_groups=4,
        layers_per_block=1,
        sample_size=32,
        mid_block_add_attention=False,
        scaling_factor=1.1,
        shift_factor=0.1,
    )


def _projecting_clip(tokenizer: CLIPTokenizer) -> CLIPTextModelWithProjection:
    return randomised(
        CLIPTextModelWithProjection(
            CLIPTextConfig(
                vocab_size=len(tokenizer),
                hidden_size=EMBEDDING_DIM,
                intermediate_size=EMBEDDING_DIM,
                projection_dim=EMBEDDING_DIM,
                num_hidden_layers=2,
                num_attention_heads=2,
                max_position_embeddings=CLIP_NUM_TOKENS,
                bos_token_id=tokenizer.bos_token_id,
                eos_token_id=tokenizer.eos_token_id,
                pad_token_id=tokenizer.pad_token_id,
            )
        )
    )
