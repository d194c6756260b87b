"""Runs that ended some days ago, with some of everything; each kind of data is kept for a week."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project
from gallery.artifacts import store_artifact
from gallery.models import Sample
from retention.kinds import KINDS
from runs.models import Run, RunLogEntry
from telemetry.models import MetricPoint, SpanRow, StreamItem
from tests.web.api.conftest import client_of, pool_admin  # noqa: F401
from tests.web.conftest import MakeRun
from tests.web.valid_files import valid_file

NUM_SPANS = 7
LEFT = ["adapters/final/pytorch_lora_weights.safetensors"]
EndedRun = Callable[..., Run]


@pytest.fixture(autouse=True)
def kept_for_a_week(settings: Any, tmp_path: Path) -> None:
    settings.TANDEM_ARTIFACTS = f"file://{tmp_path}"
    for data in KINDS.values():
        setattr(settings, data.setting, 7)


@pytest.fixture
def ended_run(make_run: MakeRun, project: Project) -> EndedRun:
    """A run that ended so many days ago, with some of everything."""

    def make(days: float = 8) -> Run:
        ended_at = timezone.now() - timedelta(days=days)
        run = make_run(project=project, state="completed", attempt=1, ended_at=ended_at)
        fill(run)
        return run

    return make


def fill(run: Run) -> None:
    of_run: dict[str, Any] = {"run": run, "attempt": 1}
    SpanRow.objects.bulk_create(
        SpanRow(**of_run, stream_seq=1, lane="trainer-0", kind="train", start=float(n), end=n + 1.0)
        for n in range(NUM_SPANS)
    )
    SpanRow.objects.create(**of_run, stream_seq=1, lane="trainer-0", kind="lent_generate", start=9.0, end=10.0)
    for seq, kind in enumerate(("spans", "metrics", "samples", "evaluation"), start=1):
        StreamItem.objects.create(**of_run, stream_seq=seq, seq=seq, type=kind, at=1e9, body={})
    of_run |= {"stream_seq": 5}
    MetricPoint.objects.create(**of_run, key="reward/mean", batch=1, optimizer_step=1, at=1e9, value=0.5)
    RunLogEntry.objects.create(**of_run, at=1e9, type="log", level="info", source="driver", text="a line")
    RunLogEntry.objects.create(**of_run | {"stream_seq": 6}, at=1e9, type="state", level="info", source="web", text="x")
    picture = {"prompt": "a", "prompt_id": "1", "prompt_index": 0, "member": 0, "seed": 1, "rewards": {}}
    where = {"artifact_path": "pictures/1.webm", "poster_path": "pictures/1.png", "purpose": "train"}
    Sample.objects.create(**of_run, batch=1, policy_version=1, **picture, **where)
    for path in ("pictures/1.webm", "pictures/1.png", "schedule/000001.json.gz", *LEFT):
        upload(run, path)


def upload(run: Run, path: str) -> None:
    content = valid_file(path)
    digest = hashlib.sha256(content).hexdigest()
    store_artifact(run_id=run.pk, attempt=1, path=path, source=BytesIO(content), sha256=digest)
