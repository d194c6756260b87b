"""Converts ImageReward's published file to a folder that `image_reward` loads:

    python -m worker.engine.reward.convert_image_reward ImageReward.pt models/image-reward

The file (huggingface.co/THUDM/ImageReward) is a pickle. Tensors are renamed from the names of the original BLIP code to
transformers'. The network's sizes follow from the tensors' shapes. The tokenizer is bert-base-uncased, as BLIP's.
"""

import re
from collections.abc import Mapping

import torch
from transformers import BlipConfig

from worker.engine.reward.conversion import convert_file, num_layers
from worker.engine.reward.image_reward import ImageRewardNetwork

HEAD_WIDTH = 64
"""The width of an attention head in both towers of BLIP, in all published sizes."""
_NAME_PATTERNS = (
    (r"^visual_encoder\.cls_token$", "vision_model.embeddings.class_embedding"),
    (r"^visual_encoder\.pos_embed$", "vision_model.embeddings.position_embedding"),
    (r"^visual_encoder\.patch_embed\.proj\.", "vision_model.embeddings.patch_embedding."),
    (r"^visual_encoder\.norm\.", "vision_model.post_layernorm."),
    (r"^visual_encoder\.blocks\.(\d+)\.attn\.proj\.", r"vision_model.encoder.layers.\1.self_attn.projection."),
    (r"^visual_encoder\.blocks\.(\d+)\.attn\.", r"vision_model.encoder.layers.\1.self_attn."),
    (r"^visual_encoder\.blocks\.(\d+)\.norm", r"vision_model.encoder.layers.\1.layer_norm"),
    (r"^visual_encoder\.blocks\.(\d+)\.", r"vision_model.encoder.layers.\1."),
)
"""Patterns of BLIP's names, and transformers' names for them; the first that matches counts."""


def convert(tensors: Mapping[str, torch.Tensor]) -> ImageRewardNetwork:
    """The network of a published state dict. Raises `RuntimeError` naming tensors that are missing or left over."""
    renamed = {_renamed(name.removeprefix("blip.")): tensor.float() for name, tensor in tensors.items()}
    kept = {name: tensor for name, tensor in renamed.items() if not name.endswith("position_ids")}
    network = ImageRewardNetwork(_config(kept))
    network.load_state_dict(kept | {k: v for k, v in network.state_dict().items() if k.endswith("position_ids")})
    return network.eval()


def _renamed(name: str) -> str:
    for pattern, replacement in _NAME_PATTERNS:
        name, num_found = re.subn(pattern, replacement, name)
        if num_found:
            return name
    return name


def _config(tensors: Mapping[str, torch.Tensor]) -> BlipConfig:
    patches = tensors["vision_model.embeddings.patch_embedding.weight"]
    num_patches = tensors["vision_model.embeddings.position_embedding"].shape[1] - 1
    vision_width, patch_size = patches.shape[0], patches.shape[-1]
    words = tensors["text_encoder.embeddings.word_embeddings.weight"]
    vision = {
        "hidden_size": vision_width,
        "intermediate_size": tensors["vision_model.encoder.layers.0.mlp.fc1.weight"].shape[0],
        "num_hidden_layers": num_layers(tensors, "vision_model.encoder.layers."),
        "num_attention_heads": max(1, vision_width // HEAD_WIDTH),
        "patch_size": patch_size,
        "image_size": round(num_patches**0.5) * patch_size,
        "layer_norm_eps": 1e-6,
    }
    text = {
        "hidden_size": words.shape[1],
        "intermediate_size": tensors["text_encoder.encoder.layer.0.intermediate.dense.weight"].shape[0],
        "num_hidden_layers": num_layers(tensors, "text_encoder.encoder.layer."),
        "num_attention_heads": max(1, words.shape[1] // HEAD_WIDTH),
        "vocab_size": words.shape[0],
        "max_position_embeddings": tensors["text_encoder.embeddings.position_embeddings.weight"].shape[0],
        "encoder_hidden_size": vision_width,
        "is_decoder": True,
        "pad_token_id": 0,
    }
    return BlipConfig(vision_config=vision, text_config=text)


def main() -> None:
    convert_file(convert, scorer="image_reward", files="ImageReward.pt", tokenizer="google-bert/bert-base-uncased")


if __name__ == "__main__":
    main()
