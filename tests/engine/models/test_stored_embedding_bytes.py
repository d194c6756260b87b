"""What the check before a start says that embeddings take on a node's disk is what the store writes there."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import run_spec_of
from tests.slow_params import slow_but
from worker.contracts.embedding_room import FILE_ENDING, FOLDER_VARIABLE
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import parse_prompts
from worker.contracts.run_spec import RunSpec
from worker.engine.models.prompt_encoding import run_embeddings
from worker.engine.models.registry import load_model
from worker.fixtures.shapes.caption_encoders import CLIP_NUM_TOKENS, T5_NUM_TOKENS
from worker.scheduling.planning.memory import MemoryRole, lane_memory
from worker.scheduling.planning.stored_embeddings import (
    NUM_ON_DEVICE,
    embedding_bytes,
    known_texts,
    stored_embedding_bytes,
)
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.embedding_profile import HEADER_BYTES
from worker.scheduling.profiles.hardware import CPU_CORE

TEXTS = ("a red square", "a much longer description of a blue circle beside two green triangles, in oil", "赤い四角")
WIDTHS = ("joint_attention_dim", "text_dim", "cap_feat_dim", "text_embed_dim")
PUBLISHED_CLIP_TOKENS = 77
SHAPES = Path(__file__).parents[3] / "deploy" / "models" / "shapes"
LENGTHS = {
    ModelFamily.FLUX2: 64,
    ModelFamily.FLUX2_KLEIN: 64,
    ModelFamily.HUNYUAN_VIDEO: 64,
    # The tiny tokenizer has a token for each byte, of Qwen-Image's long template too: every prompt fills this number.
    ModelFamily.QWEN_IMAGE: 16,
    ModelFamily.Z_IMAGE: 64,
}
"""`sampling.max_sequence_length` by family; `T5_NUM_TOKENS`, which the tokenizer allows, for all others."""
UNPADDED = {ModelFamily.HUNYUAN_VIDEO, ModelFamily.Z_IMAGE}
"""Families that store as many tokens as a prompt has."""


def sizes(spec: RunSpec, path: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of all files that the embeddings of a run with `TEXTS` take."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    run_embeddings(spec, path, parse_prompts(TEXTS), device="cpu")
    return [file.stat().st_size for file in folder.rglob(f"*{FILE_ENDING}")]


def of_checkpoint(spec: RunSpec, path: str) -> Workload:
    """The workload with the widths of the checkpoint at `path` in place of those of the published model."""
    work = Workload.of(spec)
    config = json.loads((Path(path) / "transformer" / "config.json").read_text())
    width = next(config[name] for name in WIDTHS if name in config)
    embedding = replace(work.profile.embedding, width=width, pooled_width=config.get("pooled_projection_dim") or 0)
    num_tokens = work.profile.text_tokens
    if spec.base_model.family is ModelFamily.SD3:
        num_tokens += CLIP_NUM_TOKENS - PUBLISHED_CLIP_TOKENS
    return replace(work, profile=replace(work.profile, embedding=embedding, text_tokens=num_tokens))


@pytest.mark.parametrize("dtype", slow_but(["bf16"], ["fp32", "bf16"]))
@pytest.mark.parametrize("family", ModelFamily)
def test_the_predicted_bytes_are_those_of_the_files_that_are_written(
    checkpoint_of: CheckpointOf, family: ModelFamily, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, length = checkpoint_of(family), LENGTHS.get(family, T5_NUM_TOKENS)
    sampling = {"max_sequence_length": length}
    spec = run_spec_of(family, base_model={"path": path, "dtype": dtype}, sampling=sampling)
    work = of_checkpoint(spec, path)
    texts = known_texts(spec, parse_prompts(TEXTS))
    found = sizes(spec, path, tmp_path, monkeypatch)
    assert len(found) == len(texts)
    each, total = [embedding_bytes(work, text) for text in texts], sum(found)
    assert total <= sum(each) == stored_embedding_bytes(spec, work, parse_prompts(TEXTS))
    if family not in UNPADDED:
        positions = length * work.profile.embedding.position_bytes
        assert total >= sum(each) - len(texts) * (HEADER_BYTES + positions)


def test_a_device_holds_no_more_embeddings_than_the_memory_plan_counts(checkpoint_of: CheckpointOf) -> None:
    path, family = checkpoint_of(ModelFamily.FLUX2), ModelFamily.FLUX2
    base_model = {"path": path, "dtype": "bf16"}
    spec = run_spec_of(family, base_model=base_model, sampling={"max_sequence_length": LENGTHS[family]})
    model = load_model(spec.base_model, path, device="cpu", sampling=spec.sampling)
    for number in range(NUM_ON_DEVICE + 2):
        model.encode_prompt(f"prompt {number}")
    held = [tensor.nbytes for embeds in model._on_device._on_device.values() for tensor in embeds.values()]
    planned = lane_memory(of_checkpoint(spec, path), CPU_CORE, MemoryRole.ROLLOUT).embeddings
    assert planned - NUM_ON_DEVICE * HEADER_BYTES == sum(held)


def test_the_figures_of_the_demos_own_profile_are_what_the_demo_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = run_spec_of(ModelFamily.FLUX, base_model={"family": "flux", "path": str(SHAPES), "dtype": "fp32"})
    work = Workload.of(spec)
    assert work.profile.name == "shapes"
    texts = known_texts(spec, parse_prompts(TEXTS))
    found = sizes(spec, str(SHAPES), tmp_path, monkeypatch)
    expected = stored_embedding_bytes(spec, work, parse_prompts(TEXTS))
    assert expected - len(texts) * HEADER_BYTES <= sum(found) <= expected
