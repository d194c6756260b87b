"""Prompts are encoded up front: no lane keeps text encoders beside its policy, nor an autoencoder that it never
uses."""

import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import run_spec_of
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import parse_prompts
from worker.engine.errors import ModelLoadError
from worker.engine.models import prompt_encoding
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embeddings import prompt_key
from worker.engine.models.pipeline_loading import has_text_encoders, is_skeleton
from worker.engine.models.prompt_encoding import run_embeddings
from worker.engine.models.registry import check_drawable
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.rank import TrainerRank

FAMILY = ModelFamily.SD3


def spec(**sections: Any) -> Any:
    return run_spec_of(FAMILY, evaluation={"prompts": ("a green triangle",)}, **sections)


@pytest.fixture(scope="module")
def embeddings(checkpoint_of: CheckpointOf) -> dict[str, Any]:
    found = run_embeddings(spec(), checkpoint_of(FAMILY), parse_prompts(("a red square",)))
    assert found is not None
    return found


def loaded_parts(model: ModelAdapter) -> tuple[bool, bool]:
    """Whether `model` has text encoders, and whether it has an autoencoder."""
    return has_text_encoders(model._pipeline), not is_skeleton(model._pipeline.vae)


def test_prompts_of_training_and_evaluation_and_the_negative_one_are_encoded(embeddings: dict[str, Any]) -> None:
    assert set(embeddings) == {prompt_key(text) for text in ("a red square", "a green triangle", "")}
    assert all(tensor.device == torch.device("cpu") for embeds in embeddings.values() for tensor in embeds.values())


def test_a_prompts_own_negative_prompt_is_encoded_too(checkpoint_of: CheckpointOf) -> None:
    prompts = parse_prompts(["a red square", {"text": "a blue circle", "negative": "blurred"}])
    found = run_embeddings(spec(), checkpoint_of(FAMILY), prompts)
    assert found is not None
    assert set(found) == {
        prompt_key(text) for text in ("a red square", "a blue circle", "blurred", "a green triangle", "")
    }


def test_a_large_set_is_left_to_the_lanes(monkeypatch: pytest.MonkeyPatch, checkpoint_of: CheckpointOf) -> None:
    monkeypatch.setattr(prompt_encoding, "MAX_PROMPTS_UP_FRONT", 3)
    monkeypatch.setattr(prompt_encoding, "encode_prompts", lambda *_, **__: pytest.fail("encoded up front"))
    assert run_embeddings(spec(), checkpoint_of(FAMILY), parse_prompts(("one", "two"))) is None


@pytest.mark.parametrize(
    ("family", "sampling", "message"),
    [
        (FAMILY, {"width": 40, "height": 48}, None),
        (ModelFamily.FLUX, {"guidance_scale": 3.5}, None),
        (ModelFamily.WAN22, {"guidance_scale": 3.5, "guidance_scale_2": 3.0}, None),
        (ModelFamily.WAN, {"width": 40}, r"`sampling.width` must be a multiple of 16 .* got 40: take 32 or 48"),
    ],
)
def test_what_a_checkpoint_cannot_draw_ends_a_run_before_weights_are_read(
    checkpoint_of: CheckpointOf, tmp_path: Path, family: ModelFamily, sampling: dict[str, Any], message: str | None
) -> None:
    path = shutil.copytree(checkpoint_of(family), tmp_path / "without weights")
    for weights in path.rglob("*.safetensors"):
        weights.unlink()
    asked = run_spec_of(family, sampling=sampling)
    with pytest.raises(ModelLoadError, match=message) if message else nullcontext():
        check_drawable(asked.base_model, asked.sampling, str(path))


def test_a_rollout_lane_drops_the_encoders_and_a_trainer_that_only_trains_the_autoencoder_too(
    process_group: None, checkpoint_of: CheckpointOf, embeddings: dict[str, Any]
) -> None:
    path = checkpoint_of(FAMILY)
    assert loaded_parts(Sampler.load(spec(), path, embeddings=embeddings)._model) == (False, True)
    assert loaded_parts(TrainerRank(spec(), path, 0, 1, embeddings=embeddings)._model) == (False, False)


def test_a_trainer_that_is_lent_keeps_the_autoencoder(
    process_group: None, checkpoint_of: CheckpointOf, embeddings: dict[str, Any]
) -> None:
    lent = TrainerRank(spec(pipeline={"tag": "greedy"}), checkpoint_of(FAMILY), 0, 1, embeddings=embeddings)
    assert loaded_parts(lent._model) == (False, True)
