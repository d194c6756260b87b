"""A run with a live driver, and the events that it sends."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project
from accounts.secrets import hash_secret
from runs.models import Attempt, Run
from telemetry.ingest.ingest import ingest
from telemetry.selectors import stream_items
from telemetry.stream_items import Item
from worker.contracts.ingest import IngestAnswer, IngestBatch

TOKEN = "the driver's token"
Event = dict[str, Any]
MakeRun = Callable[..., Run]


@dataclass(frozen=True)
class Driver:
    """One attempt of a run, as its driver sees the web."""

    run: Run
    attempt: int = 1
    token: str = TOKEN

    @property
    def run_id(self) -> uuid.UUID:
        return self.run.pk

    @property
    def items(self) -> list[Item]:
        """The whole stream as it is stored."""
        return stream_items(self.run_id, after_seq=0, limit=1000)

    def send(self, *events: Event) -> IngestAnswer:
        return ingest(run_id=self.run_id, attempt=self.attempt, token=self.token, batch=IngestBatch(events=events))


def open_attempt(run: Run, number: int) -> Driver:
    """Mint attempt `number`, its driver up and known by its token; an earlier one ends."""
    now = timezone.now()
    Attempt.objects.filter(run=run, ended_at=None).update(ended_at=now, outcome="lost")
    Attempt.objects.create(
        run=run, number=number, submitted_at=now, bootstrap_used_at=now, token_hash=hash_secret(TOKEN)
    )
    Run.objects.filter(pk=run.pk).update(attempt=number)
    return Driver(run, number)


@pytest.fixture
def driver(make_run: MakeRun, project: Project) -> Driver:
    """The first attempt of a running run of alice's project."""
    return open_attempt(make_run(project=project, state="running"), 1)


@pytest.fixture
def next_attempt() -> Callable[[Run, int], Driver]:
    return open_attempt


@pytest.fixture
def event() -> Callable[..., Event]:
    """`event(seq, type, **body)`: by default a log line."""

    def make(seq: int, type: str = "log", **body: Any) -> Event:
        if type == "log":
            body = {"level": "info", "source": "driver", "message": f"line {seq}", **body}
        return {"seq": seq, "at": 1_700_000_000.0 + seq, "type": type, **body}

    return make


@pytest.fixture
def metrics(event: Callable[..., Event]) -> Callable[..., Event]:
    def make(seq: int, batch: int, **values: float) -> Event:
        named = {key.replace("__", "/"): value for key, value in values.items()}
        return event(seq, "metrics", batch=batch, optimizer_step=batch * 4, values=named)

    return make


@pytest.fixture
def spans(event: Callable[..., Event]) -> Callable[..., Event]:
    """`spans(seq, (lane, kind, start, end[, cause, batch, group, policy_version, num_samples]), …)`."""

    def make(seq: int, *rows: tuple[Any, ...]) -> Event:
        names = ("lane", "kind", "start", "end", "cause", "batch", "group", "policy_version", "num_samples")
        return event(seq, "spans", spans=[dict(zip(names, row, strict=False)) for row in rows])

    return make
