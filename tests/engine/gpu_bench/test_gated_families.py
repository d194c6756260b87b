"""The replay gate is measured for every model family, on models of published shape that this code can load."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench.gpu.bench_models import drawn_groups, loaded_model, profile_here, release_model
from tests.bench.gpu.bench_shapes import FULL, TINY, BenchModel, SampleSize, Shapes
from tests.bench.gpu.resident_models import configured_folder, transformer_names
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages import gate_statistics
from tests.bench.gpu.stages.gate_statistics import gate_row, gate_spec, replayed
from tests.engine.gpu_bench.conftest import RunStages
from tests.slow_params import slow_but
from worker.contracts.names import ModelFamily, SdeType
from worker.contracts.sections import BaseModelSpec
from worker.engine.models.pipeline_loading import _skeleton
from worker.fixtures.tiny_models.tiny_pipelines import build_tiny_checkpoint
from worker.scheduling.profiles.known_models import has_profile, profile_of

FOUR_BLOCKS = (*FULL.others, *FULL.only_gate)
ONE_HEAD: Mapping[ModelFamily, Mapping[str, int]] = {
    ModelFamily.FLUX2: {"num_attention_heads": 1, "joint_attention_dim": 96},
    ModelFamily.FLUX2_KLEIN: {"num_attention_heads": 1, "joint_attention_dim": 96},
    ModelFamily.Z_IMAGE: {"dim": 128, "n_heads": 1, "n_kv_heads": 1, "cap_feat_dim": 96},
    ModelFamily.WAN22: {"num_attention_heads": 1, "ffn_dim": 128, "text_dim": 96},
}
"""What makes a published configuration narrow enough for a CPU."""


@pytest.mark.parametrize("shapes", [FULL, TINY], ids=lambda shapes: shapes.name)
def test_every_family_is_measured_once(shapes: Shapes) -> None:
    families = [model.family for model in (shapes.main, *shapes.others, *shapes.only_gate)]
    assert sorted(families) == sorted(ModelFamily)


@pytest.mark.parametrize("model", slow_but(FULL.others, FOUR_BLOCKS), ids=lambda model: model.family.value)
def test_four_blocks_of_a_published_model_are_built_at_its_width(model: BenchModel, tmp_path: Path) -> None:
    """On the meta device: no weight has memory."""
    base_model = BaseModelSpec(path=model.hub_id, family=model.family)
    assert has_profile(base_model)
    published = profile_of(base_model)
    folder = configured_folder(build_tiny_checkpoint(model.family, tmp_path), tmp_path / "full", model.configs)
    transformers = {name: _built(folder, name) for name in transformer_names(folder)}
    assert len(transformers) == published.num_experts
    here = profile_here(published, transformers)
    assert (here.num_layers, here.width) == (4, published.width)
    # Beside the blocks there are embeddings, modulation and the last layer.
    assert 0.9 < here.parameters / (published.parameters * 4 / published.num_layers) < 2.5
    assert _built(folder, "vae").config.keys() >= model.configs["vae"].keys()


def _built(folder: Path, component: str) -> Any:
    class_name = json.loads((folder / "model_index.json").read_text())[component][1]
    return _skeleton(str(folder), component, class_name)


@pytest.mark.parametrize("model", slow_but(FULL.only_gate[-1:], FULL.only_gate), ids=lambda model: model.family.value)
def test_a_narrow_model_of_published_configuration_is_drawn_from_and_replayed(
    bench: GpuBench, process_group: None, model: BenchModel
) -> None:
    narrow = {
        name: {**config, **ONE_HEAD[model.family]} if name.startswith("transformer") else config
        for name, config in model.configs.items()
    }
    size = SampleSize(height=32, width=32, num_frames=min(5, model.sizes[0].num_frames))
    loaded = loaded_model(bench, replace(model, configs=narrow, sizes=(size,), dtype="fp32"))
    spec = gate_spec(loaded, SdeType.FLOW, at_once=1)
    row = gate_row(loaded, spec, replayed(loaded, spec, *drawn_groups(bench, loaded, spec)))
    assert row["maximum"] < row["bound_of_maximum"] and row["layers"] == 4


def test_what_only_the_gate_measures_is_not_kept_for_later_stages(
    bench: GpuBench, run_quickly: RunStages, process_group: None
) -> None:
    bench.shapes = replace(bench.shapes, others=(), only_gate=TINY.only_gate[-1:])
    rows = run_quickly({"gate": gate_statistics.run}).rows("gate")
    assert {row["family"] for row in rows} == {ModelFamily.FLUX, ModelFamily.WAN22}
    assert all(key.startswith(bench.shapes.main.hub_id) for key in bench.kept)


def test_a_model_is_dropped_without_one_whose_name_begins_like_its_own(bench: GpuBench, process_group: None) -> None:
    dev, klein, *_ = TINY.only_gate
    for model in (dev, klein):
        loaded = loaded_model(bench, model)
        drawn_groups(bench, loaded, gate_spec(loaded, SdeType.FLOW, at_once=1))
    release_model(bench, dev)
    assert len(bench.kept) == 3 and all(key.startswith(klein.hub_id) for key in bench.kept)
