"""Takes a backup while the installation serves.

The dump and the list of artifacts are of one snapshot of the database. Artifacts never change under their key and are
stored before their row, so those of the snapshot are copied after it; where a run is deleted meanwhile, both are taken
again. Invariant: what the dump refers to is in the backup.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from accounts.encryption import encrypt
from gallery import storage
from gallery.stored_files import StoredFile, still_referred_to, stored_files
from server.backup.backup_folder import (
    DUMP,
    FILES,
    INDEX,
    KEY,
    MANIFEST,
    BackupError,
    Checked,
    Entry,
    Manifest,
    checked_file,
    copied,
    migration_digest,
)
from server.backup.dumps import dump_database, snapshot

MAX_SNAPSHOTS = 5
"""Each is taken because files of the one before were deleted meanwhile, which takes somebody who deletes runs."""
KEY_CHECK = "tandem backup"
Say = Callable[[str], None]


def take_backup(target: Path, *, with_key: bool = False, allow_missing: bool = False, say: Say = print) -> Manifest:
    """Write a backup to the folder `target`, which must not exist yet.

    Args:
        with_key: whether `SECRET_KEY` is kept beside what it encrypts.
        allow_missing: go on without files that are lost or damaged, and name them in the manifest.
        say: is told what happens.

    Raises:
        BackupError: nothing was written.
    """
    if target.exists():
        raise BackupError(f"{target} exists: name a folder that does not")
    if not target.parent.is_dir():
        raise BackupError(f"{target.parent} is no folder: make it first")
    draft = target.parent / f".{target.name}.{token_hex(4)}"
    draft.mkdir(mode=0o700)
    try:
        manifest = _fill(draft, with_key=with_key, allow_missing=allow_missing, say=say)
        # Its last file, so that a copy of the folder that was cut off is no backup either.
        _write(draft / MANIFEST, manifest.model_dump_json(indent=2))
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return manifest


def _fill(draft: Path, *, with_key: bool, allow_missing: bool, say: Say) -> Manifest:
    for _ in range(MAX_SNAPSHOTS):
        with snapshot() as name:
            taken_at = datetime.now(UTC)
            listed = list(stored_files())
            migrations = sorted(f"{app}.{one}" for app, one in MigrationRecorder(connection).applied_migrations())
            dump_database(draft / DUMP, name)
        say(f"The database is dumped; copying {len(listed)} artifacts …")
        found, lost = _copy(listed, draft / FILES)
        kept_rows = still_referred_to(lost)
        if lost and len(kept_rows) < len(lost):
            say("A run was deleted meanwhile: once more, from a later moment …")
            continue
        if lost and not allow_missing:
            raise BackupError(
                f"{len(lost)} artifacts are lost or damaged, such as {lost[0]}: repair the storage, or leave them out "
                "with --allow-missing"
            )
        _remove_others(draft / FILES, {entry.key for entry in found})
        _write(draft / INDEX, "".join(json.dumps(asdict(entry)) + "\n" for entry in found))
        if with_key:
            _write(draft / KEY, settings.SECRET_KEY)
        return Manifest(
            taken_at=taken_at,
            migrations={one: migration_digest(one) for one in migrations},
            key_check=encrypt(KEY_CHECK),
            database=checked_file(draft / DUMP),
            index=checked_file(draft / INDEX),
            num_files=len(found),
            file_bytes=sum(entry.num_bytes for entry in found),
            left_out=tuple(lost),
            has_key=with_key,
        )
    raise BackupError(f"runs were deleted during each of {MAX_SNAPSHOTS} tries: try again when nobody deletes runs")


def _copy(listed: Iterable[StoredFile], folder: Path) -> tuple[list[Entry], list[str]]:
    """The files that are in the folder now, and the keys of those that are lost or damaged."""
    found, lost = [], []
    for file in listed:
        path = folder / file.key
        checked = checked_file(path) if path.exists() else _copied_to(path, file.key)
        if checked is None or checked.num_bytes != file.num_bytes or file.sha256 not in (None, checked.sha256):
            lost.append(file.key)
        else:
            found.append(Entry(file.key, checked.num_bytes, checked.sha256))
    return found, lost


def _copied_to(path: Path, key: str) -> Checked | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with storage.open_to_read(key) as source, path.open("wb") as target:
            return copied(source, target)
    except FileNotFoundError:
        return None


def _remove_others(folder: Path, keys: set[str]) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in keys:
            path.unlink()


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
