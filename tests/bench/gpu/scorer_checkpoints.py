"""Checkpoints of scorers' networks with published widths and depths and random weights, which are made on the device.

They are written to files, because scorers load theirs from files alone. Tokenizers have few words: the number of tokens
of a text is the network's length, whatever they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import init_empty_weights
from transformers import BlipConfig, CLIPConfig, CLIPModel, CLIPVisionConfig

from tests.bench.gpu.resident_models import fill_on_device
from tests.engine.reward.networks.scorer_inputs import bert_tokenizer, clip_tokenizer, save_processor
from worker.contracts.names import RewardName
from worker.engine.reward.aesthetic import AestheticNetwork
from worker.engine.reward.image_reward import ImageRewardNetwork

Config = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerShape:
    """Both towers of one scorer's network."""

    vision: Config
    text: Config
    projection_dim: int = 0


def _tower(width: int, layers: int, heads: int, **more: Any) -> Config:
    return {
        "hidden_size": width,
        "intermediate_size": 4 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        **more,
    }


_VIT_L = _tower(1024, 24, 16, image_size=224, patch_size=14, projection_dim=768)
FULL_SCORERS: Mapping[RewardName, ScorerShape] = {
    # openai/clip-vit-large-patch14, config.json.
    RewardName.CLIP_SCORE: ScorerShape(vision=_VIT_L, text=_tower(768, 12, 12, projection_dim=768), projection_dim=768),
    # laion/CLIP-ViT-H-14-laion2B-s32B-b79K, config.json.
    RewardName.PICK_SCORE: ScorerShape(
        vision=_tower(1280, 32, 16, image_size=224, patch_size=14, projection_dim=1024, hidden_act="gelu"),
        text=_tower(1024, 24, 16, projection_dim=1024, hidden_act="gelu"),
        projection_dim=1024,
    ),
    RewardName.AESTHETIC: ScorerShape(vision=_VIT_L, text={}),
    # BLIP with ViT-L/16 and BERT's text encoder (arXiv 2201.12086, table 1; github.com/THUDM/ImageReward).
    RewardName.IMAGE_REWARD: ScorerShape(
        vision=_tower(1024, 24, 16, image_size=224, patch_size=16),
        text=_tower(768, 12, 12, encoder_hidden_size=1024, vocab_size=30524, is_decoder=True),
    ),
}
_TINY_VISION = _tower(16, 2, 2, image_size=32, patch_size=8, projection_dim=8)
TINY_SCORERS: Mapping[RewardName, ScorerShape] = {
    RewardName.CLIP_SCORE: ScorerShape(vision=_TINY_VISION, text=_tower(16, 2, 2, projection_dim=8), projection_dim=8),
    RewardName.AESTHETIC: ScorerShape(vision=_TINY_VISION, text={}),
    RewardName.IMAGE_REWARD: ScorerShape(
        vision=_TINY_VISION,
        text=_tower(16, 2, 2, encoder_hidden_size=16, vocab_size=64, is_decoder=True),
    ),
}


def build_scorer(name: RewardName, shape: ScorerShape, folder: Path, device: torch.device) -> Path:
    """Write the checkpoint of reward `name` into `folder`/<name>; returns that path."""
    path = folder / name.value
    path.mkdir(parents=True)
    save_processor(path, shape.vision["image_size"])
    with init_empty_weights(include_buffers=False):
        network = _network(name, shape, path)
    fill_on_device(network, device=device, dtype=torch.float32, seed=0)
    network.save_pretrained(path)
    return path


def _network(name: RewardName, shape: ScorerShape, path: Path) -> Any:
    """The network, with the tokenizer that belongs to it written to `path`."""
    if name is RewardName.AESTHETIC:
        return AestheticNetwork(CLIPVisionConfig(**shape.vision))
    if name is RewardName.IMAGE_REWARD:
        bert = bert_tokenizer()
        bert.save_pretrained(path)
        special = {"bos_token_id": 2, "sep_token_id": 3, "eos_token_id": 3, "pad_token_id": 0}
        return ImageRewardNetwork(BlipConfig(text_config=shape.text | special, vision_config=shape.vision))
    clip = clip_tokenizer()
    clip.save_pretrained(path)
    special = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    return CLIPModel(
        CLIPConfig(text_config=shape.text | special, vision_config=shape.vision, projection_dim=shape.projection_dim)
    )
