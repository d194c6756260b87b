"""A run that reported some of everything that a report shows."""

import hashlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project
from accounts.secrets import hash_secret
from gallery.artifacts import store_artifact
from runs.models import Attempt, Run
from telemetry.ingest.ingest import ingest
from tests.web.valid_files import valid_file
from worker.contracts.ingest import IngestBatch

PIXEL = valid_file("a.png")
"""A picture of one pixel."""
NUM_BATCHES = 4
PROMPT = 'a <b>"red"</b> square & circle'


def _sample(batch: int, prompt: int, member: int) -> dict[str, Any]:
    return {
        "prompt": PROMPT,
        "prompt_id": f"p{prompt}",
        "prompt_index": prompt,
        "member": member,
        "seed": member,
        "artifact": f"samples/b{batch}/{prompt}-{member}.png",
        "rewards": {"shape_match": 0.5},
        "reward": 0.5,
    }


def _events() -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "software", "versions": {"tandem": "0.1.0", "torch": "2.13.0"}},
        {"type": "samples", "purpose": "evaluate", "batch": 0, "policy_version": 0, "samples": [_sample(0, 0, 0)]},
        {"type": "evaluation", "batch": 0, "policy_version": 0, "num_samples": 1, "values": {"reward": 0.25}},
    ]
    for batch in range(1, NUM_BATCHES + 1):
        values = {"reward/mean": 0.1 * batch, "reward/std": 0.05, "speed/batch_seconds": 2.0, "eval/reward": 0.5}
        events.append({"type": "metrics", "batch": batch, "optimizer_step": batch, "values": values})
    spans = [
        {"lane": "rollout-0", "kind": "generate", "start": 10, "end": 13},
        {"lane": "rollout-0", "kind": "idle", "cause": "publish_wait", "start": 13, "end": 14},
        {"lane": "trainer-0", "kind": "idle", "cause": "no_fragment_ready", "start": 10, "end": 12},
        {"lane": "trainer-0", "kind": "train", "start": 12, "end": 14},
    ]
    evaluated = [_sample(NUM_BATCHES, 0, 0)]
    return [
        *events,
        {"type": "spans", "spans": spans},
        {"type": "samples", "purpose": "evaluate", "batch": NUM_BATCHES, "policy_version": 4, "samples": evaluated},
        {"type": "evaluation", "batch": NUM_BATCHES, "policy_version": 4, "num_samples": 1, "values": {"reward": 0.75}},
    ]


@pytest.fixture
def reported(make_run: Callable[..., Run], project: Project, tmp_path: Path, settings: Any) -> Run:
    """A run of alice's project with curves, held-out pictures before and after, and lane time."""
    settings.TANDEM_ARTIFACTS = f"file://{tmp_path}"
    made = make_run(project=project, state="running", attempt=1, name="Squares & <circles>")
    Attempt.objects.create(run=made, number=1, bootstrap_used_at=timezone.now(), token_hash=hash_secret("t"))
    numbered = tuple({"seq": seq, "at": 1e9 + seq, **event} for seq, event in enumerate(_events(), start=1))
    ingest(run_id=made.pk, attempt=1, token="t", batch=IngestBatch(events=numbered))
    for batch in (0, NUM_BATCHES):
        store_picture(made, f"samples/b{batch}/0-0.png", PIXEL)
    made.refresh_from_db()
    return made


def store_picture(run: Run, path: str, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest()
    store_artifact(run_id=run.pk, attempt=1, path=path, source=BytesIO(content), sha256=digest)
