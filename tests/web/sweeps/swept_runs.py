"""Plans of sweeps, and drivers that report what a test says of their runs, through the real ingest."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from accounts.secrets import hash_secret
from runs.models import Attempt, Run, Sweep
from telemetry.ingest.ingest import ingest
from telemetry.models import AttemptStream
from tests.web.conftest import small_spec
from worker.contracts.ingest import IngestBatch
from worker.contracts.metric_names import Metric

TOKEN = "the driver's token"
SAMPLES_PER_BATCH = 4
"""Of `small_spec`: 2 prompts × 2 members."""


def plan(**fields: Any) -> dict[str, Any]:
    """Four learning rates, 10 batches each, all at once."""
    return {
        "name": "rates",
        "spec": small_spec(num_batches=10).model_dump(mode="json"),
        "space": {"optimizer.learning_rate": {"kind": "choice", "values": [1e-4, 2e-4, 3e-4, 4e-4]}},
        "max_parallel_runs": 64,
        **fields,
    }


def driven(run: Run) -> Run:
    """The run with a driver that is up."""
    now = timezone.now()
    Attempt.objects.get_or_create(
        run=run, number=1, defaults={"submitted_at": now, "bootstrap_used_at": now, "token_hash": hash_secret(TOKEN)}
    )
    Run.objects.filter(pk=run.pk, state="queued").update(state="running", attempt=1, started_at=now)
    return run


def tell(run: Run, *events: Mapping[str, Any]) -> None:
    """Send events as the run's driver does."""
    stored = AttemptStream.objects.filter(run=run, attempt=1).values_list("high_water", flat=True).first() or 0
    numbered = [{"at": timezone.now().timestamp(), **event, "seq": stored + 1 + n} for n, event in enumerate(events)]
    ingest(run_id=run.pk, attempt=1, token=TOKEN, batch=IngestBatch(events=numbered))


def train(run: Run, rewards: Mapping[int, float], *, ends: str = "") -> None:
    """Report held-out rewards by batch, and the run's end where one is given."""
    driven(run)
    measured = [
        {"type": "metrics", "batch": batch, "optimizer_step": batch, "values": {Metric.EVAL_REWARD.value: reward}}
        for batch, reward in rewards.items()
    ]
    tell(run, *measured, *([{"type": "state", "state": ends}] if ends else []))


def runs_of(sweep: Sweep) -> list[Run]:
    """Its runs by point, then by seed."""
    return list(
        Run.objects.filter(sweep_place__point__sweep=sweep).order_by("sweep_place__point__number", "sweep_place__seed")
    )
