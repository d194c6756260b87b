"""Converts HPSv2's published files to a folder that `hps_v2` loads:

    python -m worker.engine.reward.convert_hps_v2 HPS_v2.1_compressed.pt models/hps-v2.1

The files (huggingface.co/xswu/HPSv2) are pickles of an open_clip ViT-H-14. Tensors are renamed from open_clip's names
to transformers'. The network's sizes follow from the tensors' shapes, except the number of attention heads. The
tokenizer is CLIP's.
"""

import re
from collections.abc import Iterator, Mapping

import torch
from transformers import CLIPConfig, CLIPModel

from worker.engine.reward.conversion import convert_file, num_layers

NUM_HEADS = 16
"""The number of attention heads in both towers of ViT-H-14."""
_NAME_PATTERNS = (
    (r"^visual\.class_embedding$", "vision_model.embeddings.class_embedding"),
    (r"^visual\.positional_embedding$", "vision_model.embeddings.position_embedding.weight"),
    (r"^visual\.conv1\.", "vision_model.embeddings.patch_embedding."),
    (r"^visual\.ln_pre\.", "vision_model.pre_layrnorm."),
    (r"^visual\.ln_post\.", "vision_model.post_layernorm."),
    (r"^visual\.proj$", "visual_projection.weight"),
    (r"^visual\.transformer\.resblocks\.", "vision_model.encoder.layers."),
    (r"^positional_embedding$", "text_model.embeddings.position_embedding.weight"),
    (r"^token_embedding\.", "text_model.embeddings.token_embedding."),
    (r"^ln_final\.", "text_model.final_layer_norm."),
    (r"^text_projection$", "text_projection.weight"),
    (r"^transformer\.resblocks\.", "text_model.encoder.layers."),
)
"""Patterns of open_clip's names, and transformers' names for them; the first that matches counts."""
_LAYER_NAMES = (
    (".attn.", ".self_attn."),
    (".ln_1.", ".layer_norm1."),
    (".ln_2.", ".layer_norm2."),
    (".mlp.c_fc.", ".mlp.fc1."),
    (".mlp.c_proj.", ".mlp.fc2."),
)
"""Parts of names inside a layer: open_clip's and transformers'."""


def convert(tensors: Mapping[str, torch.Tensor]) -> CLIPModel:
    """The network of a published state dict. Raises `RuntimeError` naming tensors that are missing or left over."""
    renamed = dict(_renamed(tensors))
    network = CLIPModel(_config(renamed))
    network.load_state_dict(renamed)
    return network.eval()


def _renamed(tensors: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    for name, tensor in tensors.items():
        for pattern, replacement in _NAME_PATTERNS:
            name, num_found = re.subn(pattern, replacement, name)
            if num_found:
                break
        for published, converted in _LAYER_NAMES:
            name = name.replace(published, converted)
        value = tensor.float()
        if name in ("visual_projection.weight", "text_projection.weight"):
            yield name, value.T.contiguous()
        elif ".in_proj_" in name:
            for part, rows in zip("qkv", value.chunk(3), strict=True):
                yield name.replace("in_proj_", f"{part}_proj."), rows.contiguous()
        else:
            yield name, value


def _config(tensors: Mapping[str, torch.Tensor]) -> CLIPConfig:
    patches = tensors["vision_model.embeddings.patch_embedding.weight"]
    num_patches = tensors["vision_model.embeddings.position_embedding.weight"].shape[0] - 1
    vocabulary = tensors["text_model.embeddings.token_embedding.weight"].shape[0]
    width = tensors["visual_projection.weight"].shape[0]
    vision = _tower(tensors, "vision_model.") | {
        "patch_size": patches.shape[-1],
        "image_size": round(num_patches**0.5) * patches.shape[-1],
        "projection_dim": width,
    }
    text = _tower(tensors, "text_model.") | {
        "vocab_size": vocabulary,
        "max_position_embeddings": tensors["text_model.embeddings.position_embedding.weight"].shape[0],
        "projection_dim": width,
        # The last two tokens of CLIP's vocabulary are those of a text's begin and end.
        "bos_token_id": vocabulary - 2,
        "eos_token_id": vocabulary - 1,
        "pad_token_id": vocabulary - 1,
    }
    return CLIPConfig(text_config=text, vision_config=vision, projection_dim=width)


def _tower(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, int | str]:
    layers = f"{prefix}encoder.layers."
    hidden, width = tensors[f"{layers}0.mlp.fc1.weight"].shape
    return {
        "hidden_size": width,
        "intermediate_size": hidden,
        "num_hidden_layers": num_layers(tensors, layers),
        "num_attention_heads": NUM_HEADS,
        "hidden_act": "gelu",
    }


def main() -> None:
    convert_file(
        lambda content: convert(content["state_dict"]),
        scorer="hps_v2",
        files="HPS_v2_compressed.pt or HPS_v2.1_compressed.pt",
        tokenizer="laion/CLIP-ViT-H-14-laion2B-s32B-b79K",
    )


if __name__ == "__main__":
    main()
