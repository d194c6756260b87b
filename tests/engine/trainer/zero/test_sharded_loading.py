"""Weights that are sharded while they are read are those that diffusers reads; other models' files are refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from diffusers import FluxTransformer2DModel, WanTransformer3DModel
from safetensors.torch import load_file, save_file

from tests.engine.hub_cache import cached_on_hub
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.sharded_parameters import gathered
from worker.engine.trainer.zero.deepspeed_config import deepspeed_config
from worker.engine.trainer.zero.sharded_loading import load_sharded

WEIGHTS = "transformer/diffusion_pytorch_model.safetensors"


@pytest.fixture
def load(make_spec: Callable[..., RunSpec], process_group: None) -> Callable[..., torch.nn.Module]:
    def made(path: str | Path, dtype: torch.dtype = torch.float32, *, on_cpu: bool = False) -> torch.nn.Module:
        config = deepspeed_config(make_spec(deepspeed={"config": "zero3"}), 0)
        (model,) = load_sharded(str(path), dtype, config, on_cpu=on_cpu).values()
        return model

    return made


@pytest.fixture(scope="module")
def wan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transformer with weights that stay in fp32 and tables computed in float64, stored in shards with an index."""
    folder = tmp_path_factory.mktemp("wan")
    torch.manual_seed(0)
    model = WanTransformer3DModel(
        num_attention_heads=2,
        attention_head_dim=12,
        in_channels=4,
        out_channels=4,
        text_dim=8,
        freq_dim=16,
        ffn_dim=32,
        num_layers=1,
    )
    model.save_pretrained(folder / "transformer", max_shard_size="20KB")
    (folder / "model_index.json").write_text(json.dumps({"transformer": ["diffusers", "WanTransformer3DModel"]}))
    return folder


def assert_same_model(sharded: torch.nn.Module, full: torch.nn.Module) -> None:
    with gathered(sharded.parameters()):
        for (name, found), (_, expected) in zip(sharded.named_parameters(), full.named_parameters(), strict=True):
            assert found.dtype is expected.dtype, name
            assert torch.equal(found.data, expected.data), name
    for (name, found), (_, expected) in zip(sharded.named_buffers(), full.named_buffers(), strict=True):
        assert found.dtype is expected.dtype and torch.equal(found, expected), name


@pytest.mark.parametrize("on_cpu", [False, True])
def test_the_weights_are_those_that_diffusers_reads(
    load: Callable[..., torch.nn.Module], tiny_checkpoint: str, on_cpu: bool
) -> None:
    sharded = load(tiny_checkpoint, on_cpu=on_cpu)
    assert_same_model(sharded, FluxTransformer2DModel.from_pretrained(tiny_checkpoint, subfolder="transformer"))
    assert not any(parameter.requires_grad for parameter in sharded.parameters())


def test_weights_kept_in_fp32_and_tables_keep_their_precision(load: Callable[..., torch.nn.Module], wan: Path) -> None:
    sharded = load(wan, torch.bfloat16)
    full = WanTransformer3DModel.from_pretrained(wan / "transformer", torch_dtype=torch.bfloat16)
    assert {parameter.dtype for parameter in full.parameters()} == {torch.bfloat16, torch.float32}
    assert_same_model(sharded, full)


def test_a_hub_id_is_read_from_the_cache_of_the_node(
    load: Callable[..., torch.nn.Module], wan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharded = load(cached_on_hub(wan, tmp_path, monkeypatch))
    assert_same_model(sharded, WanTransformer3DModel.from_pretrained(wan / "transformer"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop("proj_out.weight"), r"missing are proj_out\.weight"),
        (lambda tensors: tensors.update(extra=torch.zeros(1)), "does not have: extra"),
        (
            lambda tensors: tensors.update({"proj_out.bias": torch.zeros(3)}),
            r"`proj_out\.bias` must have shape \(16,\)",
        ),
    ],
)
def test_a_checkpoint_of_another_model_is_refused(
    load: Callable[..., torch.nn.Module],
    tiny_checkpoint: str,
    tmp_path: Path,
    change: Callable[[dict[str, torch.Tensor]], object],
    message: str,
) -> None:
    (tmp_path / "transformer").mkdir()
    for name in ("model_index.json", "transformer/config.json"):
        (tmp_path / name).write_text((Path(tiny_checkpoint) / name).read_text())
    tensors = load_file(Path(tiny_checkpoint) / WEIGHTS)
    change(tensors)
    save_file(tensors, tmp_path / WEIGHTS)
    with pytest.raises(ModelLoadError, match=message):
        load(tmp_path)
