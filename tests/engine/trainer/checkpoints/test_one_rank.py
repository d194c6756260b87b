"""A run that resumes from a checkpoint goes on bit for bit, wherever the checkpoint lies."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import fsspec
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.slow_params import slow_but
from worker.engine.errors import CheckpointError, MinibatchError
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

NUM_PAIRS = 24
STATE = {"batch": 7, "policy_version": 7, "optimizer_step": 14, "cursor": {"epoch": 1, "index": 3}}
TrainerMaker = Callable[..., TrainerRank]


def losses_of_steps(trainer: TrainerRank, groups: list[GroupBatch], num_steps: int) -> list[tuple[float, float]]:
    """Take `num_steps` optimizer steps; returns (loss, gradient norm) of each."""
    losses = []
    for _ in range(num_steps):
        stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
        losses.append((stats.sums["loss"], trainer.commit()["grad_norm"]))
    return losses


@pytest.mark.parametrize("stage", slow_but([0, 3], range(4)))
def test_resuming_is_bitwise_equal_on_one_rank(
    make_trainer: TrainerMaker, groups: list[GroupBatch], tmp_path: Path, stage: int
) -> None:
    sections = {"deepspeed": {"config": f"zero{stage}"}}
    uri = f"file://{tmp_path}/batch-7"
    trainer = make_trainer(**sections)
    losses_of_steps(trainer, groups, 2)
    num_bytes = trainer.save_checkpoint(uri, STATE)
    expected = losses_of_steps(trainer, groups, 3), trainer.version(9).sha256
    resumed = make_trainer(**sections)
    assert resumed.load_checkpoint(uri).client_state == STATE
    assert (losses_of_steps(resumed, groups, 3), resumed.version(9).sha256) == expected
    assert 0 < num_bytes < 2_000_000


@pytest.mark.parametrize("stage", slow_but([3], [0, 1, 3]))
def test_a_checkpoint_from_before_the_first_step_undoes_all_steps(
    make_trainer: TrainerMaker, groups: list[GroupBatch], tmp_path: Path, stage: int
) -> None:
    trainer = make_trainer(deepspeed={"config": f"zero{stage}"})
    trainer.save_checkpoint(str(tmp_path / "start"), STATE)
    expected = losses_of_steps(trainer, groups, 2), trainer.version(1).sha256
    trainer.load_checkpoint(str(tmp_path / "start"))
    assert (losses_of_steps(trainer, groups, 2), trainer.version(1).sha256) == expected


@pytest.mark.parametrize(
    "config", slow_but(["zero2", "zero3_cpuoffload"], ["zero0", "zero2", "zero3", "zero3_cpuoffload"])
)
def test_files_hold_weights_and_moments_by_parameter_name_and_nothing_is_pickled(
    make_trainer: TrainerMaker, groups: list[GroupBatch], behaviour: PublishedShard, tmp_path: Path, config: str
) -> None:
    trainer = make_trainer(deepspeed={"config": config})
    losses_of_steps(trainer, groups, 1)
    trainer.save_checkpoint(str(tmp_path / "one"), STATE)
    files = {file.name for file in (tmp_path / "one").iterdir()}
    assert files == {"manifest.json", "rank-00000-000.safetensors", "random-00000.json"}
    stored = load_file(tmp_path / "one" / "rank-00000-000.safetensors")
    quantities = ("weights", "exp_avg", "exp_avg_sq")
    assert stored.keys() == {f"{quantity}/{name}" for quantity in quantities for name in behaviour.tensors}
    for name, tensor in trainer.version(1).tensors.items():
        assert torch.equal(stored[f"weights/{name}"].view(tensor.shape), tensor)
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())["manifest"]
    assert manifest["shapes"] == {name: list(tensor.shape) for name, tensor in behaviour.tensors.items()}
    assert set(manifest["steps"].values()) == {1} and manifest["client_state"] == STATE


def test_large_state_is_written_in_several_files(
    make_trainer: TrainerMaker, groups: list[GroupBatch], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.engine.trainer.checkpoints.saving.FILE_BYTES", 10_000)
    trainer = make_trainer()
    losses_of_steps(trainer, groups, 1)
    trainer.save_checkpoint(str(tmp_path / "one"), STATE)
    assert len(list((tmp_path / "one").glob("rank-00000-*.safetensors"))) > 2
    expected = losses_of_steps(trainer, groups, 1)
    resumed = make_trainer()
    resumed.load_checkpoint(str(tmp_path / "one"))
    assert losses_of_steps(resumed, groups, 1) == expected


def test_random_states_are_restored(make_trainer: TrainerMaker, tmp_path: Path) -> None:
    def draw() -> list[float]:
        numbers = [float(torch.rand(())), float(np.random.random()), random.random()]
        # Both keep the second number of a pair for the next call.
        return [*numbers, float(np.random.standard_normal()), random.gauss(0, 1)]

    trainer = make_trainer()
    draw()
    trainer.save_checkpoint(str(tmp_path / "one"), STATE)
    expected = draw()
    trainer.load_checkpoint(str(tmp_path / "one"))
    assert draw() == expected


def test_a_checkpoint_in_an_object_store_resumes_alike(make_trainer: TrainerMaker, groups: list[GroupBatch]) -> None:
    uri, filesystem = "memory://tandem/run/batch-1", fsspec.filesystem("memory")
    trainer = make_trainer()
    trainer.save_checkpoint(uri, {})
    first = set(filesystem.find("/tandem/run/batch-1"))
    losses_of_steps(trainer, groups, 1)
    trainer.save_checkpoint(uri, STATE)
    expected = losses_of_steps(trainer, groups, 1)
    resumed = make_trainer()
    assert resumed.load_checkpoint(uri).client_state == STATE
    assert losses_of_steps(resumed, groups, 1) == expected
    second = set(filesystem.find("/tandem/run/batch-1"))
    assert len(first) == len(second) == 3 and first & second == {"/tandem/run/batch-1/manifest.json"}
    filesystem.rm("/tandem", recursive=True)


@pytest.mark.parametrize("store", ["file", "memory"])
def test_the_version_that_the_next_batch_had_begun_on_is_kept(
    make_trainer: TrainerMaker, behaviour: PublishedShard, tmp_path: Path, store: str
) -> None:
    uri = f"file://{tmp_path}/kept" if store == "file" else "memory://tandem/kept"
    trainer = make_trainer()
    without = trainer.save_checkpoint(uri, STATE)
    assert trainer.load_checkpoint(uri).behaviour == ()
    assert trainer.save_checkpoint(uri, STATE, behaviour) > without + behaviour.num_bytes
    restored = make_trainer().load_checkpoint(uri)
    (kept,) = restored.behaviour
    assert (kept.policy_version, kept.sha256) == (behaviour.policy_version, behaviour.sha256)
    assert restored.client_state == STATE


def test_a_checkpoint_of_other_parameters_is_refused_by_name(make_trainer: TrainerMaker, tmp_path: Path) -> None:
    uri = str(tmp_path / "one")
    make_trainer().save_checkpoint(uri, STATE)
    other = make_trainer(deepspeed={"config": "zero2"}, ema={"decay": 0.9})
    with pytest.raises(CheckpointError, match="must hold average, weights of each parameter, got weights"):
        other.load_checkpoint(uri)
    manifest = tmp_path / "one" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format": 5', '"format": 4'))
    with pytest.raises(CheckpointError, match="sha256 differs"):
        make_trainer().load_checkpoint(uri)


def test_open_gradients_are_no_part_of_a_checkpoint(
    make_trainer: TrainerMaker, groups: list[GroupBatch], tmp_path: Path
) -> None:
    trainer = make_trainer()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(MinibatchError, match="between mini-batches, got 12 open pairs"):
        trainer.save_checkpoint(str(tmp_path / "one"), STATE)
