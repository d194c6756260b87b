"""Checkpoints as they are published: in shards, in a variant, without an encoder, with a processor, or unavailable."""

import gc
import json
import shutil
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import DiffusionPipeline, StableDiffusion3Pipeline
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError
from safetensors.torch import load_file, save_file

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import PROMPT, load_family
from worker.contracts.families import FAMILY_TRAITS, size_multiple
from worker.contracts.names import ModelFamily
from worker.contracts.sections import BaseModelSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models import pipeline_loading
from worker.engine.models.pipeline_loading import TEXT_ONLY, Part
from worker.engine.models.registry import load_model
from worker.engine.models.stored_tensors import stored_files

SD3 = ModelFamily.SD3
WEIGHTS = "diffusion_pytorch_model.safetensors"
ONLY_TRANSFORMER = frozenset({Part.TRANSFORMER})


def equal_weights(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    first, second = one.state_dict(), other.state_dict()
    return set(first) == set(second) and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("layout", [{"max_shard_size": "20KB"}, {"variant": "fp16"}], ids=["shards", "a variant alone"])
def test_weights_are_found_in(checkpoint_of: CheckpointOf, tmp_path: Path, layout: dict[str, Any]) -> None:
    pipeline = DiffusionPipeline.from_pretrained(checkpoint_of(SD3))
    pipeline.save_pretrained(tmp_path, **layout)
    assert not (tmp_path / "transformer" / WEIGHTS).exists()
    model = load_family(SD3, str(tmp_path), parts=ONLY_TRANSFORMER)
    assert equal_weights(model.transformer, pipeline.transformer)


def test_a_variant_beside_the_plain_weights_is_left_alone(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    pipeline = DiffusionPipeline.from_pretrained(checkpoint_of(SD3))
    pipeline.save_pretrained(tmp_path)
    for parameter in pipeline.transformer.parameters():
        parameter.data.zero_()
    pipeline.transformer.save_pretrained(tmp_path / "transformer", variant="fp16")
    model = load_family(SD3, str(tmp_path), parts=ONLY_TRANSFORMER)
    assert any(bool(parameter.any()) for parameter in model.transformer.parameters())


def test_weights_that_are_sharded_over_ranks_come_from_the_plain_files_too(
    checkpoint_of: CheckpointOf, tmp_path: Path
) -> None:
    pipeline = DiffusionPipeline.from_pretrained(checkpoint_of(SD3))
    for variant in (None, "fp16"):
        pipeline.transformer.save_pretrained(tmp_path, variant=variant)
    assert {file.name for file in stored_files(tmp_path).values()} == {WEIGHTS}


def test_sd3_works_without_t5(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    pipeline = StableDiffusion3Pipeline.from_pretrained(checkpoint_of(SD3), text_encoder_3=None, tokenizer_3=None)
    pipeline.save_pretrained(tmp_path)
    embeds = load_family(SD3, str(tmp_path), parts=TEXT_ONLY).encode_prompt(PROMPT)["embeds"]
    theirs, *_ = pipeline.encode_prompt(PROMPT, None, None, do_classifier_free_guidance=False)
    assert torch.equal(embeds, theirs)


def test_of_a_processor_that_needs_torchvision_the_tokenizer_is_used(
    checkpoint_of: CheckpointOf, tmp_path: Path
) -> None:
    """FLUX.2 dev names Pixtral's processor as its tokenizer."""
    path = Path(shutil.copytree(checkpoint_of(ModelFamily.FLUX2), tmp_path / "dev"))
    expected = load_family(ModelFamily.FLUX2, str(path), parts=TEXT_ONLY).encode_prompt(PROMPT)
    index = json.loads((path / "model_index.json").read_text())
    index["tokenizer"] = ["transformers", "PixtralProcessor"]
    (path / "model_index.json").write_text(json.dumps(index))
    embeds = load_family(ModelFamily.FLUX2, str(path), parts=TEXT_ONLY).encode_prompt(PROMPT)
    assert torch.equal(embeds["embeds"], expected["embeds"])


def test_a_weight_that_the_files_lack_is_named(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    path = Path(shutil.copytree(checkpoint_of(SD3), tmp_path / "incomplete"))
    file = path / "transformer" / WEIGHTS
    tensors = load_file(file)
    del tensors["norm_out.linear.weight"]
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match=r"every weight of its transformer, got .* without norm_out.linear.weight"):
        load_family(SD3, str(path))


def test_a_part_that_is_missing_is_named(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    path = Path(shutil.copytree(checkpoint_of(SD3), tmp_path / "incomplete"))
    (path / "transformer" / WEIGHTS).unlink()
    with pytest.raises(ModelLoadError, match=r"download it again .*diffusion_pytorch_model.safetensors .*transformer"):
        load_family(SD3, str(path))


@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        (GatedRepoError, r"is gated: accept its terms at https://huggingface.co/org/name.* HF_TOKEN"),
        (RepositoryNotFoundError, r"knows no such repository"),
        (LocalEntryNotFoundError, r"cannot be reached .* run `hf download org/name` there"),
    ],
)
def test_the_error_for_an_unavailable_hub_model_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, cause: type[Exception], advice: str
) -> None:
    def refuse(_: str) -> None:
        try:
            raise cause.__new__(cause)
        except cause:
            # As in diffusers: an error of its own, with the hub's as its context.
            raise OSError("is not a local folder and is not a valid model identifier")  # noqa: B904

    monkeypatch.setattr(StableDiffusion3Pipeline, "load_config", refuse)
    with pytest.raises(ModelLoadError, match=advice):
        load_family(SD3, "org/name")


@pytest.mark.parametrize("family", FAMILY_TRAITS)
def test_text_encoders_are_gone_once_prompts_are_encoded(
    monkeypatch: pytest.MonkeyPatch, checkpoint_of: CheckpointOf, family: ModelFamily
) -> None:
    encoders: list[weakref.ref[torch.nn.Module]] = []
    load = pipeline_loading.load_pipeline

    def recording(*args: Any, **arguments: Any) -> Any:
        pipeline = load(*args, **arguments)
        encoders.extend(weakref.ref(part) for name, part in pipeline.components.items() if "text_encoder" in name)
        return pipeline

    monkeypatch.setattr(pipeline_loading, "load_pipeline", recording)
    # Without garbage collection: reference cycles would keep the encoders on the device until one happens to run.
    monkeypatch.setattr(gc, "collect", lambda: 0)
    gc.disable()
    try:
        model = load_model(BaseModelSpec(family=family), checkpoint_of(family), parts=TEXT_ONLY)
        model.encode_prompts([PROMPT])
        model.drop_text_encoders()
        del model
        alive = [encoder() for encoder in encoders if encoder() is not None]
    finally:
        gc.enable()
    assert encoders and not alive


@pytest.mark.parametrize("family", FAMILY_TRAITS)
def test_sizes_that_the_web_refuses_are_those_that_the_adapter_refuses(
    checkpoint_of: CheckpointOf, family: ModelFamily
) -> None:
    path = Path(checkpoint_of(family))
    transformer, vae = (json.loads((path / part / "config.json").read_text()) for part in ("transformer", "vae"))
    multiple = size_multiple(family, transformer=transformer, vae=vae)
    model = load_family(family, str(path), parts=frozenset())
    model.latent_shape(multiple * 2, multiple * 3)
    with pytest.raises(ModelLoadError, match=rf"`sampling.width` must be a multiple of {multiple} "):
        model.latent_shape(multiple * 2, multiple * 3 + multiple // 2)
