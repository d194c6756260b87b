"""A run with a live driver, an artifact folder of the test's own, and uploads."""

import hashlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project
from gallery.artifacts import store_artifact
from gallery.models import Artifact
from runs.models import Attempt, Run
from runs.secrets import hash_secret
from telemetry.ingest import ingest
from worker.contracts.ingest import IngestBatch

TOKEN = "the driver's token"


@pytest.fixture(autouse=True)
def artifact_folder(tmp_path: Path, settings: Any) -> Path:
    folder = tmp_path / "artifacts"
    settings.TANDEM_ARTIFACTS = f"file://{folder}"
    return folder


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project) -> Run:
    """A running run of alice's project; its driver's token is `TOKEN`."""
    made = make_run(project=project, state="running", attempt=1)
    now = timezone.now()
    Attempt.objects.create(run=made, number=1, submitted_at=now, bootstrap_used_at=now, token_hash=hash_secret(TOKEN))
    return made


@pytest.fixture
def put(run: Run) -> Callable[..., Artifact]:
    """`put(path, content)` stores as a driver does."""

    def store(path: str, content: bytes = b"pixels", attempt: int = 1, sha256: str = "") -> Artifact:
        digest = sha256 or hashlib.sha256(content).hexdigest()
        return store_artifact(run_id=run.pk, attempt=attempt, path=path, source=BytesIO(content), sha256=digest)

    return store


@pytest.fixture
def report(run: Run) -> Callable[..., None]:
    """`report(event, …)`: the driver's events, numbered from 1; the attempt's are sent at once."""

    def send(*events: dict[str, Any]) -> None:
        numbered = [{"seq": seq, "at": 1e9 + seq, **event} for seq, event in enumerate(events, start=1)]
        ingest(run_id=run.pk, attempt=1, token=TOKEN, batch=IngestBatch(events=tuple(numbered)))

    return send


@pytest.fixture
def adapter_event() -> Callable[..., dict[str, Any]]:
    def make(path: str = "adapters/final/pytorch_lora_weights.safetensors", **fields: Any) -> dict[str, Any]:
        body = {"batch": 2, "policy_version": 2, "artifact": path, "sha256": "a" * 64, "num_bytes": 6, "final": True}
        return {"type": "adapter", **body, **fields}

    return make
