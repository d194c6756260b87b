"""Tokenizers and text encoders of tiny checkpoints whose text is read by a language model.

One token per byte, so any prompt and any chat template goes through; special tokens of the chat format stay whole.
"""

from typing import TypeVar

import torch
from transformers import (
    Mistral3Config,
    Mistral3ForConditionalGeneration,
    MistralConfig,
    PixtralVisionConfig,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2Tokenizer,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3Model,
)
from transformers.convert_slow_tokenizer import bytes_to_unicode

Module = TypeVar("Module", bound=torch.nn.Module)

HIDDEN_DIM = 16
NUM_LAYERS = 31
"""The layers that FLUX.2's pipelines read lie up to the 30th."""

NUM_TOKENS = 2048

SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}{{ message.content[0].text }}{% endif %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def build_chat_tokenizer() -> Qwen2Tokenizer:
    letters = sorted(bytes_to_unicode().values())
    vocab = {letter: index for index, letter in enumerate(letters)}
    tokenizer = Qwen2Tokenizer(
        vocab=vocab | {token: len(vocab) + index for index, token in enumerate(SPECIAL_TOKENS)},
        merges=[],
        model_max_length=NUM_TOKENS,
        additional_special_tokens=list(SPECIAL_TOKENS[1:]),
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def build_qwen3_model(tokenizer: Qwen2Tokenizer) -> Qwen3Model:
    """Z-Image's encoder, which is read at its last layer but one."""
    return Qwen3Model(_qwen3_config(tokenizer, num_layers=2))


def build_qwen3_language_model(tokenizer: Qwen2Tokenizer) -> Qwen3ForCausalLM:
    """FLUX.2 klein's encoder."""
    return Qwen3ForCausalLM(_qwen3_config(tokenizer, num_layers=NUM_LAYERS))


def build_mistral3(tokenizer: Qwen2Tokenizer) -> Mistral3ForConditionalGeneration:
    """FLUX.2 dev's encoder."""
    text = MistralConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN_DIM,
        intermediate_size=HIDDEN_DIM,
        num_hidden_layers=NUM_LAYERS,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=HIDDEN_DIM // 2,
        max_position_embeddings=NUM_TOKENS,
    )
    vision = PixtralVisionConfig(
        hidden_size=HIDDEN_DIM,
        intermediate_size=HIDDEN_DIM,
        num_hidden_layers=1,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
    )
    return Mistral3ForConditionalGeneration(
        Mistral3Config(text_config=text.to_dict(), vision_config=vision.to_dict(), image_token_index=0)
    )


def build_qwen2_5_vl(tokenizer: Qwen2Tokenizer) -> Qwen2_5_VLForConditionalGeneration:
    """Qwen-Image's encoder."""
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": HIDDEN_DIM,
            "intermediate_size": HIDDEN_DIM,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "max_position_embeddings": NUM_TOKENS,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]},
        },
        vision_config={
            "depth": 1,
            "hidden_size": HIDDEN_DIM,
            "intermediate_size": HIDDEN_DIM,
            "num_heads": 2,
            "out_hidden_size": HIDDEN_DIM,
            "fullatt_block_indexes": [0],
        },
    )
    return Qwen2_5_VLForConditionalGeneration(config)


def randomised(module: Module) -> Module:
    """Frozen, with weights of a scale at which inputs matter; the libraries' own give prompts almost no effect."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.ndim >= 2:
                parameter.normal_(0.0, parameter[0].numel() ** -0.5)
    module.requires_grad_(False).eval()
    return module


def _qwen3_config(tokenizer: Qwen2Tokenizer, *, num_layers: int) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN_DIM,
        intermediate_size=HIDDEN_DIM,
        num_hidden_layers=num_layers,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=HIDDEN_DIM // 2,
        max_position_embeddings=NUM_TOKENS,
    )
