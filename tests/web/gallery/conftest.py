"""A run with a live driver, an artifact folder of the test's own, uploads, previews and a cluster for their jobs."""

import hashlib
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project, User
from fleet.services import ensure_local_lanes
from gallery import preview_jobs, previews
from gallery.artifacts import store_artifact
from gallery.models import Artifact, Preview
from runs.cluster import ClusterUnavailable, JobStatus
from runs.models import Attempt, Run
from runs.secrets import hash_secret
from telemetry.ingest import ingest
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, IngestBatch
from worker.contracts.lanes import LaneGrant

TOKEN = "the driver's token"
LORA = b"tensors"
LORA_PATH = "adapters/final/pytorch_lora_weights.safetensors"


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
        stored = {"sha256": fields.pop("sha256", "a" * 64), "num_bytes": fields.pop("num_bytes", 6)}
        files = [{"path": posixpath.basename(path), **stored}]
        body = {"batch": 2, "policy_version": 2, "artifact": path, "final": True, "files": files}
        return {"type": "adapter", **body, **stored, **fields}

    return make


@dataclass
class PreviewCluster:
    """A cluster that stores submitted jobs with their lane, code and status, and is unavailable on request."""

    is_away: bool = False
    jobs: dict[str, JobStatus] = field(default_factory=dict)
    envs: dict[str, Mapping[str, str]] = field(default_factory=dict)
    entrypoints: dict[str, str] = field(default_factory=dict)
    lanes: dict[str, LaneGrant | None] = field(default_factory=dict)
    logs: str = ""
    stopped: list[str] = field(default_factory=list)

    def submit(self, submission_id: str, env: Mapping[str, str], *, entrypoint: str, lane: LaneGrant | None) -> None:
        self._answer()
        self.jobs[submission_id] = JobStatus.RUNNING
        self.envs[submission_id], self.entrypoints[submission_id] = env, entrypoint
        self.lanes[submission_id] = lane

    def status(self, submission_id: str) -> JobStatus:
        self._answer()
        return self.jobs.get(submission_id, JobStatus.UNKNOWN)

    def log_tail(self, submission_id: str) -> str:
        self._answer()
        return self.logs

    def stop(self, submission_id: str) -> None:
        self._answer()
        self.stopped.append(submission_id)
        self.jobs[submission_id] = JobStatus.STOPPED

    def _answer(self) -> None:
        if self.is_away:
            raise ClusterUnavailable("no Ray")


@pytest.fixture
def preview_cluster() -> PreviewCluster:
    return PreviewCluster()


@pytest.fixture
def trained(run: Run, put: Callable[..., Any], report: Callable[..., None], adapter_event: Callable[..., Any]) -> Run:
    """The run with a LoRA."""
    put(LORA_PATH, LORA)
    report(adapter_event(LORA_PATH, sha256=hashlib.sha256(LORA).hexdigest()))
    return run


@pytest.fixture
def preview(trained: Run, alice: User) -> Preview:
    return previews.request_preview(user=alice, run=trained, prompts=["a red circle", " "], num_samples=2, seed=7)


@pytest.fixture
def code_of(preview_cluster: PreviewCluster) -> Callable[[Preview], str]:
    """Launch a preview on a pool of one CPU lane; the code that its job carries."""

    def launched(preview: Preview) -> str:
        ensure_local_lanes(num_cpu_lanes=1)
        assert preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)
        return preview_cluster.envs[preview_jobs.job_name(preview.pk)][BOOTSTRAP_CODE_VARIABLE]

    return launched
