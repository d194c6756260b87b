"""A reward network whose device has not enough memory scores the same pictures in smaller calls."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.reward.networks.test_network_scorers import PICTURES, PROMPTS, TOLERANCE, scores
from tests.engine.small_device import MESSAGE, no_memory_for
from worker.contracts.prompts import parse_prompts
from worker.contracts.rewards import AestheticSettings, ImageRewardSettings, PickScoreSettings, RewardSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.devices import smaller_calls
from worker.engine.errors import DeviceMemoryError
from worker.engine.reward.aesthetic import Aesthetic
from worker.engine.reward.image_reward import ImageReward
from worker.engine.reward.pick_score import PickScore
from worker.engine.reward.reward_caller import RewardCaller
from worker.engine.reward.scored_run import ScoredRun
from worker.engine.shortage_notes import take_shortages

CARD_BYTES = 80e9
QWEN_IMAGE = {"path": "Qwen/Qwen-Image", "family": "qwen_image", "dtype": "bf16"}


@pytest.fixture(params=["pick_score", "aesthetic", "image_reward"])
def reward(request: pytest.FixtureRequest, clip_folder: Path, aesthetic_folder: Path, image_reward_folder: Path) -> Any:
    take_shortages()
    match request.param:
        case "pick_score":
            return PickScore(PickScoreSettings(weights=str(clip_folder), processor=str(clip_folder)))
        case "aesthetic":
            return Aesthetic(AestheticSettings(weights=str(aesthetic_folder)))
        case _:
            return ImageReward(ImageRewardSettings(weights=str(image_reward_folder)))


def picture_tower(reward: Any) -> torch.nn.Module:
    network = reward._clip._network if isinstance(reward, PickScore) else reward._network
    embeddings: torch.nn.Module = network.vision_model.embeddings.patch_embedding
    return embeddings


def test_pictures_pass_in_parts_until_they_fit_with_the_scores_of_whole_batches(reward: Any) -> None:
    expected = scores(reward)
    with no_memory_for(picture_tower(reward), more_than=2) as rows:
        found = scores(reward)
        again = scores(reward)
    np.testing.assert_allclose(found, expected, atol=TOLERANCE)
    np.testing.assert_allclose(again, expected, atol=TOLERANCE)
    assert rows == [5, 1, 2, 2, 1, 2, 2], "the size that fits is kept"
    (told,) = take_shortages()
    assert told.sentence == (
        f"had no memory to pass 5 pictures through the network of reward `{reward.name}` (it asked for 2.5 GiB more): "
        "in calls of 2 from now on."
    )


def test_a_single_picture_that_does_not_fit_fails_with_what_to_change(reward: Any) -> None:
    with (
        no_memory_for(picture_tower(reward), more_than=0),
        pytest.raises(
            DeviceMemoryError, match=r"by 2\.5 GiB .* 1 pictures .*: lower `pictures_per_call` .*rewards_on`"
        ),
    ):
        scores(reward)


def test_a_watched_reward_without_memory_ends_no_run(aesthetic_folder: Path) -> None:
    settings = {"weights": str(aesthetic_folder)}
    spec = RewardSpec.model_validate({"name": "aesthetic", "settings": settings, "watched": True})
    reward = Aesthetic(AestheticSettings(weights=str(aesthetic_folder)))
    with no_memory_for(picture_tower(reward), more_than=0):
        outcome = RewardCaller(spec, reward).score(PICTURES, parse_prompts(PROMPTS))
    assert all(error is not None and "ran out of memory" in error for error in outcome.result.errors)


@pytest.mark.parametrize(
    ("lanes", "parts"),
    [
        (
            {"rewards_on": "own_gpu"},
            r"The plan counts 7\.\d GiB of 74\.5 GiB: reserve [\d.]+ GiB, scorers [\d.]+ GiB\.",
        ),
        # The card is full of what the lane holds that generates on it.
        ({"rewards_on": "shared_gpu"}, r"of 74\.5 GiB: weights 3\d\.\d GiB, .*scorers"),
    ],
    ids=["own card", "shared card"],
)
def test_the_plans_figures_are_those_of_the_card(
    aesthetic_folder: Path,
    make_spec: Callable[..., RunSpec],
    monkeypatch: pytest.MonkeyPatch,
    lanes: dict[str, Any],
    parts: str,
) -> None:
    monkeypatch.setattr(smaller_calls, "_capacity_bytes", lambda: CARD_BYTES)
    settings = {"weights": str(aesthetic_folder)}
    run = make_spec(base_model=QWEN_IMAGE, rewards=[{"name": "aesthetic", "settings": settings}], lanes=lanes)
    reward = Aesthetic(AestheticSettings(weights=str(aesthetic_folder)), ScoredRun(run))
    with no_memory_for(picture_tower(reward), more_than=0), pytest.raises(DeviceMemoryError, match=parts):
        scores(reward)


def test_a_deterministic_run_keeps_the_size_of_its_batches(
    aesthetic_folder: Path, make_spec: Callable[..., RunSpec]
) -> None:
    run = ScoredRun(make_spec(pipeline={"deterministic": True}))
    reward = Aesthetic(AestheticSettings(weights=str(aesthetic_folder)), run)
    with (
        no_memory_for(picture_tower(reward), more_than=2),
        pytest.raises(DeviceMemoryError, match=r"5 pictures .*\(a deterministic run keeps the size of its calls\)"),
    ):
        scores(reward)


def test_a_network_that_its_device_cannot_hold_is_told_of(
    aesthetic_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError(MESSAGE)

    monkeypatch.setattr("worker.engine.reward.aesthetic.AestheticNetwork.to", full)
    with pytest.raises(DeviceMemoryError, match=r"hold the network of reward `aesthetic`: have rewards computed else"):
        Aesthetic(AestheticSettings(weights=str(aesthetic_folder)))
