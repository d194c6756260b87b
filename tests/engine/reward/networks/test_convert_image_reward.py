"""A converted file with the names of the original BLIP code gives the same scores."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BlipConfig

from tests.engine.reward.networks.conftest import SIDE, WIDTH
from worker.contracts.prompts import parse_prompts
from worker.contracts.rewards import ImageRewardSettings
from worker.engine.reward.convert_image_reward import convert, main
from worker.engine.reward.image_reward import ImageReward, ImageRewardNetwork

ORIGINAL_NAMES = {
    "vision_model.embeddings.class_embedding": "blip.visual_encoder.cls_token",
    "vision_model.embeddings.position_embedding": "blip.visual_encoder.pos_embed",
    "vision_model.embeddings.patch_embedding": "blip.visual_encoder.patch_embed.proj",
    "vision_model.post_layernorm": "blip.visual_encoder.norm",
    "vision_model.encoder.layers": "blip.visual_encoder.blocks",
    "self_attn.projection": "attn.proj",
    "self_attn.qkv": "attn.qkv",
    "layer_norm1": "norm1",
    "layer_norm2": "norm2",
    "text_encoder": "blip.text_encoder",
}


@pytest.fixture
def network() -> ImageRewardNetwork:
    torch.manual_seed(5)
    one_head = WIDTH | {"num_attention_heads": 1}
    text = one_head | {"vocab_size": 12, "encoder_hidden_size": 16, "max_position_embeddings": 64, "is_decoder": True}
    vision = one_head | {"image_size": SIDE, "patch_size": 8, "layer_norm_eps": 1e-6}
    return ImageRewardNetwork(BlipConfig(text_config=text | {"pad_token_id": 0}, vision_config=vision)).eval()


def published(network: ImageRewardNetwork) -> dict[str, torch.Tensor]:
    tensors = {}
    for name, tensor in network.state_dict().items():
        for ours, theirs in ORIGINAL_NAMES.items():
            name = name.replace(ours, theirs)
        tensors[name] = tensor
    return tensors


def test_the_converted_network_rates_as_the_original(network: ImageRewardNetwork) -> None:
    converted = convert(published(network) | {"blip.text_encoder.embeddings.position_ids": torch.arange(64)[None]})
    assert converted.config.vision_config.layer_norm_eps == 1e-6  # timm's, unlike transformers' default
    pixels, ids = torch.rand(3, 3, SIDE, SIDE), torch.randint(4, 12, (3, 6))
    mask = torch.ones_like(ids)
    torch.testing.assert_close(converted.rate(pixels, ids, mask), network.rate(pixels, ids, mask))


def test_a_file_that_lacks_a_tensor_is_refused(network: ImageRewardNetwork) -> None:
    tensors = published(network)
    del tensors["mlp.layers.7.weight"]
    with pytest.raises(RuntimeError, match=r"mlp\.layers\.7\.weight"):
        convert(tensors)


def test_the_reward_loads_the_folder_that_the_command_writes(
    network: ImageRewardNetwork, image_reward_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save(published(network), tmp_path / "ImageReward.pt")
    arguments = ["convert", str(tmp_path / "ImageReward.pt"), str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", [*arguments, "--tokenizer", str(image_reward_folder)])
    main()
    pictures = np.random.default_rng(6).integers(0, 256, size=(2, 40, 40, 3), dtype=np.uint8)
    reward = ImageReward(ImageRewardSettings(weights=str(tmp_path / "out")))
    first, second = reward.score(pictures, parse_prompts(["a red circle", "a blue square"])).require_complete(
        "image_reward"
    )
    assert first != second
