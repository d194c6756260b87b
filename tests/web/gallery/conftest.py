"""A run with a live driver, an artifact folder of the test's own, uploads, previews and a cluster for their jobs."""

import hashlib
import posixpath
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project, User
from accounts.secrets import hash_secret
from fleet.lane_layout import ensure_local_lanes
from gallery import preview_jobs, previews
from gallery.artifacts import store_artifact
from gallery.models import Artifact, Preview
from runs.models import Attempt, Run
from telemetry.ingest.ingest import ingest
from tests.web.fake_cluster import FakeCluster
from tests.web.valid_files import valid_file
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, IngestBatch

TOKEN = "the driver's token"
LORA_PATH = "adapters/final/pytorch_lora_weights.safetensors"
LORA = valid_file(LORA_PATH, b"tensors")


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
    """`put(path, mark)` stores a file with that mark as a driver does, or exactly these bytes."""

    def store(
        path: str, content: bytes = b"", attempt: int = 1, sha256: str = "", *, is_valid: bool = True
    ) -> Artifact:
        content = valid_file(path, content) if is_valid else content
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
        stored = {"sha256": fields.pop("sha256", "a" * 64), "num_bytes": fields.pop("num_bytes", 6)}
        files = [{"path": posixpath.basename(path), **stored}]
        body = {"batch": 2, "policy_version": 2, "artifact": path, "final": True, "files": files}
        return {"type": "adapter", **body, **stored, **fields}

    return make


@pytest.fixture
def preview_cluster() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def trained(run: Run, put: Callable[..., Any], report: Callable[..., None], adapter_event: Callable[..., Any]) -> Run:
    """The run with a LoRA."""
    put(LORA_PATH, LORA, is_valid=False)
    report(adapter_event(LORA_PATH, sha256=hashlib.sha256(LORA).hexdigest()))
    return run


@pytest.fixture
def preview(trained: Run, alice: User) -> Preview:
    return previews.request_preview(user=alice, run=trained, prompts=["a red circle", " "], num_samples=2, seed=7)


@pytest.fixture
def code_of(preview_cluster: FakeCluster) -> Callable[[Preview], str]:
    """Launch a preview on a pool of one CPU lane; the code that its job carries."""

    def launched(preview: Preview) -> str:
        ensure_local_lanes(num_cpu_lanes=1)
        assert preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)
        return preview_cluster.envs[preview_jobs.job_name(preview.pk)][BOOTSTRAP_CODE_VARIABLE]

    return launched
