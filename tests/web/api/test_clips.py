"""Clips over REST: distinguished from pictures, shown by a poster, played in parts."""

import hashlib
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from accounts.secrets import hash_secret
from gallery import previews
from gallery.artifacts import store_artifact
from gallery.models import Adapter, Preview
from runs.models import Attempt, Run
from telemetry.ingest.ingest import ingest
from tests.web.valid_files import valid_file
from worker.contracts.ingest import IngestBatch

pytestmark = pytest.mark.django_db
WEIGHTS = "pytorch_lora_weights.safetensors"
MARKS = {"samples/b1/0-0.webm": bytes(9000), "samples/b1/0-0.png": b"poster", "samples/b1/0-1.png": b"picture"}
FILES = {path: valid_file(path, mark) for path, mark in MARKS.items()}
WEIGHTS_BYTES, CLIP = valid_file(WEIGHTS, b"weights"), valid_file("a.webm", b"clip")


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project, tmp_path: Any, settings: Any) -> Run:
    """A run that reported a clip and a picture."""
    settings.TANDEM_ARTIFACTS = f"file://{tmp_path}"
    made = make_run(project=project, state="running", attempt=1)
    Attempt.objects.create(run=made, number=1, bootstrap_used_at=timezone.now(), token_hash=hash_secret("t"))
    info: dict[str, Any] = {
        "prompt": "a wave",
        "prompt_id": "wave",
        "prompt_index": 0,
        "seed": 1,
        "rewards": {},
        "reward": 0.5,
    }
    samples = [
        {**info, "member": 0, "artifact": "samples/b1/0-0.webm", "poster": "samples/b1/0-0.png"},
        {**info, "member": 1, "artifact": "samples/b1/0-1.png"},
    ]
    event = {"type": "samples", "purpose": "train", "batch": 1, "policy_version": 1, "samples": samples}
    ingest(run_id=made.pk, attempt=1, token="t", batch=IngestBatch(events=({"seq": 1, "at": 1.0, **event},)))
    for path, content in FILES.items():
        digest = hashlib.sha256(content).hexdigest()
        store_artifact(run_id=made.pk, attempt=1, path=path, source=BytesIO(content), sha256=digest)
    return made


@pytest.fixture
def preview(run: Run, alice: User) -> Preview:
    digest = hashlib.sha256(WEIGHTS_BYTES).hexdigest()
    store_artifact(run_id=run.pk, attempt=1, path=WEIGHTS, source=BytesIO(WEIGHTS_BYTES), sha256=digest)
    file = {"path": WEIGHTS, "sha256": digest, "num_bytes": len(WEIGHTS_BYTES)}
    Adapter.objects.create(
        run=run,
        stream_seq=2,
        attempt=1,
        batch=1,
        policy_version=1,
        artifact_path=WEIGHTS,
        sha256=digest,
        num_bytes=7,
        files=[file],
        at=1.0,
    )
    return previews.request_preview(user=alice, run=run, prompts=["a wave"], num_samples=1)


def test_each_sample_has_its_media_type(api: APIClient, run: Run) -> None:
    clip, picture = api.get(f"/api/v1/runs/{run.pk}/samples").json()["results"]
    assert (clip["media_type"], picture["media_type"]) == ("video/webm", "image/png")
    assert picture["clip_url"] is None
    assert clip["image_url"].startswith("data:image/png;base64,"), "the poster is small enough to come along"


def test_a_clip_is_played_in_parts(api: APIClient, run: Run) -> None:
    clip = api.get(f"/api/v1/runs/{run.pk}/samples").json()["results"][0]
    whole = api.get(clip["clip_url"])
    assert (whole.status_code, whole.headers["Content-Type"], whole.headers["Accept-Ranges"]) == (
        200,
        "video/webm",
        "bytes",
    )
    assert "Content-Disposition" not in whole.headers
    part = api.get(clip["clip_url"], headers={"Range": "bytes=8000-"})
    assert (part.status_code, len(part.getvalue())) == (206, len(FILES["samples/b1/0-0.webm"]) - 8000)


def test_a_preview_of_a_video_model_answers_with_clips(api: APIClient, run: Run, preview: Preview) -> None:
    for name in ("base-0-0.webm", "lora-0-0.webm"):
        previews.store_image(preview, name, BytesIO(CLIP), hashlib.sha256(CLIP).hexdigest())
    (body,) = api.get(f"/api/v1/runs/{run.pk}/previews").json()
    (sample,) = body["samples"]
    assert (sample["media_type"], sample["image_url"]) == ("video/webm", None)
    played = api.get(sample["clip_url"])
    assert (played.getvalue(), played.headers["Content-Type"]) == (CLIP, "video/webm")
    assert api.get(sample["clip_url"].replace(".webm", ".png")).status_code == 404
