from pathlib import Path

from worker.contracts.checkpoint_names import HELD
from worker.contracts.ingest import RunOrigin
from worker.contracts.sections import CheckpointSpec
from worker.engine.control.checkpoint_directory import CheckpointDirectory, RunPosition


def write(checkpoints: CheckpointDirectory, batch: int, *, acknowledged: int | None = None) -> str:
    """Write the checkpoint of a batch, whose event has the batch's number; the web knows of it, or of those up to
    `acknowledged`."""
    uri = checkpoints.uri(batch)
    folder = Path(uri.removeprefix("file://"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "state").write_text(str(batch))
    checkpoints.written(uri, batch)
    checkpoints.tidy(batch if acknowledged is None else acknowledged)
    return uri


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(f"file://{tmp_path}/attempt-1/", CheckpointSpec(num_kept=2))
    assert checkpoints.latest is None
    uris = [write(checkpoints, batch) for batch in (1, 2, 3)]
    assert checkpoints.latest == uris[-1]
    assert names(tmp_path / "attempt-1") == ["batch-000002", "batch-000003"]


def test_what_the_web_resumes_from_stays_until_it_knows_of_a_newer_one(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(f"file://{tmp_path}", CheckpointSpec(num_kept=1))
    write(checkpoints, 1)
    for batch in (2, 3, 4):
        write(checkpoints, batch, acknowledged=1)
        assert names(tmp_path) == ["batch-000001", f"batch-{batch:06d}"]
    checkpoints.tidy(4)
    assert names(tmp_path) == ["batch-000004"]


def test_writing_a_checkpoint_again_removes_no_other(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(str(tmp_path), CheckpointSpec(num_kept=2))
    for batch in (1, 2, 2, 2):
        write(checkpoints, batch)
    assert names(tmp_path) == ["batch-000001", "batch-000002"]


def test_removing_a_checkpoint_that_does_not_exist_raises_nothing(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(str(tmp_path), CheckpointSpec(num_kept=1))
    checkpoints.written(checkpoints.uri(1), 1)
    checkpoints.written(checkpoints.uri(2), 2)
    checkpoints.tidy(2)
    assert checkpoints.latest == checkpoints.uri(2)


def test_checkpoints_are_due_by_the_number_of_complete_batches() -> None:
    checkpoints = CheckpointDirectory("memory://x", CheckpointSpec(every_num_batches=5))
    assert [batch for batch in range(11) if checkpoints.is_due(batch)] == [5, 10]
    never = CheckpointDirectory("memory://x", CheckpointSpec(every_num_batches=None))
    assert not any(never.is_due(batch) for batch in range(11))


def test_the_trainers_version_rises_by_one_with_each_batch() -> None:
    position = RunPosition(batch=4, policy_version=4, optimizer_step=8)
    assert [position.version_at(batch) for batch in (4, 5)] == [4, 5]


def make_checkpoints(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir(parents=True)


def test_an_attempt_falls_back_within_itself_then_on_what_it_resumed_from_and_what_lies_before_that(
    tmp_path: Path,
) -> None:
    make_checkpoints(
        tmp_path,
        *("attempt-1/batch-000001", "attempt-1/batch-000002", "attempt-1/batch-000009"),
        *("attempt-2/batch-000002.replaced", "attempt-2/batch-000003", "attempt-2/batch-000004"),
        *("attempt-2/batch-000004.replaced", "attempt-2/batch-000005.partial", "attempt-2/batch-000006"),
        *("attempt-3/batch-000003", "attempt-10/batch-000001", "other/batch-000001"),
    )
    root = f"file://{tmp_path}"
    checkpoints = CheckpointDirectory(f"{root}/attempt-11", CheckpointSpec(num_kept=2))
    for batch in (5, 6):
        write(checkpoints, batch)
    make_checkpoints(tmp_path, "attempt-11/batch-000005.replaced")
    assert checkpoints.candidates(f"{root}/attempt-2/batch-000004") == [
        f"{root}/attempt-11/batch-000006",
        f"{root}/attempt-11/batch-000005",
        f"{root}/attempt-11/batch-000005.replaced",
        *(f"{root}/attempt-2/{name}" for name in ("batch-000004", "batch-000004.replaced", "batch-000003")),
        *(f"{root}/attempt-2/batch-000002.replaced", f"{root}/attempt-1/batch-000002"),
        f"{root}/attempt-1/batch-000001",
        f"{root}/attempt-2/batch-000006",
    ]


def test_a_checkpoint_that_was_not_reported_any_more_serves_where_the_only_known_one_is_damaged(tmp_path: Path) -> None:
    make_checkpoints(tmp_path, "attempt-1/batch-000002", "attempt-1/batch-000004")
    checkpoints = CheckpointDirectory(f"file://{tmp_path}/attempt-2", CheckpointSpec())
    known = f"file://{tmp_path}/attempt-1/batch-000002"
    assert checkpoints.candidates(known) == [known, f"file://{tmp_path}/attempt-1/batch-000004"]


def test_a_checkpoint_of_another_name_or_place_is_the_only_candidate() -> None:
    checkpoints = CheckpointDirectory("memory://nowhere", CheckpointSpec())
    assert checkpoints.candidates(None) == []
    assert checkpoints.candidates("memory://nowhere/mine") == ["memory://nowhere/mine"]
    missing = "memory://nowhere/attempt-2/batch-000002"
    assert checkpoints.candidates(missing) == [missing]


def test_a_checkpoint_that_a_run_was_forked_from_is_kept(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(str(tmp_path), CheckpointSpec(num_kept=1))
    for batch in (1, 2, 3):
        held = write(checkpoints, batch)
        if batch == 2:
            Path(held + HELD).touch()
    kept = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    assert kept == ["batch-000002", "batch-000003"]


def test_a_fork_falls_back_on_its_origin_and_never_on_what_lies_before_that(tmp_path: Path) -> None:
    parent, fork = f"file://{tmp_path}/parent", f"file://{tmp_path}/fork"
    make_checkpoints(tmp_path, "parent/attempt-1/batch-000001", "parent/attempt-1/batch-000002")
    make_checkpoints(tmp_path, "fork/attempt-1/batch-000003", "fork/attempt-1/batch-000004")
    origin = RunOrigin(uri=f"{parent}/attempt-1/batch-000002", batch=2)
    checkpoints = CheckpointDirectory(f"{fork}/attempt-2", CheckpointSpec(), origin)
    assert checkpoints.candidates(origin.uri) == [origin.uri]
    own = f"{fork}/attempt-1/batch-00000"
    assert checkpoints.candidates(f"{own}4") == [f"{own}4", f"{own}3", origin.uri]


def test_a_checkpoint_that_was_passed_over_does_not_count_among_those_kept(tmp_path: Path) -> None:
    checkpoints = CheckpointDirectory(f"file://{tmp_path}", CheckpointSpec(num_kept=2))
    uris = [write(checkpoints, batch) for batch in (1, 2)]
    checkpoints.passed_over(uris[1:])
    assert checkpoints.latest == uris[0]
    write(checkpoints, 3)
    assert checkpoints.candidates(None) == [checkpoints.uri(3), uris[0]]
