"""An installation with a run, a log of events and artifacts; and an empty one beside it, to restore into."""

import hashlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from accounts.secrets import hash_secret
from gallery.artifacts import store_artifact
from gallery.models import Artifact
from runs.models import Attempt, Run
from telemetry.ingest.ingest import ingest
from tests.web.conftest import MakeRun
from tests.web.valid_files import valid_file
from worker.contracts.ingest import IngestBatch

TOKEN = "the driver's token"
Elsewhere = Callable[[], Any]


@pytest.fixture
def artifact_folder(tmp_path: Path, settings: Any) -> Path:
    folder = tmp_path / "artifacts"
    settings.TANDEM_ARTIFACTS = f"file://{folder}"
    return folder


@pytest.fixture
def run(transactional_db: None, make_run: MakeRun, alice: User, artifact_folder: Path) -> Run:
    """With a live driver, some of whose events and pictures are stored."""
    made = make_run(state="running", attempt=1)
    now = timezone.now()
    Attempt.objects.create(run=made, number=1, submitted_at=now, bootstrap_used_at=now, token_hash=hash_secret(TOKEN))
    for number in range(1, 4):
        report(made, number)
        upload(made, f"samples/{number}.png")
    return made


def report(run: Run, seq: int) -> None:
    log = {"seq": seq, "at": 1e9 + seq, "type": "log", "level": "info", "source": "driver", "message": f"line {seq}"}
    ingest(run_id=run.pk, attempt=1, token=TOKEN, batch=IngestBatch(events=(log,)))


def upload(run: Run, path: str) -> Artifact:
    content = valid_file(path, path.encode())
    digest = hashlib.sha256(content).hexdigest()
    return store_artifact(run_id=run.pk, attempt=1, path=path, source=BytesIO(content), sha256=digest)


@pytest.fixture
def elsewhere(transactional_db: None, tmp_path: Path, settings: Any) -> Elsewhere:
    """A block in which the database is an empty one, and so is the storage of artifacts."""

    @contextmanager
    def use() -> Iterator[None]:
        first, name = connection.settings_dict["NAME"], f"restored_{secrets.token_hex(4)}"
        artifacts, settings.TANDEM_ARTIFACTS = settings.TANDEM_ARTIFACTS, f"file://{tmp_path / name}"
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
        try:
            use_database(name)
            yield
        finally:
            use_database(first)
            settings.TANDEM_ARTIFACTS = artifacts
            with connection.cursor() as cursor:
                cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")

    return use


def use_database(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def digests() -> dict[str, str]:
    """Of each table's rows, as the connection sees them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        tables = [table for (table,) in cursor.fetchall() if table != "django_session"]
        found = {}
        for table in tables:
            cursor.execute(
                f"SELECT md5(coalesce(string_agg(row::text, chr(10) ORDER BY row::text), '')) FROM \"{table}\" row"
            )
            found[table] = cursor.fetchone()[0]
    return found
