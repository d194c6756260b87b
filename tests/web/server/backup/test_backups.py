"""A backup is whole or is not there, is of one moment, and is kept from others."""

import json
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from gallery import storage
from gallery.stored_files import stored_files
from runs.models import Run
from server.backup import dumps, restoring_backups, taking_backups
from server.backup.backup_folder import FILES, KEY, MANIFEST, BackupError, entries, read_manifest, require_whole
from server.backup.restoring_backups import restore_backup
from server.backup.taking_backups import take_backup
from tests.web.server.backup.conftest import Elsewhere, digests, report, upload

pytestmark = pytest.mark.django_db(transaction=True)


def quiet(said: str) -> None:
    pass


@pytest.fixture
def backup(run: Run, tmp_path: Path) -> Path:
    folder = tmp_path / "backup"
    take_backup(folder, say=quiet)
    return folder


def test_what_is_restored_is_what_there_was_at_the_moment_while_a_run_went_on(
    run: Run, tmp_path: Path, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, seen = threading.Event(), dict[str, str]()
    dump = dumps.dump_database

    def write() -> None:
        number = 3
        while not is_over.is_set():
            number += 1
            report(run, number)
            upload(run, f"samples/{number}.png")
        connection.close()

    def dump_and_look(target: Path, snapshot_name: str) -> None:
        dump(target, snapshot_name)
        seen.update(digests())

    monkeypatch.setattr(taking_backups, "dump_database", dump_and_look)
    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = take_backup(tmp_path / "backup", say=quiet)
    finally:
        is_over.set()
        writer.join()
    assert digests() != seen, "the run went on meanwhile"
    with elsewhere():
        restore_backup(tmp_path / "backup", say=quiet)
        found = digests()
        assert found.pop("audit_auditentry") != seen.pop("audit_auditentry"), "the restoration is recorded"
        assert found == seen
        stored = {file.key for file in stored_files()}
        assert len(stored) == made.num_files and storage.missing(list(stored)) == []


def test_a_backup_is_for_its_owner_alone_and_holds_no_key_unless_asked_to(
    backup: Path, tmp_path: Path, settings: Any
) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o700
    contents = b"".join(path.read_bytes() for path in backup.rglob("*") if path.is_file())
    assert settings.SECRET_KEY.encode() not in contents
    take_backup(tmp_path / "with key", with_key=True, say=quiet)
    kept = tmp_path / "with key" / KEY
    assert (kept.read_text(), stat.S_IMODE(kept.stat().st_mode)) == (settings.SECRET_KEY, 0o600)


@pytest.mark.slow
def test_sessions_are_left_out(run: Run, client: Any, alice: Any, tmp_path: Path, elsewhere: Elsewhere) -> None:
    client.force_login(alice)
    take_backup(tmp_path / "backup", say=quiet)
    with elsewhere():
        restore_backup(tmp_path / "backup", say=quiet)
        assert client.get("/account").headers["Location"].startswith("/login")


def test_a_lost_artifact_stops_the_backup_unless_it_is_left_out(
    run: Run, tmp_path: Path, artifact_folder: Path
) -> None:
    (artifact_folder / f"{run.pk}/1/samples/1.png").unlink()
    (artifact_folder / f"{run.pk}/1/samples/2.png").write_bytes(b"damaged")
    with pytest.raises(BackupError, match="2 artifacts are lost or damaged"):
        take_backup(tmp_path / "backup", say=quiet)
    assert [path.name for path in tmp_path.iterdir()] == ["artifacts"], "nothing is left of it"
    made = take_backup(tmp_path / "backup", allow_missing=True, say=quiet)
    assert sorted(made.left_out) == [f"{run.pk}/1/samples/{number}.png" for number in (1, 2)]
    require_whole(tmp_path / "backup", read_manifest(tmp_path / "backup"))
    assert not (tmp_path / "backup" / FILES / made.left_out[0]).exists()


@pytest.mark.slow
def test_a_run_that_is_deleted_meanwhile_is_in_neither_dump_nor_files(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = storage.open_to_read

    def delete_first(key: str) -> Any:
        if Run.objects.filter(pk=run.pk).exists():
            Run.objects.filter(pk=run.pk).delete()
            storage.delete_tree(str(run.pk))
        return read(key)

    monkeypatch.setattr(storage, "open_to_read", delete_first)
    said: list[str] = []
    assert take_backup(tmp_path / "backup", say=said.append).num_files == 0
    assert any("once more" in one for one in said)
    assert [path for path in (tmp_path / "backup" / FILES).rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_an_existing_folder_is_not_written_to(backup: Path) -> None:
    with pytest.raises(BackupError, match="exists: name a folder that does not"):
        take_backup(backup, say=quiet)


def damaged(backup: Path, how: str) -> None:
    entry = next(entries(backup))
    match how:
        case "a file is changed":
            (backup / FILES / entry.key).write_bytes(b"other")
        case "a file is missing":
            (backup / FILES / entry.key).unlink()
        case "the dump is cut off":
            (backup / "database.dump").write_bytes((backup / "database.dump").read_bytes()[:-100])
        case "the index is changed":
            (backup / "artifacts.jsonl").write_text("")
        case "there is no manifest":
            (backup / MANIFEST).unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    ["a file is changed", "a file is missing", "the dump is cut off", "the index is changed", "there is no manifest"],
)
def test_a_damaged_backup_changes_nothing(backup: Path, elsewhere: Elsewhere, how: str) -> None:
    damaged(backup, how)
    with elsewhere():
        with pytest.raises(BackupError, match=r"damaged|no backup"):
            restore_backup(backup, say=quiet)
        assert digests() == {}


def changed(backup: Path, **fields: Any) -> None:
    manifest = json.loads((backup / MANIFEST).read_text())
    (backup / MANIFEST).write_text(json.dumps({**manifest, **fields}))


@pytest.mark.slow
def test_a_backup_of_another_version_is_refused(backup: Path, elsewhere: Elsewhere) -> None:
    known = read_manifest(backup).migrations
    with elsewhere():
        for fields, said in (
            ({"migrations": {**known, "runs.0999_later": ""}}, "the migration runs.0999_later, which this one lacks"),
            ({"migrations": {**known, "runs.0001_initial": "0"}}, "of an unreleased version"),
            ({"format": 2}, "has format 2, this version reads 1"),
        ):
            changed(backup, **{"migrations": known, "format": 1, **fields})
            with pytest.raises(BackupError, match=said):
                restore_backup(backup, say=quiet)


@pytest.mark.slow
def test_an_index_that_leads_out_of_the_storage_is_refused(backup: Path) -> None:
    (backup / "artifacts.jsonl").write_text('{"key": "../../etc/x.png", "num_bytes": 1, "sha256": ""}\n')
    with pytest.raises(BackupError, match="leads out of the storage"):
        list(entries(backup))


@pytest.mark.slow
def test_another_key_is_refused_unless_secrets_are_to_be_entered_again(
    backup: Path, elsewhere: Elsewhere, settings: Any
) -> None:
    settings.SECRET_KEY = "another"
    with elsewhere():
        with pytest.raises(BackupError, match="`SECRET_KEY` is not that of the backup"):
            restore_backup(backup, say=quiet)
        restore_backup(backup, without_secrets=True, say=quiet)
        assert Run.objects.count() == 1


def test_a_database_that_holds_anything_is_replaced_only_when_asked_to(backup: Path, elsewhere: Elsewhere) -> None:
    with elsewhere():
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE mine (x int)")
        with pytest.raises(BackupError, match="the database is not empty"):
            restore_backup(backup, say=quiet)
        restore_backup(backup, replace=True, say=quiet)
        assert "mine" not in digests() and Run.objects.count() == 1


@pytest.mark.slow
def test_nothing_is_restored_under_a_web_that_serves(backup: Path, elsewhere: Elsewhere) -> None:
    with elsewhere():
        other = connection.copy()
        other.connect()
        try:
            with pytest.raises(BackupError, match="1 others are connected"):
                restore_backup(backup, say=quiet)
        finally:
            other.close()


def test_a_restoration_that_dies_halfway_leaves_the_database_as_it_was(
    backup: Path, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring_backups, "require_whole", lambda *_: None)
    damaged(backup, "the dump is cut off")
    with elsewhere():
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE mine (x int)")
        before = digests()
        with pytest.raises(BackupError, match="nothing was changed"):
            restore_backup(backup, replace=True, say=quiet)
        assert digests() == before
