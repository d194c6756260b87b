"""Prompts are encoded up front: no lane keeps text encoders beside its policy, nor an autoencoder that it never
uses."""

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import run_spec_of
from worker.contracts.embedding_room import FOLDER_VARIABLE
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import parse_prompts
from worker.engine.errors import ModelLoadError
from worker.engine.models import encoder_identity, pipeline_loading, prompt_encoding
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embedding_files import ALIGNMENT
from worker.engine.models.pipeline_loading import TEXT_ONLY, has_text_encoders, is_skeleton
from worker.engine.models.prompt_encoding import StoredEmbeddings, run_embeddings, stored_embeddings
from worker.engine.models.registry import MODEL_ADAPTERS, check_drawable, load_model
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.packing import pack
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GenerationRequest
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose
from worker.scheduling.planning.stored_embeddings import PROMPTS_PER_CLAIM, known_texts

FAMILY = ModelFamily.SD3


def spec(**sections: Any) -> Any:
    return run_spec_of(FAMILY, evaluation={"prompts": ("a green triangle",)}, **sections)


@pytest.fixture(autouse=True)
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "embeddings"))
    return tmp_path / "embeddings"


@pytest.fixture
def embeddings(checkpoint_of: CheckpointOf) -> StoredEmbeddings:
    return run_embeddings(spec(), checkpoint_of(FAMILY), parse_prompts(("a red square",)))


def stored(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/??/*.safetensors"))


def loaded_parts(model: ModelAdapter) -> tuple[bool, bool]:
    """Whether `model` has text encoders, and whether it has an autoencoder."""
    return has_text_encoders(model._pipeline), not is_skeleton(model._pipeline.vae)


@pytest.mark.parametrize("family", ModelFamily)
def test_the_prompt_length_in_the_contracts_is_the_default_of_the_familys_pipeline(family: ModelFamily) -> None:
    parameters = signature(MODEL_ADAPTERS[family].pipeline_class.__call__).parameters
    assert parameters["max_sequence_length"].default == FAMILY_TRAITS[family].sequence_length.default


def test_prompts_of_training_and_evaluation_and_negative_ones_are_encoded() -> None:
    prompts = parse_prompts(["a red square", {"text": "a blue circle", "negative": "blurred"}])
    assert set(known_texts(spec(), prompts)) == {"a red square", "a blue circle", "a green triangle", "blurred", ""}


def test_what_is_read_from_the_disk_is_bitwise_what_the_pipeline_encodes(
    embeddings: StoredEmbeddings, checkpoint_of: CheckpointOf
) -> None:
    model = load_model(spec().base_model, checkpoint_of(FAMILY), parts=TEXT_ONLY)
    for text in ("a red square", "a green triangle", ""):
        found, expected = embeddings.find(text), model.encode_prompt(text)
        assert found is not None and found.keys() == expected.keys()
        assert all(torch.equal(found[name], expected[name]) for name in found)
        # As torch aligns what it allocates, so that no kernel adds up in another order.
        assert all(tensor.data_ptr() % ALIGNMENT == 0 for tensor in found.values())


def test_a_second_lane_and_a_later_run_load_no_text_encoder(
    embeddings: StoredEmbeddings, checkpoint_of: CheckpointOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_encoding, "load_model", lambda *_, **__: pytest.fail("loaded text encoders"))
    again = run_embeddings(spec(seed=5), checkpoint_of(FAMILY), parse_prompts(("a green triangle",)))
    assert again.find("a red square") is not None


@pytest.mark.parametrize(
    "changes", [{"base_model": {"dtype": "bf16"}}, {"sampling": {"max_sequence_length": 4}}], ids=["dtype", "length"]
)
def test_other_precision_and_other_prompt_length_are_other_embeddings(
    embeddings: StoredEmbeddings, checkpoint_of: CheckpointOf, changes: dict[str, Any]
) -> None:
    other = run_embeddings(spec(**changes), checkpoint_of(FAMILY), parse_prompts(("a red square",)))
    mine, others = (each.find("a red square") for each in (embeddings, other))
    assert mine is not None and others is not None
    assert mine["embeds"].dtype != others["embeds"].dtype or mine["embeds"].shape != others["embeds"].shape


def test_a_checkpoint_that_was_changed_in_place_is_encoded_anew(
    embeddings: StoredEmbeddings, checkpoint_of: CheckpointOf, tmp_path: Path
) -> None:
    path = shutil.copytree(checkpoint_of(FAMILY), tmp_path / "other")
    assert stored_embeddings(spec(), str(path)).find("a red square") is None
    first = run_embeddings(spec(), str(path), parse_prompts(("a red square",))).find("a red square")
    weights = next((path / "text_encoder_3").glob("*.safetensors"))
    save_file({name: 2 * tensor for name, tensor in load_file(weights).items()}, weights, metadata={"format": "pt"})
    second = run_embeddings(spec(), str(path), parse_prompts(("a red square",))).find("a red square")
    assert first is not None and second is not None
    assert not torch.equal(first["embeds"], second["embeds"])


class CountedEncoder:
    """Text encoders that note what they encode; the real ones cannot be loaded by several threads at once."""

    def __init__(self, encoded: list[str], embeddings: StoredEmbeddings) -> None:
        self._encoded, self._embeddings = encoded, embeddings

    def encode_prompts(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._encoded.append(text)
            self._embeddings.keep(text, {"embeds": torch.zeros(1, 2)})

    def drop_text_encoders(self) -> None:
        pass


def test_lanes_of_a_node_share_the_prompts_and_encode_each_once(
    checkpoint_of: CheckpointOf, own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded = list[str]()
    monkeypatch.setattr(prompt_encoding, "load_model", lambda *_, embeddings, **__: CountedEncoder(encoded, embeddings))
    prompts = parse_prompts([f"prompt {number}" for number in range(3 * PROMPTS_PER_CLAIM)])
    with ThreadPoolExecutor(4) as lanes:
        found = list(lanes.map(lambda _: run_embeddings(spec(), checkpoint_of(FAMILY), prompts), range(4)))
    assert sorted(encoded) == sorted(known_texts(spec(), prompts)) and len(stored(own_store)) == len(encoded)
    assert all(each.find("prompt 7") is not None for each in found)


def test_prompts_are_encoded_on_the_cpu_where_the_encoders_do_not_fit_on_the_device(
    checkpoint_of: CheckpointOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cpu = run_embeddings(spec(), checkpoint_of(FAMILY), parse_prompts(("a red square",)))
    devices = list[torch.device]()

    def small_device(*args: Any, device: torch.device, **rest: Any) -> Any:
        devices.append(device)
        if device.type != "cpu":
            raise torch.OutOfMemoryError("tried to allocate 9.5 GiB")
        return load_model(*args, device=device, **rest)

    monkeypatch.setattr(prompt_encoding, "load_model", small_device)
    monkeypatch.setattr(encoder_identity, "device_kind", lambda device: str(device))
    prompts = parse_prompts(("a red square", "a blue circle"))
    found = run_embeddings(spec(), checkpoint_of(FAMILY), prompts, device="meta").find("a blue circle")
    assert [device.type for device in devices] == ["meta", "cpu"] and found is not None
    assert on_cpu.find("a blue circle") is not None


def test_prompts_that_come_later_are_encoded_on_the_cpu_and_kept_for_all_lanes(
    embeddings: StoredEmbeddings, checkpoint_of: CheckpointOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, devices = checkpoint_of(FAMILY), list[torch.device]()
    sampler = Sampler.load(spec(), path, embeddings=embeddings)
    load_pipeline = pipeline_loading.load_pipeline

    def recording(*args: Any, device: torch.device, **rest: Any) -> Any:
        devices.append(device)
        return load_pipeline(*args, device=device, **rest)

    monkeypatch.setattr(pipeline_loading, "load_pipeline", recording)
    sampler._model.encode_prompts(["something else", "and another"])
    assert devices == [torch.device("cpu")] and not has_text_encoders(sampler._model._pipeline)
    assert stored_embeddings(spec(), path).find("and another") is not None


def test_prompts_that_come_to_a_lane_together_load_the_text_encoders_once(
    embeddings: StoredEmbeddings, checkpoint_of: CheckpointOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, guided = checkpoint_of(FAMILY), spec(sampling={"guidance_scale": 4.0})
    sampler, trainer = (Sampler.load(guided, path, embeddings=embeddings) for _ in range(2))
    sampler.pull(pack(sampler._model.trainable, 0))
    loads = list[torch.device]()
    load_pipeline = pipeline_loading.load_pipeline

    def counted(*args: Any, device: torch.device, **rest: Any) -> Any:
        loads.append(device)
        return load_pipeline(*args, device=device, **rest)

    monkeypatch.setattr(pipeline_loading, "load_pipeline", counted)
    prompts = parse_prompts([{"text": "a new one", "negative": "blurred"}, {"text": "another", "negative": "dark"}])
    fragments = [Fragment(FragmentKey(Purpose.REQUEST, 0, group, 0), (0, 1), 0) for group in range(len(prompts))]
    made = sampler.generate_all(
        [
            GenerationRequest(fragment=fragment, prompt=prompt, run_seed=3, prompt_index=index)
            for index, (fragment, prompt) in enumerate(zip(fragments, prompts, strict=True))
        ]
    )
    assert len(made) == len(prompts) and loads == [torch.device("cpu")]
    # A prompt and its negative one, for whoever asks for one prompt alone.
    (late,) = parse_prompts([{"text": "a third", "negative": "pale"}])
    trainer._model.conditioning(late, guided.sampling)
    assert len(loads) == 2


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
    process_group: None, checkpoint_of: CheckpointOf, embeddings: StoredEmbeddings
) -> None:
    path = checkpoint_of(FAMILY)
    assert loaded_parts(Sampler.load(spec(), path, embeddings=embeddings)._model) == (False, True)
    assert loaded_parts(TrainerRank(spec(), path, 0, 1, embeddings=embeddings)._model) == (False, False)


def test_a_trainer_that_is_lent_keeps_the_autoencoder(
    process_group: None, checkpoint_of: CheckpointOf, embeddings: StoredEmbeddings
) -> None:
    lent = TrainerRank(spec(pipeline={"tag": "greedy"}), checkpoint_of(FAMILY), 0, 1, embeddings=embeddings)
    assert loaded_parts(lent._model) == (False, True)
