"""A checkpoint is complete or not there, and a run that resumes from it goes on bit for bit."""

import random
from collections.abc import Callable
from pathlib import Path

import fsspec
import numpy as np
import pytest
import torch

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


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
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


@pytest.mark.parametrize("config", ["zero0", "zero2", "zero3", "zero3_cpuoffload"])
def test_only_trainable_tensors_are_written(
    make_trainer: TrainerMaker, behaviour: PublishedShard, tmp_path: Path, config: str
) -> None:
    trainer = make_trainer(deepspeed={"config": config})
    trainer.save_checkpoint(str(tmp_path / "one"), STATE)
    (file,) = (tmp_path / "one" / "state").glob("*mp_rank_00_model_states.pt")
    stored = torch.load(file, weights_only=False)
    parameters = {name for name, _ in trainer._policy.module.named_parameters()}
    written = parameters.intersection(stored["module"])
    assert len(written) == len(behaviour.tensors)
    assert all("lora_" in name for name in written)
    assert not stored.get("frozen_param_fragments")


def test_random_states_are_restored(make_trainer: TrainerMaker, tmp_path: Path) -> None:
    def draw() -> tuple[float, float, float]:
        return float(torch.rand(())), float(np.random.random()), random.random()

    trainer = make_trainer()
    trainer.save_checkpoint(str(tmp_path / "one"), STATE)
    expected = draw()
    trainer.load_checkpoint(str(tmp_path / "one"))
    assert draw() == expected


def test_a_checkpoint_in_an_object_store_resumes_alike(make_trainer: TrainerMaker, groups: list[GroupBatch]) -> None:
    trainer = make_trainer()
    losses_of_steps(trainer, groups, 1)
    trainer.save_checkpoint("memory://tandem/run/batch-1", STATE)
    expected = losses_of_steps(trainer, groups, 1)
    resumed = make_trainer()
    assert resumed.load_checkpoint("memory://tandem/run/batch-1").client_state == STATE
    assert losses_of_steps(resumed, groups, 1) == expected
    filesystem = fsspec.filesystem("memory")
    assert filesystem.exists("/tandem/run/batch-1/complete.json")
    filesystem.rm("/tandem", recursive=True)


@pytest.mark.parametrize("store", ["file", "memory"])
def test_the_version_that_the_next_batch_had_begun_on_is_kept(
    make_trainer: TrainerMaker, behaviour: PublishedShard, tmp_path: Path, store: str
) -> None:
    uri = f"file://{tmp_path}/kept" if store == "file" else "memory://tandem/kept"
    trainer = make_trainer()
    without = trainer.save_checkpoint(uri, STATE)
    assert load_behaviour(uri) == ()
    assert trainer.save_checkpoint(uri, STATE, behaviour) > without + behaviour.num_bytes
    (kept,) = load_behaviour(uri)
    assert (kept.policy_version, kept.sha256) == (behaviour.policy_version, behaviour.sha256)
    assert make_trainer().load_checkpoint(uri).client_state == STATE


def test_a_kept_adapter_that_changed_is_refused(
    make_trainer: TrainerMaker, behaviour: PublishedShard, tmp_path: Path
) -> None:
    make_trainer().save_checkpoint(str(tmp_path / "one"), STATE, behaviour)
    file = tmp_path / "one" / "behaviour-00000.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(bytes(content))
    with pytest.raises(
        CheckpointError, match=r"behaviour-00000\.safetensors must have .* damaged after it was written"
    ):
        load_behaviour(str(tmp_path / "one"))


def test_a_save_that_fails_leaves_the_earlier_checkpoint_unchanged(
    make_trainer: TrainerMaker, groups: list[GroupBatch], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = str(tmp_path / "latest")
    trainer = make_trainer()
    trainer.save_checkpoint(uri, STATE)
    saved = trainer.version(0).sha256
    losses_of_steps(trainer, groups, 1)
    with monkeypatch.context() as patched:
        patched.setattr("worker.engine.trainer.checkpoint.capture_random_state", _disk_full)
        with pytest.raises(OSError, match="No space left"):
            trainer.save_checkpoint(uri, {})
    resumed = make_trainer()
    assert resumed.load_checkpoint(uri).client_state == STATE
    assert resumed.version(0).sha256 == saved
    trainer.save_checkpoint(uri, {"batch": 8})
    assert make_trainer().load_checkpoint(uri).client_state == {"batch": 8}


def _disk_full() -> None:
    raise OSError("No space left on device")


def test_a_checkpoint_without_its_marker_does_not_exist(make_trainer: TrainerMaker, tmp_path: Path) -> None:
    trainer = make_trainer()
    trainer.save_checkpoint(str(tmp_path / "one"), STATE)
    (tmp_path / "one" / "complete.json").unlink()
    with pytest.raises(CheckpointError, match=r"is not a complete checkpoint: it holds no complete.json"):
        trainer.load_checkpoint(str(tmp_path / "one"))
    with pytest.raises(CheckpointError, match="is not a complete checkpoint"):
        trainer.load_checkpoint("memory://nowhere")


def test_another_zero_stage_is_refused(make_trainer: TrainerMaker, tmp_path: Path) -> None:
    make_trainer().save_checkpoint(str(tmp_path / "one"), STATE)
    with pytest.raises(CheckpointError, match=r"`zero_stage` of .* must be 2, got 0"):
        make_trainer(deepspeed={"config": "zero2"}).load_checkpoint(str(tmp_path / "one"))


def test_open_gradients_are_no_part_of_a_checkpoint(
    make_trainer: TrainerMaker, groups: list[GroupBatch], tmp_path: Path
) -> None:
    trainer = make_trainer()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(MinibatchError, match="between mini-batches, got 12 open pairs"):
        trainer.save_checkpoint(str(tmp_path / "one"), STATE)
