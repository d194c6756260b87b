"""A version is bound as it was published, or binding is an error."""

from dataclasses import replace

import pytest
import torch

from worker.contracts.sections import BaseModelSpec, LoraSpec
from worker.engine.errors import SyncError
from worker.engine.models.lora import add_lora, lora_parameters
from worker.engine.models.registry import load_model
from worker.engine.sync.binding import bind
from worker.engine.sync.checksums import checksum
from worker.engine.sync.packing import pack, snapshot
from worker.engine.types import PackedTensor


def transformer_of(path: str, *, rank: int = 4, targets: tuple[str, ...] = (), seed: int = 0) -> torch.nn.Module:
    model = load_model(BaseModelSpec(), path)
    add_lora(model.transformer, LoraSpec(rank=rank, targets=targets), model.default_lora_targets, seed=seed)
    return model.transformer


def test_what_was_published_is_what_the_live_modules_hold(tiny_checkpoint: str) -> None:
    sender, receiver = transformer_of(tiny_checkpoint, seed=1), transformer_of(tiny_checkpoint, seed=2)
    adapter = pack(snapshot(lora_parameters(sender)), 7)
    receipt = bind(lora_parameters(receiver), adapter)
    assert (receipt.policy_version, receipt.sha256) == (7, adapter.sha256)
    assert receipt.num_bound_tensors == len(adapter.tensors) > 0
    for name, parameter in lora_parameters(receiver).items():
        assert torch.equal(parameter, adapter.tensors[name])


def test_a_published_version_never_changes(tiny_checkpoint: str) -> None:
    sender = transformer_of(tiny_checkpoint)
    adapter = pack(snapshot(lora_parameters(sender)), 0)
    with torch.no_grad():
        for parameter in lora_parameters(sender).values():
            parameter.add_(1)
    assert checksum(adapter.tensors) == adapter.sha256


def test_the_checksum_sees_names_shapes_dtypes_and_bytes_but_not_order() -> None:
    one, two = torch.arange(4.0), torch.ones(2)
    base = checksum({"a": one, "b": two})
    assert base == checksum({"b": two, "a": one})
    different = [
        {"a": one, "c": two},
        {"a": one.reshape(2, 2), "b": two},
        {"a": one.view(torch.int32), "b": two},
        {"a": one.flip(0), "b": two},
        {"a": one},
    ]
    assert len({base, *(checksum(tensors) for tensors in different)}) == 6


def test_binding_nothing_is_an_error(tiny_checkpoint: str) -> None:
    adapter = pack({"transformer.base_model.to_q.lora_A.weight": torch.zeros(4, 32)}, 1)
    with pytest.raises(SyncError, match="0 of 1 published tensors would be bound"):
        bind(lora_parameters(transformer_of(tiny_checkpoint)), adapter)
    without_lora = load_model(BaseModelSpec(), tiny_checkpoint).transformer
    with pytest.raises(SyncError, match="the model trains nothing"):
        bind(lora_parameters(without_lora), adapter)


def test_a_snapshot_of_nothing_is_an_error() -> None:
    with pytest.raises(SyncError, match="at least one tensor, got 0"):
        snapshot({})


def test_missing_and_extra_names_are_in_the_error(tiny_checkpoint: str) -> None:
    receiver = transformer_of(tiny_checkpoint, targets=("attn.to_q", "attn.to_k"))
    adapter = pack(snapshot(lora_parameters(transformer_of(tiny_checkpoint, targets=("attn.to_q", "attn.to_v")))), 0)
    with pytest.raises(SyncError, match=r"missing: .*to_k.lora_A.*; extra: .*to_v.lora_A"):
        bind(lora_parameters(receiver), adapter)


def test_another_lora_rank_is_in_the_error(tiny_checkpoint: str) -> None:
    adapter = pack(snapshot(lora_parameters(transformer_of(tiny_checkpoint, rank=8))), 0)
    with pytest.raises(SyncError, match=r"must have shape \(4, 32\) and be torch.float32, got \(8, 32\)"):
        bind(lora_parameters(transformer_of(tiny_checkpoint)), adapter)


def test_bytes_that_changed_on_the_way_are_an_error(tiny_checkpoint: str) -> None:
    adapter = pack(snapshot(lora_parameters(transformer_of(tiny_checkpoint))), 3)
    name = next(iter(adapter.tensors))
    changed = PackedTensor.of(adapter.tensors[name] + 1e-7)
    tampered = replace(adapter, packed={**adapter.packed, name: changed})
    with pytest.raises(SyncError, match=f"version 3 must read back as sha256 {adapter.sha256}"):
        bind(lora_parameters(transformer_of(tiny_checkpoint)), tampered)
