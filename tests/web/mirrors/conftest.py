"""A run whose driver reports metrics and pictures, mirrors of its project, and a round of mirroring."""

import hashlib
import io
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from PIL import Image

from accounts.models import Project, User
from accounts.secrets import hash_secret
from catalog.mirror_services import create_mirror
from catalog.models import Mirror, MirrorKind
from gallery.artifacts import store_artifact
from mirrors.backends.session_words import ANSWER_FILE
from mirrors.mirror_rounds import mirror_due
from mirrors.models import MirroredRun
from runs.attempts.attempts import close
from runs.models import Attempt, AttemptOutcome, Run
from telemetry.ingest.ingest import ingest
from telemetry.models import MetricPoint
from tests.web.conftest import MakeRun
from worker.contracts.ingest import IngestBatch

TOKEN = "the driver's token"
PIXELS = 8

MakeMirror = Callable[..., Mirror]
Points = set[tuple[str, int, float]]
"""Key, batch, value."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> Path:
    settings.TANDEM_VAR = tmp_path
    settings.TANDEM_ARTIFACTS = f"file://{tmp_path / 'artifacts'}"
    return tmp_path


@pytest.fixture
def make_mirror(alice: User, project: Project) -> MakeMirror:
    def make(kind: MirrorKind = MirrorKind.TENSORBOARD, **fields: Any) -> Mirror:
        wanted = {"user": alice, "project": project, "name": kind.value, "place": "shapes", **fields}
        return create_mirror(kind=kind, **wanted)

    return make


class Driver:
    """Reports as a run's driver does."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._begin(1)

    def _begin(self, attempt: int) -> None:
        now = timezone.now()
        Attempt.objects.create(
            run=self.run, number=attempt, submitted_at=now, bootstrap_used_at=now, token_hash=hash_secret(TOKEN)
        )
        self.attempt, self._seqs = attempt, itertools.count(1)

    def begin_next_attempt(self) -> None:
        """As after its driver was lost."""
        close(self.run.pk, self.attempt, AttemptOutcome.LOST, detail="the node went away")
        self.run.attempt += 1
        self.run.save(update_fields=["attempt"])
        self._begin(self.run.attempt)

    def report(self, *events: dict[str, Any]) -> None:
        numbered = [
            {"seq": (seq := next(self._seqs)), "at": 1.7e9 + self.attempt * 1000 + seq, **event} for event in events
        ]
        ingest(run_id=self.run.pk, attempt=self.attempt, token=TOKEN, batch=IngestBatch(events=tuple(numbered)))

    def train(self, *batches: int) -> None:
        """Metrics of each of the batches, which differ by attempt."""
        values = {"reward/mean": 0.1, "policy/loss": -2.5e-3}
        self.report(
            *(
                {
                    "type": "metrics",
                    "batch": batch,
                    "optimizer_step": batch * 4,
                    "values": {key: value * (batch + self.attempt / 8) for key, value in values.items()},
                }
                for batch in batches
            )
        )

    def sample(self, batch: int, *, num: int = 2, **fields: Any) -> list[str]:
        """The paths of pictures of an evaluation, which are not uploaded yet."""
        paths = [f"samples/{batch}/{member}.png" for member in range(num)]
        told = {"prompt": "a red square", "prompt_id": "p0", "prompt_index": 0, "rewards": {"shape_match": 0.5}}
        samples = [
            {**told, "member": member, "seed": member, "artifact": path, "reward": 0.5}
            for member, path in enumerate(paths)
        ]
        body = {"type": "samples", "purpose": "evaluate", "batch": batch, "policy_version": batch, "samples": samples}
        self.report({**body, **fields})
        return paths

    def upload(self, paths: list[str]) -> list[bytes]:
        contents = [picture(number) for number, _ in enumerate(paths)]
        for path, content in zip(paths, contents, strict=True):
            digest = hashlib.sha256(content).hexdigest()
            store_artifact(run_id=self.run.pk, attempt=self.attempt, path=path, source=BytesIO(content), sha256=digest)
        return contents


def picture(number: int) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (PIXELS, PIXELS), (40 * number, 90, 200)).save(written, "PNG")
    return written.getvalue()


@pytest.fixture
def driver(make_run: MakeRun, project: Project) -> Driver:
    return Driver(make_run(project, state="running", attempt=1, name="Red squares"))


def stored_points(run: Run) -> Points:
    """What the platform itself shows."""
    return {(point.key, point.batch, point.value) for point in MetricPoint.objects.filter(run=run)}


def round_now() -> MirroredRun:
    """A round in which everything is due; the one row there is."""
    MirroredRun.objects.filter(next_at__isnull=False).update(next_at=timezone.now())
    mirror_due()
    return MirroredRun.objects.get()


def round_killed_when(is_time: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> MirroredRun:
    """A round whose session is killed as soon as `is_time`. It cannot answer before: its answer goes into a pipe that
    nobody reads."""

    class Killed(subprocess.Popen[bytes]):
        def __init__(self, argv: list[str], *, cwd: Path, **options: Any) -> None:
            os.mkfifo(cwd / ANSWER_FILE)
            super().__init__(argv, cwd=cwd, **options)

        def wait(self, timeout: float | None = None) -> int:
            while timeout is not None and self.poll() is None and not is_time():
                time.sleep(0.01)
            self.send_signal(signal.SIGKILL)
            return super().wait()

    with monkeypatch.context() as patched:
        patched.setattr("mirrors.sessions.subprocess.Popen", Killed)
        row = round_now()
    assert row.error == f"its process was ended by signal {signal.SIGKILL}"
    return row
