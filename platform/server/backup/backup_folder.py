"""What a backup's folder holds, and how a whole one is told from a damaged one.

::

    manifest.json     what it is, written last
    database.dump     of pg_dump, in its own format
    artifacts.jsonl   key, size and sha256 of each file of the artifact storage
    artifacts/KEY     their bytes
    secret-key        only where it was asked for

Invariant: a folder that has a manifest is whole; a backup that was interrupted never has its name.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from django.conf import settings
from pydantic import BaseModel, ConfigDict, ValidationError

FORMAT = 1
MANIFEST, DUMP, INDEX, FILES, KEY = "manifest.json", "database.dump", "artifacts.jsonl", "artifacts", "secret-key"
CHUNK_BYTES = 2**20


class BackupError(Exception):
    """The backup was not made, or not restored; nothing was changed. The message says what to do."""


class Checked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    num_bytes: int
    sha256: str


class Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    taken_at: datetime
    """When the database was as the dump has it."""
    migrations: dict[str, str]
    """Digest of each applied migration by `app.name`; empty for those of other packages."""
    key_check: str
    """A known text, encrypted by the installation's `SECRET_KEY`."""
    database: Checked
    index: Checked
    num_files: int
    file_bytes: int
    left_out: tuple[str, ...] = ()
    """Keys of files that were lost or damaged before the backup was taken, and are not in it."""
    has_key: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the index."""

    key: str
    num_bytes: int
    sha256: str


def read_manifest(folder: Path) -> Manifest:
    """Raises `BackupError` for a folder that is no whole backup."""
    try:
        content = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise BackupError(f"{folder} is no backup: {MANIFEST} cannot be read ({error.strerror})") from error
    try:
        found = Manifest.model_validate_json(content)
    except ValidationError as error:
        raise BackupError(
            f"{folder} is no backup that this version reads: {error.errors()[0]['loc']} of {MANIFEST} "
            f"{error.errors()[0]['msg']}"
        ) from error
    if found.format != FORMAT:
        raise BackupError(f"{folder} has format {found.format}, this version reads {FORMAT}: use a newer one")
    return found


def entries(folder: Path) -> Iterator[Entry]:
    """Raises `BackupError` for a key that leads out of the storage."""
    with (folder / INDEX).open() as lines:
        for line in lines:
            entry = Entry(**json.loads(line))
            if entry.key.startswith("/") or ".." in entry.key.split("/"):
                raise BackupError(f"{INDEX} names {entry.key!r}, which leads out of the storage")
            yield entry


def require_whole(folder: Path, manifest: Manifest) -> None:
    """Raises `BackupError` unless every file is there, with its bytes."""
    for name, checked in ((DUMP, manifest.database), (INDEX, manifest.index)):
        if checked_file(folder / name) != checked:
            raise BackupError(f"{folder / name} is damaged: its bytes are not those of the manifest")
    for entry in entries(folder):
        path = folder / FILES / entry.key
        if not path.is_file() or checked_file(path) != Checked(num_bytes=entry.num_bytes, sha256=entry.sha256):
            raise BackupError(f"{path} is missing or damaged: its bytes are not those of {INDEX}")


def checked_file(path: Path) -> Checked:
    with path.open("rb") as file:
        return copied(file, None)


def copied(source: IO[bytes], target: IO[bytes] | None) -> Checked:
    """Size and checksum of what was read from `source`, and written to `target` if there is one."""
    num_bytes, found = 0, hashlib.sha256()
    while chunk := source.read(CHUNK_BYTES):
        num_bytes += len(chunk)
        found.update(chunk)
        if target is not None:
            target.write(chunk)
    return Checked(num_bytes=num_bytes, sha256=found.hexdigest())


def migration_digest(name: str) -> str:
    """That of a migration's file, by `app.name`; empty for one of another package. Until 0.1.0 is released migrations
    are rewritten in place, so that the name alone does not tell what the tables are."""
    app, _, file = name.partition(".")
    path = Path(settings.TANDEM_ROOT) / "migrations" / app / f"{file}.py"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
