"""Tiny pipelines of the families that make clips: 9 frames of 32 × 32 pixels as 3 latent frames, two blocks of each
kind. Schedulers are of the classes that the published checkpoints come with."""

from diffusers import (
    AutoencoderKLHunyuanVideo,
    AutoencoderKLWan,
    FlowMatchEulerDiscreteScheduler,
    HunyuanVideoPipeline,
    HunyuanVideoTransformer3DModel,
    UniPCMultistepScheduler,
    WanPipeline,
    WanTransformer3DModel,
)
from diffusers.pipelines.hunyuan_video.pipeline_hunyuan_video import DEFAULT_PROMPT_TEMPLATE
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import (
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTokenizer,
    LlamaConfig,
    LlamaModel,
    PreTrainedTokenizerFast,
    UMT5Config,
    UMT5EncoderModel,
)

from worker.shapes.text import EMBEDDING_DIM, VOCABULARY, build_clip_tokenizer, build_t5_tokenizer
from worker.tiny_models.text import HIDDEN_DIM, randomised

LATENT_CHANNELS = 4
CLIP_NUM_TOKENS = 77
"""HunyuanVideo's pipeline pads to it."""
WAN22_BOUNDARY = 0.875
"""Of Wan2.2 T2V-A14B."""

_PAD, _START, _UNKNOWN = "<pad>", "<s>", "<unk>"
_LLAMA_MARKS = ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")


def build_wan() -> WanPipeline:
    return _wan(transformer=_wan_transformer(), flow_shift=3.0)


def build_wan22() -> WanPipeline:
    """As A14B, with two experts."""
    return _wan(
        transformer=_wan_transformer(),
        transformer_2=_wan_transformer(),
        boundary_ratio=WAN22_BOUNDARY,
        flow_shift=3.0,
    )


def build_wan22_ti2v() -> WanPipeline:
    """As TI2V-5B: one transformer that is told the time of each token, and an autoencoder that packs pixels first."""
    vae = AutoencoderKLWan(
        base_dim=8,
        decoder_base_dim=12,
        z_dim=LATENT_CHANNELS,
        dim_mult=[1, 1, 1],
        num_res_blocks=1,
        temperal_downsample=[True, True],
        in_channels=12,
        out_channels=12,
        patch_size=2,
        is_residual=True,
        scale_factor_spatial=8,
        latents_mean=[0.1, -0.2, 0.3, 0.0],
        latents_std=[1.1, 0.9, 1.2, 1.0],
    )
    return _wan(transformer=_wan_transformer(), vae=vae, expand_timesteps=True, flow_shift=5.0)


def build_hunyuan_video() -> HunyuanVideoPipeline:
    llama, clip = _llama_tokenizer(), build_clip_tokenizer()
    transformer = HunyuanVideoTransformer3DModel(
        in_channels=LATENT_CHANNELS,
        out_channels=LATENT_CHANNELS,
        num_attention_heads=2,
        attention_head_dim=16,
        num_layers=2,
        num_single_layers=2,
        num_refiner_layers=1,
        patch_size=2,
        patch_size_t=1,
        guidance_embeds=True,
        text_embed_dim=HIDDEN_DIM,
        pooled_projection_dim=EMBEDDING_DIM,
        rope_axes_dim=(4, 6, 6),
    )
    vae = AutoencoderKLHunyuanVideo(
        latent_channels=LATENT_CHANNELS,
        block_out_channels=(8, 8, 8, 8),
        layers_per_block=1,
        norm_num_groups=4,
    )
    return HunyuanVideoPipeline(
        text_encoder=_llama(llama),
        tokenizer=llama,
        transformer=randomised(transformer),
        vae=randomised(vae),
        scheduler=FlowMatchEulerDiscreteScheduler(shift=7.0),
        text_encoder_2=_clip(clip),
        tokenizer_2=clip,
    )


def _wan(
    *,
    transformer: WanTransformer3DModel,
    flow_shift: float,
    transformer_2: WanTransformer3DModel | None = None,
    boundary_ratio: float | None = None,
    expand_timesteps: bool = False,
    vae: AutoencoderKLWan | None = None,
) -> WanPipeline:
    tokenizer = build_t5_tokenizer()
    config = UMT5Config(
        vocab_size=len(tokenizer),
        d_model=EMBEDDING_DIM,
        d_kv=EMBEDDING_DIM // 2,
        d_ff=EMBEDDING_DIM,
        num_layers=2,
        num_heads=2,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return WanPipeline(
        tokenizer=tokenizer,
        text_encoder=randomised(UMT5EncoderModel(config)),
        vae=randomised(vae or _wan_autoencoder()),
        scheduler=UniPCMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=flow_shift
        ),
        transformer=transformer,
        transformer_2=transformer_2,
        boundary_ratio=boundary_ratio,
        expand_timesteps=expand_timesteps,
    )


def _wan_autoencoder() -> AutoencoderKLWan:
    return AutoencoderKLWan(
        base_dim=8,
        z_dim=LATENT_CHANNELS,
        dim_mult=[1, 1, 1, 1],
        num_res_blocks=1,
        latents_mean=[0.1, -0.2, 0.3, 0.0],
        latents_std=[1.1, 0.9, 1.2, 1.0],
    )


def _wan_transformer() -> WanTransformer3DModel:
    return randomised(
        WanTransformer3DModel(
            patch_size=(1, 2, 2),
            num_attention_heads=2,
            attention_head_dim=16,
            in_channels=LATENT_CHANNELS,
            out_channels=LATENT_CHANNELS,
            text_dim=EMBEDDING_DIM,
            freq_dim=32,
            ffn_dim=32,
            num_layers=2,
            rope_max_seq_len=64,
        )
    )


def _llama(tokenizer: PreTrainedTokenizerFast) -> LlamaModel:
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN_DIM,
        intermediate_size=HIDDEN_DIM,
        # The pipeline reads the third layer from the end.
        num_hidden_layers=3,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=512,
        pad_token_id=tokenizer.pad_token_id,
    )
    return randomised(LlamaModel(config))


def _clip(tokenizer: CLIPTokenizer) -> CLIPTextModel:
    config = CLIPTextConfig(
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
    return randomised(CLIPTextModel(config))


def _llama_tokenizer() -> PreTrainedTokenizerFast:
    """One token a word, with so many start tokens that the pipeline cuts off its template and no more."""
    words = (_PAD, _START, _UNKNOWN, *_LLAMA_MARKS, *VOCABULARY)
    vocab = {word: index for index, word in enumerate(words)}
    model = Tokenizer(WordLevel(vocab, unk_token=_UNKNOWN))
    model.pre_tokenizer = WhitespaceSplit()
    model.add_special_tokens(list(words[: 3 + len(_LLAMA_MARKS)]))
    before_the_prompt = DEFAULT_PROMPT_TEMPLATE["template"].partition("{}")[0]
    num_starts = DEFAULT_PROMPT_TEMPLATE["crop_start"] - len(model.encode(before_the_prompt).ids)
    model.post_processor = TemplateProcessing(
        single=" ".join([_START] * num_starts + ["$A"]), special_tokens=[(_START, vocab[_START])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=model, pad_token=_PAD, bos_token=_START, unk_token=_UNKNOWN, padding_side="right"
    )
