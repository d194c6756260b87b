"""Tiny random checkpoints of the published scorers' classes, made once per session; nothing is downloaded."""

from pathlib import Path

import pytest
import torch
from transformers import BlipConfig, CLIPConfig, CLIPModel, CLIPVisionConfig

from tests.engine.reward.networks.scorer_inputs import bert_tokenizer, clip_tokenizer, save_processor
from worker.engine.reward.aesthetic import AestheticNetwork
from worker.engine.reward.image_reward import ImageRewardNetwork

SIDE = 32
WIDTH = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION = WIDTH | {"image_size": SIDE, "patch_size": 8, "projection_dim": 8}


@pytest.fixture(scope="session")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clip")
    tokenizer = clip_tokenizer()
    tokenizer.save_pretrained(folder)
    save_processor(folder, SIDE)
    torch.manual_seed(1)
    text = WIDTH | {
        "vocab_size": len(tokenizer), "max_position_embeddings": 77, "projection_dim": 8,
        "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1,
    }  # fmt: skip
    CLIPModel(CLIPConfig(text_config=text, vision_config=VISION, projection_dim=8)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def aesthetic_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aesthetic")
    save_processor(folder, SIDE)
    torch.manual_seed(2)
    AestheticNetwork(CLIPVisionConfig(**VISION)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def image_reward_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("image_reward")
    tokenizer = bert_tokenizer()
    tokenizer.save_pretrained(folder)
    save_processor(folder, SIDE)
    torch.manual_seed(3)
    text = WIDTH | {
        "vocab_size": len(tokenizer), "encoder_hidden_size": 16, "max_position_embeddings": 64, "projection_dim": 8,
        "bos_token_id": 2, "sep_token_id": 3, "eos_token_id": 3, "pad_token_id": 0, "is_decoder": True,
    }  # fmt: skip
    network = ImageRewardNetwork(BlipConfig(text_config=text, vision_config=VISION, projection_dim=8))
    network.save_pretrained(folder)
    return folder
