"""A checkpoint is complete or not there; a damaged one is passed over, with a warning that names the file."""

import errno
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.trainer.checkpoints.test_one_rank import STATE, losses_of_steps
from worker.contracts.checkpoint_names import REPLACED
from worker.engine.errors import CheckpointDamagedError, CheckpointError, CheckpointUnwrittenError
from worker.engine.trainer.checkpoints import staging
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

TrainerMaker = Callable[..., TrainerRank]
STATE_FILE, RANDOM_FILE, MANIFEST = "rank-00000-000.safetensors", "random-00000.json", "manifest.json"
FILES = (STATE_FILE, RANDOM_FILE, "behaviour-00000.safetensors", MANIFEST)
"""Every file of a checkpoint of one rank."""


def flip_a_byte(file: Path, position: int = -1) -> None:
    content = bytearray(file.read_bytes())
    content[position] ^= 1
    file.write_bytes(bytes(content))


def cut_off(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


DAMAGES: dict[str, Callable[[Path], None]] = {"flipped byte": flip_a_byte, "torn": cut_off, "missing": Path.unlink}


@pytest.fixture(scope="module")
def trainer(make_spec: Any, tiny_checkpoint: str, behaviour: PublishedShard, process_group: None) -> TrainerRank:
    """A trainer that many tests share; each loads what it saved."""
    made = trainer_rank(make_spec(deepspeed={"config": "zero1"}), tiny_checkpoint)
    made.load_version(behaviour)
    return made


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    trainer: TrainerRank,
    behaviour: PublishedShard,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    file: str,
    damage: Callable[[Path], None],
) -> None:
    before, newest = str(tmp_path / "batch-000001"), str(tmp_path / "batch-000002")
    trainer.save_checkpoint(before, {"batch": 1}, behaviour)
    trainer.save_checkpoint(newest, {"batch": 2}, behaviour)
    assert {path.name for path in Path(newest).iterdir()} == set(FILES)
    damage(tmp_path / "batch-000002" / file)
    with caplog.at_level(logging.WARNING):
        restored = trainer.load_checkpoint(newest, before)
    assert (restored.uri, restored.client_state) == (before, {"batch": 1})
    (warning,) = (record.message for record in caplog.records if "passed over" in record.message)
    assert newest in warning and file in warning


def test_without_another_one_a_damaged_checkpoint_is_refused_and_nothing_is_changed(
    make_trainer: TrainerMaker, groups: list[GroupBatch], tmp_path: Path
) -> None:
    trainer = make_trainer(deepspeed={"config": "zero1"})
    trainer.save_checkpoint(str(tmp_path / "one"), STATE)
    losses_of_steps(trainer, groups, 1)
    version = trainer.version(1).sha256
    flip_a_byte(tmp_path / "one" / STATE_FILE)
    with pytest.raises(CheckpointDamagedError, match=rf"its file {STATE_FILE} must have sha256"):
        trainer.load_checkpoint(str(tmp_path / "one"))
    with pytest.raises(CheckpointDamagedError, match=r"memory://nowhere is not a complete checkpoint"):
        trainer.load_checkpoint("memory://nowhere")
    with pytest.raises(CheckpointDamagedError, match=r"no checkpoint can be loaded: .*sha256.*; .*nowhere"):
        trainer.load_checkpoint(str(tmp_path / "one"), "memory://nowhere")
    assert trainer.version(1).sha256 == version


@pytest.mark.parametrize("position", [50, 300, 700, -10])
def test_a_byte_that_changed_anywhere_in_the_manifest_is_found(
    trainer: TrainerRank, tmp_path: Path, position: int
) -> None:
    trainer.save_checkpoint(str(tmp_path / "one"), STATE)
    flip_a_byte(tmp_path / "one" / MANIFEST, position)
    with pytest.raises(CheckpointDamagedError, match=r"manifest\.json"):
        trainer.load_checkpoint(str(tmp_path / "one"))


def test_damage_in_an_object_store_is_found(trainer: TrainerRank) -> None:
    filesystem = fsspec.filesystem("memory")
    trainer.save_checkpoint("memory://tandem/batch-000001", {"batch": 1})
    trainer.save_checkpoint("memory://tandem/batch-000002", {"batch": 2})
    (file,) = filesystem.glob("/tandem/batch-000002/*/rank-*")
    filesystem.pipe_file(file, filesystem.cat_file(file)[:-1])
    restored = trainer.load_checkpoint("memory://tandem/batch-000002", "memory://tandem/batch-000001")
    assert restored.client_state == {"batch": 1}
    filesystem.rm("/tandem", recursive=True)


@pytest.fixture
def disk_that_fills(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`fsync` reports a full disk from the second file on, as it does where blocks are allocated late."""
    calls: list[int] = []
    fsync = os.fsync

    def fill(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr("worker.engine.trainer.checkpoints.staging.os.fsync", fill)
        yield


def test_a_full_disk_leaves_the_earlier_checkpoint_and_no_remains(
    trainer: TrainerRank, groups: list[GroupBatch], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    uri = str(tmp_path / "one")
    trainer.save_checkpoint(uri, {"batch": 1})
    saved = trainer.version(1).sha256
    losses_of_steps(trainer, groups, 1)
    request.getfixturevalue("disk_that_fills")
    with pytest.raises(CheckpointUnwrittenError, match=r"one could not be written: .*No space left on device"):
        trainer.save_checkpoint(uri, {"batch": 2})
    assert [entry.name for entry in tmp_path.iterdir()] == ["one"]
    assert trainer.load_checkpoint(uri).client_state == {"batch": 1}
    assert trainer.version(1).sha256 == saved


class Crash(BaseException):
    """Ends a save as the end of its process would: nothing is cleaned up."""


CRASHES = {
    "before the first file": ("_LocalStaging.open", 1),
    "between two files": ("_LocalStaging.write", 2),
    "before the manifest": ("_LocalStaging.write", 3),
    "before the first rename": ("_fsync_folder", 1),
    "after both renames": ("_fsync_folder", 2),
}


@pytest.mark.parametrize(("where", "number"), CRASHES.values(), ids=CRASHES)
def test_a_crash_leaves_the_earlier_checkpoint_or_the_new_one(
    trainer: TrainerRank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, number: int
) -> None:
    uri = str(tmp_path / "batch-000001")
    trainer.save_checkpoint(uri, {"save": "first"})
    with monkeypatch.context() as patched:
        crash_at(patched, where, number)
        with pytest.raises(Crash):
            trainer.save_checkpoint(uri, {"save": "second"})
    expected = "second" if (where, number) == ("_fsync_folder", 2) else "first"
    assert trainer.load_checkpoint(uri).client_state == {"save": expected}
    trainer.save_checkpoint(uri, {"save": "third"})
    assert trainer.load_checkpoint(uri).client_state == {"save": "third"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["batch-000001"]


def test_a_crash_between_the_two_renames_leaves_the_earlier_checkpoint_beside(
    trainer: TrainerRank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = str(tmp_path / "batch-000001")
    trainer.save_checkpoint(uri, {"save": "first"})
    with monkeypatch.context() as patched:
        rename = Path.rename

        def crash_after(path: Path, target: Path) -> None:
            rename(path, target)
            raise Crash

        patched.setattr(Path, "rename", crash_after)
        with pytest.raises(Crash):
            trainer.save_checkpoint(uri, {"save": "second"})
    restored = trainer.load_checkpoint(uri, uri + REPLACED)
    assert (restored.uri, restored.client_state) == (uri + REPLACED, {"save": "first"})


def crash_at(patched: pytest.MonkeyPatch, where: str, number: int) -> None:
    """End the save in the `number`-th call of a function of `staging`."""
    owner_name, _, name = where.rpartition(".")
    owner = getattr(staging, owner_name) if owner_name else staging
    original, calls = getattr(owner, name), list[None]()

    def crash(*args: Any) -> Any:
        calls.append(None)
        if len(calls) == number:
            raise Crash
        return original(*args)

    patched.setattr(owner, name, crash)


def test_a_crash_of_a_save_in_an_object_store_leaves_the_earlier_checkpoint(
    trainer: TrainerRank, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri, filesystem = "memory://tandem/batch-000001", fsspec.filesystem("memory")
    trainer.save_checkpoint(uri, {"save": "first"})
    with monkeypatch.context() as patched:
        crash_at(patched, "_RemoteStaging.write", 2)
        with pytest.raises(Crash):
            trainer.save_checkpoint(uri, {"save": "second"})
    assert len(filesystem.find("/tandem")) > 3
    assert trainer.load_checkpoint(uri).client_state == {"save": "first"}
    trainer.save_checkpoint(uri, {"save": "third"})
    assert trainer.load_checkpoint(uri).client_state == {"save": "third"}
    assert len(filesystem.find("/tandem")) == 3
    filesystem.rm("/tandem", recursive=True)


def test_a_checkpoint_of_another_format_is_refused_and_never_passed_over(
    trainer: TrainerRank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer.save_checkpoint(str(tmp_path / "before"), STATE)
    trainer.save_checkpoint(str(tmp_path / "newest"), STATE)
    monkeypatch.setattr("worker.engine.trainer.checkpoints.manifest.FORMAT", 6)
    with pytest.raises(CheckpointError, match=r"`format` of .*newest must be 6, got 5"):
        trainer.load_checkpoint(str(tmp_path / "newest"), str(tmp_path / "before"))
