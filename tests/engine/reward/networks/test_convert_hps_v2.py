"""A converted open_clip state dict gives open_clip's embeddings, which are computed here layer by layer."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional
from transformers import CLIPTokenizer

from tests.engine.reward.networks.conftest import SIDE
from tests.engine.reward.networks.scorer_inputs import LETTERS
from worker.contracts.prompts import parse_prompts
from worker.contracts.rewards import HpsV2Settings
from worker.engine.reward.convert_hps_v2 import NUM_HEADS, convert, main
from worker.engine.reward.hps_v2 import HpsV2

Tensors = dict[str, torch.Tensor]
WIDTH, HIDDEN, PROJECTION, NUM_LAYERS, PATCH, NUM_TOKENS = 32, 48, 24, 2, 8, 60
NUM_PATCHES = (SIDE // PATCH) ** 2


@pytest.fixture(scope="module")
def published() -> Tensors:
    generator = torch.Generator().manual_seed(8)

    def drawn(*shape: int) -> torch.Tensor:
        return 0.3 * torch.randn(*shape, generator=generator)

    tensors = {
        "visual.conv1.weight": drawn(WIDTH, 3, PATCH, PATCH),
        "visual.class_embedding": drawn(WIDTH),
        "visual.positional_embedding": drawn(NUM_PATCHES + 1, WIDTH),
        "visual.proj": drawn(WIDTH, PROJECTION),
        "token_embedding.weight": drawn(NUM_TOKENS, WIDTH),
        "positional_embedding": drawn(77, WIDTH),
        "text_projection": drawn(WIDTH, PROJECTION),
        "logit_scale": torch.tensor(4.6),
    }
    for norm in ("visual.ln_pre", "visual.ln_post", "ln_final"):
        tensors |= {f"{norm}.weight": 1 + drawn(WIDTH), f"{norm}.bias": drawn(WIDTH)}
    for layer in (f"{tower}transformer.resblocks.{index}" for tower in ("visual.", "") for index in range(NUM_LAYERS)):
        tensors |= {
            f"{layer}.attn.in_proj_weight": drawn(3 * WIDTH, WIDTH),
            f"{layer}.attn.in_proj_bias": drawn(3 * WIDTH),
            f"{layer}.attn.out_proj.weight": drawn(WIDTH, WIDTH),
            f"{layer}.attn.out_proj.bias": drawn(WIDTH),
            f"{layer}.mlp.c_fc.weight": drawn(HIDDEN, WIDTH),
            f"{layer}.mlp.c_fc.bias": drawn(HIDDEN),
            f"{layer}.mlp.c_proj.weight": drawn(WIDTH, HIDDEN),
            f"{layer}.mlp.c_proj.bias": drawn(WIDTH),
        }
        for norm in (f"{layer}.ln_1", f"{layer}.ln_2"):
            tensors |= {f"{norm}.weight": 1 + drawn(WIDTH), f"{norm}.bias": drawn(WIDTH)}
    return tensors


def norm(tensors: Tensors, name: str, x: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, (WIDTH,), tensors[f"{name}.weight"], tensors[f"{name}.bias"], 1e-5)


def transformer(tensors: Tensors, prefix: str, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """A pre-norm transformer on (tokens, width)."""
    for index in range(NUM_LAYERS):
        layer = f"{prefix}transformer.resblocks.{index}"
        attention = torch.nn.MultiheadAttention(WIDTH, NUM_HEADS)
        attention.load_state_dict(
            {name.removeprefix(f"{layer}.attn."): t for name, t in tensors.items() if name.startswith(f"{layer}.attn.")}
        )
        normalised = norm(tensors, f"{layer}.ln_1", x)
        x = x + attention(normalised, normalised, normalised, attn_mask=mask, need_weights=False)[0]
        normalised = norm(tensors, f"{layer}.ln_2", x)
        inner = functional.gelu(normalised @ tensors[f"{layer}.mlp.c_fc.weight"].T + tensors[f"{layer}.mlp.c_fc.bias"])
        x = x + inner @ tensors[f"{layer}.mlp.c_proj.weight"].T + tensors[f"{layer}.mlp.c_proj.bias"]
    return x


def plain_picture(tensors: Tensors, pixels: torch.Tensor) -> torch.Tensor:
    patches = functional.conv2d(pixels[None], tensors["visual.conv1.weight"], stride=PATCH)[0].flatten(1).T
    tokens = torch.cat([tensors["visual.class_embedding"][None], patches]) + tensors["visual.positional_embedding"]
    x = transformer(tensors, "visual.", norm(tensors, "visual.ln_pre", tokens), None)
    return norm(tensors, "visual.ln_post", x[0]) @ tensors["visual.proj"]


def plain_text(tensors: Tensors, ids: list[int]) -> torch.Tensor:
    tokens = tensors["token_embedding.weight"][ids] + tensors["positional_embedding"][: len(ids)]
    mask = torch.full((len(ids), len(ids)), -torch.inf).triu(1)
    x = norm(tensors, "ln_final", transformer(tensors, "", tokens, mask))
    return x[int(np.argmax(ids))] @ tensors["text_projection"]


@torch.no_grad()
def test_the_converted_network_embeds_as_open_clip_does(published: Tensors) -> None:
    network = convert({name: tensor.half() for name, tensor in published.items()})
    rounded = {name: tensor.half().float() for name, tensor in published.items()}
    pixels = torch.randn(3, SIDE, SIDE, generator=torch.Generator().manual_seed(1))
    ids = [NUM_TOKENS - 2, 5, 7, 9, NUM_TOKENS - 1]
    picture = network.get_image_features(pixel_values=pixels[None]).pooler_output[0]
    torch.testing.assert_close(picture, plain_picture(rounded, pixels), rtol=1e-4, atol=1e-4)
    # open_clip pads with 0, transformers' tokenizer with the end token: neither must change the embedding.
    for padding in ([], [0, 0], [NUM_TOKENS - 1] * 3):
        words = network.get_text_features(input_ids=torch.tensor([ids + padding])).pooler_output[0]
        torch.testing.assert_close(words, plain_text(rounded, ids), rtol=1e-4, atol=1e-4)
    assert float(network.logit_scale) == pytest.approx(4.6, abs=1e-2)


def test_a_file_that_lacks_or_adds_a_tensor_is_refused(published: Tensors) -> None:
    with pytest.raises(RuntimeError, match="pre_layrnorm"):
        convert({name: tensor for name, tensor in published.items() if name != "visual.ln_pre.bias"})
    with pytest.raises(RuntimeError, match=r"score_predictor\.weight"):
        convert(published | {"score_predictor.weight": torch.zeros(1)})


def test_the_reward_loads_the_folder_that_the_command_writes(
    published: Tensors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fillers = [str(number) for number in range(NUM_TOKENS - 2 - 2 * len(LETTERS))]
    words = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS), *fillers, "<|startoftext|>", "<|endoftext|>"]
    CLIPTokenizer({word: index for index, word in enumerate(words)}, []).save_pretrained(tmp_path / "tokenizer")
    torch.save({"state_dict": published}, tmp_path / "HPS_v2.1_compressed.pt")
    arguments = ["convert", str(tmp_path / "HPS_v2.1_compressed.pt"), str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", [*arguments, "--tokenizer", str(tmp_path / "tokenizer")])
    main()
    pictures = np.random.default_rng(6).integers(0, 256, size=(2, 40, 56, 3), dtype=np.uint8)
    reward = HpsV2(HpsV2Settings(weights=str(tmp_path / "out")))
    scores = reward.score(pictures[[0, 0, 1]], parse_prompts(["red", "blue", "red"])).require_complete("hps_v2")
    assert len(set(scores)) == 3
    assert all(-1 <= score <= 1 for score in scores)
