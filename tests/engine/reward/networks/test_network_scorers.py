"""Scorers with networks against the published formulas, on tiny checkpoints of the same classes."""

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from transformers import CLIPModel, CLIPTokenizer

from tests.engine.reward.networks.plain import cosine, letterboxed_pixels, linear_layers, pixels
from worker.contracts.prompts import parse_prompts
from worker.contracts.rewards import (
    AestheticSettings,
    ClipScoreSettings,
    HpsV2Settings,
    ImageRewardSettings,
    PickScoreSettings,
    ScorerDtype,
)
from worker.engine.errors import ModelLoadError
from worker.engine.reward.aesthetic import Aesthetic, AestheticNetwork
from worker.engine.reward.base import Reward
from worker.engine.reward.cancellation import ScoringCancelledError, cancellable
from worker.engine.reward.clip_score import ClipScore
from worker.engine.reward.clip_similarity import letterboxed
from worker.engine.reward.hps_v2 import HpsV2
from worker.engine.reward.image_reward import ImageReward, ImageRewardNetwork
from worker.engine.reward.pick_score import PickScore

PICTURES = np.random.default_rng(4).integers(0, 256, size=(5, 48, 40, 3), dtype=np.uint8)
PROMPTS = ["a red circle", "blue", "a view of a square", "a red circle", "circle " * 100]
TOLERANCE = 1e-5


def plain_cosines(
    folder: Path, texts: list[str], prepared: Callable[[NDArray[np.uint8]], torch.Tensor] = pixels
) -> list[float]:
    network, tokenizer = CLIPModel.from_pretrained(folder).eval(), CLIPTokenizer.from_pretrained(folder)
    found = []
    for image, text in zip(PICTURES, texts, strict=True):
        # Without padding, on which scores must not depend.
        ids = torch.tensor([tokenizer(text, truncation=True, max_length=77)["input_ids"]])
        words = network.text_projection(network.text_model(input_ids=ids).pooler_output)
        picture = network.visual_projection(network.vision_model(pixel_values=prepared(image)).pooler_output)
        found.append(cosine(picture, words))
    return found


def scores(reward: Reward) -> tuple[float, ...]:
    return reward.score(PICTURES, parse_prompts(PROMPTS)).require_complete(reward.name)


def test_clip_score_is_two_and_a_half_times_the_cosine_above_zero(clip_folder: Path) -> None:
    expected = [2.5 * max(c, 0) for c in plain_cosines(clip_folder, [f"A photo depicts {text}" for text in PROMPTS])]
    found = scores(ClipScore(ClipScoreSettings(weights=str(clip_folder), pictures_per_call=2)))
    np.testing.assert_allclose(found, expected, atol=TOLERANCE)


def test_pick_score_is_the_scaled_cosine(clip_folder: Path) -> None:
    scale = float(CLIPModel.from_pretrained(clip_folder).logit_scale.detach().exp())
    expected = [scale * cosine for cosine in plain_cosines(clip_folder, PROMPTS)]
    settings = PickScoreSettings(weights=str(clip_folder), processor=str(clip_folder), pictures_per_call=2)
    np.testing.assert_allclose(scores(PickScore(settings)), expected, atol=scale * TOLERANCE)
    assert min(expected) < 0 or max(expected) > 0.01  # the comparison says something


def test_hps_v2_is_the_cosine_with_the_letterboxed_picture(clip_folder: Path) -> None:
    found = scores(HpsV2(HpsV2Settings(weights=str(clip_folder), pictures_per_call=3)))
    np.testing.assert_allclose(found, plain_cosines(clip_folder, PROMPTS, letterboxed_pixels), atol=TOLERANCE)
    # The pictures are not square, so that centre-cropping gives other scores.
    assert not np.allclose(found, plain_cosines(clip_folder, PROMPTS), atol=TOLERANCE)


@pytest.mark.parametrize("shape", [(480, 832, 3), (33, 20, 3), (7, 7, 3), (16, 600, 3)])
def test_letterboxes_hold_the_whole_picture_in_the_middle(shape: tuple[int, int, int]) -> None:
    square = letterboxed(np.full(shape, 255, dtype=np.uint8), 224)
    rows, columns = np.nonzero(square[..., 0])
    assert square.shape == (224, 224, 3) and max(np.ptp(rows), np.ptp(columns)) == 223
    assert abs((np.ptp(rows) + 1) / (np.ptp(columns) + 1) - shape[0] / shape[1]) < 0.2 * shape[0] / shape[1]
    for indices in (rows, columns):
        assert 0 <= (223 - indices.max()) - indices.min() <= 1


def test_aesthetic_is_the_head_on_the_unit_embedding(aesthetic_folder: Path) -> None:
    network = AestheticNetwork.from_pretrained(aesthetic_folder).eval()
    expected = []
    for image in PICTURES:
        embedding = network.visual_projection(network.vision_model(pixel_values=pixels(image)).pooler_output)
        expected.append(linear_layers(network.layers, embedding / torch.linalg.vector_norm(embedding)))
    found = scores(Aesthetic(AestheticSettings(weights=str(aesthetic_folder), pictures_per_call=2)))
    np.testing.assert_allclose(found, expected, atol=TOLERANCE)


def test_image_reward_is_the_head_on_the_text_state_with_cross_attention(image_reward_folder: Path) -> None:
    network = ImageRewardNetwork.from_pretrained(image_reward_folder).eval()
    ids_of = {"a red circle": [2, 5, 6, 8, 3], "blue": [2, 7, 3], "a view of a square": [2, 5, 10, 11, 5, 9, 3]}
    expected = []
    for image, prompt in zip(PICTURES, PROMPTS, strict=True):
        ids = ids_of.get(prompt, [2, *[8] * 33, 3])
        image_states = network.vision_model(pixel_values=pixels(image)).last_hidden_state
        text_states = network.text_encoder(
            input_ids=torch.tensor([ids]), encoder_hidden_states=image_states
        ).last_hidden_state
        rating = linear_layers(network.mlp.layers, text_states[0, 0])
        expected.append((rating - 0.16717362830052426) / 1.0333394966054072)
    found = scores(ImageReward(ImageRewardSettings(weights=str(image_reward_folder), pictures_per_call=2)))
    np.testing.assert_allclose(found, expected, atol=TOLERANCE)


def test_image_rewards_state_at_cls_depends_on_the_whole_prompt(image_reward_folder: Path) -> None:
    """With a causal mask the state at [CLS], the first token, would be the same for every prompt."""
    reward = ImageReward(ImageRewardSettings(weights=str(image_reward_folder)))
    one = np.repeat(PICTURES[:1], 3, axis=0)
    found = reward.score(one, parse_prompts(["a red circle", "a red square", "a red circle"])).require_complete(
        "image_reward"
    )
    assert found[0] == found[2] != found[1]


def test_scores_do_not_depend_on_the_batch_size(clip_folder: Path) -> None:
    one_by_one = scores(HpsV2(HpsV2Settings(weights=str(clip_folder), pictures_per_call=1)))
    together = scores(HpsV2(HpsV2Settings(weights=str(clip_folder), pictures_per_call=16)))
    np.testing.assert_allclose(one_by_one, together, atol=TOLERANCE)


def test_an_empty_batch_has_no_scores(clip_folder: Path, aesthetic_folder: Path) -> None:
    empty = np.zeros((0, 32, 32, 3), dtype=np.uint8)
    assert HpsV2(HpsV2Settings(weights=str(clip_folder))).score(empty, []).scores == ()
    assert Aesthetic(AestheticSettings(weights=str(aesthetic_folder))).score(empty, []).scores == ()


def test_a_checkpoint_without_its_head_is_refused(aesthetic_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "headless"
    shutil.copytree(aesthetic_folder, folder)
    tensors = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in tensors.items() if not name.startswith("layers.4")}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match=r"reward `aesthetic`.*lacks layers.4"):
        Aesthetic(AestheticSettings(weights=str(folder)))


def test_a_network_with_another_eos_token_than_its_tokenizer_is_refused(clip_folder: Path, tmp_path: Path) -> None:
    """Its text embedding would be the state at the first token, whatever the prompt."""
    shutil.copytree(clip_folder, tmp_path / "clip")
    config = tmp_path / "clip" / "config.json"
    document = json.loads(config.read_text())
    document["text_config"]["eos_token_id"] = 7
    config.write_text(json.dumps(document))
    with pytest.raises(ModelLoadError, match="got 1 and 7"):
        HpsV2(HpsV2Settings(weights=str(tmp_path / "clip")))


def test_pickled_weights_are_refused(aesthetic_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(aesthetic_folder, folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelLoadError, match="safetensors"):
        Aesthetic(AestheticSettings(weights=str(folder)))


@pytest.mark.parametrize("kind", ["clip", "aesthetic", "image_reward"])
def test_in_bf16_towers_are_halved_and_head_and_score_stay_in_fp32(
    clip_folder: Path, aesthetic_folder: Path, image_reward_folder: Path, kind: str
) -> None:
    def score(dtype: ScorerDtype | None) -> tuple[torch.nn.Module, Any]:
        reward: PickScore | Aesthetic | ImageReward
        if kind == "clip":
            folder = str(clip_folder)
            reward = PickScore(PickScoreSettings(weights=folder, processor=folder, dtype=dtype))
            return reward._clip._network, scores(reward)
        if kind == "aesthetic":
            reward = Aesthetic(AestheticSettings(weights=str(aesthetic_folder), dtype=dtype))
        else:
            reward = ImageReward(ImageRewardSettings(weights=str(image_reward_folder), dtype=dtype))
        return reward._network, scores(reward)

    (network, halved), (_, exact), (_, by_default) = (score(dtype) for dtype in ("bf16", "fp32", None))
    assert by_default == exact, "on a CPU"
    assert halved != exact and np.allclose(halved, exact, rtol=0.05, atol=0.05)
    assert next(network.get_submodule("vision_model").parameters()).dtype is torch.bfloat16
    fp32 = {name.split(".")[0] for name, parameter in network.named_parameters() if parameter.dtype is torch.float32}
    assert fp32 == {{"clip": "logit_scale", "aesthetic": "layers", "image_reward": "mlp"}[kind]} | (
        {"logit_scale"} & fp32
    )


def test_the_next_batch_is_prepared_while_the_network_scores_and_a_cancelled_call_ends(
    clip_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = ClipScore(ClipScoreSettings(weights=str(clip_folder), pictures_per_call=2))._clip._batches
    begun = list[int]()
    begin, cancelled = batches._begin, threading.Event()

    def noted(images: NDArray[np.uint8]) -> Any:
        begun.append(len(images))
        return begin(images)

    monkeypatch.setattr(batches, "_begin", noted)
    network = CLIPModel.from_pretrained(clip_folder)

    def passed(rows: slice, pictures: torch.Tensor) -> torch.Tensor:
        assert (rows, len(pictures), begun) == (slice(0, 2), 2, [2, 2])
        cancelled.set()
        return torch.zeros(len(pictures))

    with cancellable(cancelled), pytest.raises(ScoringCancelledError):
        batches.scores(PICTURES, network, passed)
    assert cancelled.is_set()
