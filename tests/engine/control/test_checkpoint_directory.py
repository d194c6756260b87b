from pathlib import Path

from worker.contracts.sections import CheckpointSpec
from worker.engine.control.checkpoint_directory import CheckpointDirectory, RunPosition


def write(checkpoints: CheckpointDirectory, batch: int) -> str:
    uri = checkpoints.uri(batch)
    folder = Path(uri.removeprefix("file://"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "state").write_text(str(batch))
    checkpoints.written(uri)
    return uri


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(f"file://{tmp_path}/attempt-1/", CheckpointSpec(num_kept=2))
    assert checkpoints.latest is None
    uris = [write(checkpoints, batch) for batch in (1, 2, 3)]
    assert checkpoints.latest == uris[-1]
    assert sorted(path.name for path in (tmp_path / "attempt-1").iterdir()) == ["batch-000002", "batch-000003"]


def test_writing_a_checkpoint_again_removes_no_other(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(str(tmp_path), CheckpointSpec(num_kept=2))
    for batch in (1, 2, 2, 2):
        write(checkpoints, batch)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["batch-000001", "batch-000002"]


def test_removing_a_checkpoint_that_does_not_exist_raises_nothing(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(str(tmp_path), CheckpointSpec(num_kept=1))
    checkpoints.written(checkpoints.uri(1))
    checkpoints.written(checkpoints.uri(2))
    assert checkpoints.latest == checkpoints.uri(2)


def test_checkpoints_are_due_by_the_number_of_complete_batches() -> None:
    checkpoints = CheckpointDirectory("memory://x", CheckpointSpec(every_num_batches=5))
    assert [batch for batch in range(11) if checkpoints.is_due(batch)] == [5, 10]
    never = CheckpointDirectory("memory://x", CheckpointSpec(every_num_batches=None))
    assert not any(never.is_due(batch) for batch in range(11))


def test_the_trainers_version_rises_by_one_with_each_batch() -> None:
    position = RunPosition(batch=4, policy_version=4, optimizer_step=8)
    assert [position.version_at(batch) for batch in (4, 5)] == [4, 5]
