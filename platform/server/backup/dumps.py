"""PostgreSQL's own tools: a dump of one moment, and its restoration as one transaction."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection, transaction

from server.backup.backup_folder import BackupError
from server.embedded.postgres import pg_bin

LEFT_OUT = ("django_session",)
"""Tables whose rows are not kept: a restored session would let in again whoever has logged out since."""
MAX_SAID = 2000
"""Characters of what a tool wrote, at its end."""


@contextmanager
def snapshot() -> Iterator[str]:
    """The name of the database's present state, which other connections can read while the block lasts."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        yield cursor.fetchone()[0]


def dump_database(target: Path, snapshot_name: str) -> None:
    """Raises `BackupError` with what pg_dump said."""
    command = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot_name}", f"--file={target}"]
    finished = subprocess.run(
        [tool("pg_dump"), *command, *(f"--exclude-table-data={table}" for table in LEFT_OUT)],
        env=_environment(),
        capture_output=True,
        text=True,
    )
    if finished.returncode != 0:
        raise BackupError(f"pg_dump failed: {finished.stderr.strip()[-MAX_SAID:]}")


def load_dump(source: Path) -> None:
    """Replace the whole database by the dump, or change nothing.

    The end of the transaction is sent only once pg_restore has written everything: a tool that dies halfway rolls back.

    Raises:
        BackupError: with what the tools said.
    """
    psql = subprocess.Popen(
        [tool("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null", "--file=-"],
        env=_environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert psql.stdin is not None and psql.stderr is not None
    try:
        psql.stdin.write(b"BEGIN; DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n")
        psql.stdin.flush()
        script = subprocess.run(
            [tool("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(source)],
            env=_environment(),
            stdout=psql.stdin,
            stderr=subprocess.PIPE,
        )
        if script.returncode == 0:
            psql.stdin.write(b"\nCOMMIT;\n")
        psql.stdin.close()
    except BrokenPipeError:
        script = None
    said = psql.stderr.read().decode(errors="replace").strip()
    if psql.wait() != 0 or script is None:
        raise BackupError(f"psql refused the dump, and nothing was changed: {said[-MAX_SAID:]}")
    if script.returncode != 0:
        said = script.stderr.decode(errors="replace").strip()
        raise BackupError(f"pg_restore failed, and nothing was changed: {said[-MAX_SAID:]}")


def num_tables() -> int:
    """Of the database, whosever they are."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        return int(cursor.fetchone()[0])


def num_other_connections() -> int:
    """How many others are connected to the database now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        )
        return int(cursor.fetchone()[0])


def tool(name: str) -> str:
    """The path of one of PostgreSQL's programs. Raises `BackupError` where it is missing."""
    path = pg_bin() / name
    if not path.exists():
        raise BackupError(f"{path} is missing: let TANDEM_PG_BIN name the folder of PostgreSQL's programs")
    return str(path)


def _environment() -> dict[str, str]:
    """What leads libpq to Django's database. A password stands in no argument, which other users could list."""
    connection.ensure_connection()
    info = connection.connection.info
    given = {"PGHOST": info.host, "PGPORT": str(info.port), "PGUSER": info.user, "PGDATABASE": info.dbname}
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PGSSLMODE", "PGSSLROOTCERT") if name in os.environ}
    return {**kept, **given, "PGPASSWORD": info.password}
