"""Restores a backup: everything is checked first, artifacts are stored under their keys, then the database is replaced
in one transaction. Invariant: the database is the one before or the backup's, never a part of it."""

import os
from pathlib import Path

from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader

from accounts import encryption
from accounts.models import User
from audit.record import record
from gallery import storage
from server import environment
from server.backup.backup_folder import (
    DUMP,
    FILES,
    KEY,
    BackupError,
    Manifest,
    entries,
    migration_digest,
    read_manifest,
    require_whole,
)
from server.backup.dumps import load_dump, num_other_connections, num_tables
from server.backup.taking_backups import KEY_CHECK, Say
from server.stack.database_check import check_database


def restore_backup(source: Path, *, replace: bool = False, without_secrets: bool = False, say: Say = print) -> Manifest:
    """Restore the backup in the folder `source`.

    Args:
        replace: whether a database that holds tables may be replaced.
        without_secrets: go on though `SECRET_KEY` is another one, so that stored secrets must be entered again.
        say: is told what happens.

    Raises:
        BackupError: the database was not changed.
        CannotStartError: it was, and its tables are not those of this version.
    """
    manifest = read_manifest(source)
    _require_known(manifest)
    key = _key_to_keep(source, manifest)
    if key is None and not without_secrets:
        _require_same_key(manifest)
    _require_free(replace)
    say(f"Checking {manifest.num_files} artifacts and the dump …")
    require_whole(source, manifest)
    say("Storing the artifacts …")
    for entry in entries(source):
        with (source / FILES / entry.key).open("rb") as file:
            storage.write(entry.key, file, entry.sha256)
    say("Loading the database …")
    load_dump(source / DUMP)
    if key is not None:
        _keep(key)
    call_command("migrate", interactive=False, verbosity=0)
    check_database()
    record(
        "installation.restore", User(), user=None, actor="manage.py restore", object_id="", taken_at=manifest.taken_at
    )
    return manifest


def _require_known(manifest: Manifest) -> None:
    """Raises `BackupError` for a backup of a newer version, or of an unreleased one."""
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if newer := sorted(set(manifest.migrations) - known):
        raise BackupError(f"the backup is of a version with the migration {newer[0]}, which this one lacks: use it")
    for name, digest in manifest.migrations.items():
        if digest != migration_digest(name):
            raise BackupError(
                f"the backup is of an unreleased version whose migration {name} was another: restore it with that one"
            )


def _key_to_keep(source: Path, manifest: Manifest) -> str | None:
    """The backup's key, where the environment has none of its own."""
    return (source / KEY).read_text() if manifest.has_key and not environment.env.str("SECRET_KEY", "") else None


def _require_same_key(manifest: Manifest) -> None:
    try:
        is_same = encryption.decrypt(manifest.key_check) == KEY_CHECK
    except encryption.CannotDecrypt:
        is_same = False
    if not is_same:
        raise BackupError(
            "`SECRET_KEY` is not that of the backup: tokens of scorers, mirrors and webhooks and second factors could "
            "not be read. Set it, or go on with --without-secrets and enter them again"
        )


def _require_free(replace: bool) -> None:
    if (num_others := num_other_connections()) > 0:
        raise BackupError(f"{num_others} others are connected to the database: stop the web and its workers first")
    if num_tables() > 0 and not replace:
        raise BackupError("the database is not empty: name another one, or replace all that is in it with --replace")


def _keep(key: str) -> None:
    """Write the key where the installation looks for it. One that lies there is kept beside it."""
    path = environment.VAR / "secret-key"
    if path.exists() and path.read_text() != key:
        path.rename(path.with_name("secret-key.before-restore"))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(key)
