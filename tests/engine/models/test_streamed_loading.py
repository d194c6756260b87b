"""A transformer is streamed to its device, bit for bit as diffusers loads it, one tensor in host memory at a time."""

import json
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import diffusers
import pytest
import torch
from safetensors import safe_open

from tests.engine.hub_cache import cached_on_hub
from tests.engine.models.conftest import CheckpointOf
from worker.contracts.names import ModelFamily
from worker.engine.errors import ModelLoadError
from worker.engine.models.pipeline_loading import Part, load_pipeline
from worker.engine.models.streamed_loading import load_streamed

QUICK = (ModelFamily.WAN, ModelFamily.SD3)
"""Wan keeps layers in fp32, SD3 stores a buffer."""


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=["bf16", "fp32"])
@pytest.mark.parametrize(
    "family",
    [pytest.param(each, marks=[] if each in QUICK else [pytest.mark.slow]) for each in ModelFamily],
)
def test_a_streamed_transformer_is_bitwise_the_one_that_diffusers_loads(
    family: ModelFamily, dtype: torch.dtype, checkpoint_of: CheckpointOf, tmp_path: Path
) -> None:
    folder = Path(checkpoint_of(family))
    class_name = json.loads((folder / "model_index.json").read_text())["transformer"][1]
    model_class = getattr(diffusers, class_name)
    # In several files, as published checkpoints are.
    model_class.from_pretrained(folder / "transformer").save_pretrained(tmp_path, max_shard_size="100KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    expected = model_class.from_pretrained(str(tmp_path), torch_dtype=dtype)
    found = load_streamed(tmp_path, model_class, device=torch.device("cpu"), dtype=dtype)
    assert found.config == expected.config and not found.training
    for kind in ("named_parameters", "named_buffers"):
        ours, theirs = dict(getattr(found, kind)()), dict(getattr(expected, kind)())
        assert list(ours) == list(theirs)
        for name, tensor in theirs.items():
            assert ours[name].dtype == tensor.dtype, name
            assert torch.equal(ours[name], tensor), name


def test_a_folder_without_weights_is_refused(tmp_path: Path, checkpoint_of: CheckpointOf) -> None:
    source = Path(checkpoint_of(ModelFamily.WAN)) / "transformer" / "config.json"
    (tmp_path / "config.json").write_text(source.read_text())
    with pytest.raises(ModelLoadError, match="must hold safetensors weights"):
        load_streamed(tmp_path, diffusers.WanTransformer3DModel, device=torch.device("cpu"), dtype=torch.float32)


class HostTensors:
    """Takes the place of safetensors' `safe_open`, and counts the bytes of what was read and is still alive."""

    now = peak = largest = 0

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self._opened = safe_open(*arguments, **settings)

    def __enter__(self) -> "HostTensors":
        self._content = self._opened.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._opened.__exit__(*error)

    @classmethod
    def forget(cls) -> None:
        cls.now = cls.peak = cls.largest = 0

    def keys(self) -> list[str]:
        return list(self._content.keys())

    def get_tensor(self, name: str) -> torch.Tensor:
        tensor: torch.Tensor = self._content.get_tensor(name)
        self._count(tensor.nbytes)
        weakref.finalize(tensor, self._count, -tensor.nbytes)
        HostTensors.largest = max(self.largest, tensor.nbytes)
        return tensor

    @classmethod
    def _count(cls, num_bytes: int) -> None:
        cls.now += num_bytes
        cls.peak = max(cls.peak, cls.now)


def test_one_tensor_at_a_time_is_in_host_memory(
    checkpoint_of: CheckpointOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Onto a device of its own, for which `meta` stands; diffusers holds a file and the whole cast model."""
    model = diffusers.WanTransformer3DModel.from_pretrained(Path(checkpoint_of(ModelFamily.WAN)) / "transformer")
    model.save_pretrained(tmp_path, max_shard_size="100KB")
    monkeypatch.setattr("worker.engine.models.streamed_loading.safe_open", HostTensors)
    HostTensors.forget()
    meta = torch.device("meta")
    loaded = load_streamed(tmp_path, diffusers.WanTransformer3DModel, device=meta, dtype=torch.bfloat16)
    assert {parameter.device.type for parameter in loaded.parameters()} == {"meta"}
    stored = sum(parameter.nbytes for parameter in model.parameters())
    assert HostTensors.peak == HostTensors.largest < stored / 4
    assert HostTensors.now == 0


def test_the_transformer_of_a_hub_id_is_streamed_too(
    checkpoint_of: CheckpointOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(checkpoint_of(ModelFamily.WAN))
    hub_id = cached_on_hub(folder, tmp_path, monkeypatch)
    monkeypatch.setattr("worker.engine.models.streamed_loading.safe_open", HostTensors)
    HostTensors.forget()
    parts, cpu = frozenset({Part.TRANSFORMER}), torch.device("cpu")
    pipeline = load_pipeline(diffusers.WanPipeline, hub_id, device=cpu, dtype=torch.bfloat16, parts=parts)
    assert HostTensors.peak == HostTensors.largest > 0, "read by diffusers, which holds the whole model in host memory"
    expected = diffusers.WanTransformer3DModel.from_pretrained(folder / "transformer", torch_dtype=torch.bfloat16)
    found = pipeline.transformer.state_dict()
    assert {name: tensor.dtype for name, tensor in found.items()} == {
        name: tensor.dtype for name, tensor in expected.state_dict().items()
    }
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.state_dict().items())


def test_only_a_lane_that_needs_the_transformer_asks_the_hub_for_it(
    checkpoint_of: CheckpointOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub_id = cached_on_hub(Path(checkpoint_of(ModelFamily.WAN)), tmp_path, monkeypatch)
    for weights in tmp_path.rglob("transformer/*.safetensors"):
        weights.unlink()
    load = partial(load_pipeline, diffusers.WanPipeline, hub_id, device=torch.device("cpu"), dtype=torch.bfloat16)
    assert load(parts=frozenset({Part.VAE})).vae is not None
    with pytest.raises(OSError, match="diffusion_pytorch_model"):
        load(parts=frozenset({Part.TRANSFORMER}))
