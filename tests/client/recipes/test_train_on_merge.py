"""Train on each merge: the steps of the page's workflow, as GitHub's runner runs them."""

import hashlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project, User
from accounts.secrets import hash_secret
from fleet.lane_layout import ensure_local_lanes
from gallery.artifacts import store_artifact
from runs.models import Attempt, Run
from runs.queue.dispatch import dispatch_waiting
from telemetry.ingest.ingest import ingest
from tests.client.recipes.pages import read_page, workflow_job
from tests.client.recipes.reader import Reader
from tests.client.recipes.served_application import Served
from tests.web.gallery.conftest import LORA, LORA_PATH, TOKEN
from worker.contracts.ingest import IngestBatch

pytestmark = pytest.mark.django_db
SHA = "8f73435b"
Steps = dict[str, str]


@pytest.fixture
def runner(
    reader_as: Callable[..., Reader], alice: User, project: Project, make_spec: Callable[..., Any]
) -> tuple[Reader, Steps]:
    """A checkout with a spec, and the commands of the named steps, with the workflow's variables."""
    reader, page = reader_as(alice, scopes=frozenset({"read", "run"})), read_page("train_on_merge")
    reader.fill_in(page)
    (workflow,) = page.files.values()
    known = {"secrets.TANDEM_TOKEN": reader.environment["TANDEM_TOKEN"], "github.sha": SHA}
    variables, steps = workflow_job(workflow, known)
    reader.environment |= variables | {"TANDEM_URL": reader.environment["TANDEM_URL"]}
    (reader.folder / "training").mkdir()
    (reader.folder / "training" / "my_run.yaml").write_text(make_spec().to_yaml())
    return reader, steps


def report(run: Run, *events: dict[str, Any]) -> None:
    numbered = tuple({"seq": seq, "at": 1e9 + seq, **event} for seq, event in enumerate(events, start=1))
    ingest(run_id=run.pk, attempt=1, token=TOKEN, batch=IngestBatch.model_validate({"events": numbered}))


def started(served: Served) -> Run:
    """The run that the step has created, dispatched, with a driver that has taken its code."""
    served.wait_until(lambda: Run.objects.filter(name=f"main-{SHA}").exists())
    with served.alone:
        ensure_local_lanes(num_cpu_lanes=3)
        dispatch_waiting()
        now = timezone.now()
        Attempt.objects.update(submitted_at=now, bootstrap_used_at=now, token_hash=hash_secret(TOKEN))
        return Run.objects.get()


def evaluation(batch: int, reward: float) -> dict[str, Any]:
    values = {"reward": reward, "reward/shape_match": reward}
    return {"type": "evaluation", "batch": batch, "policy_version": batch, "num_samples": 4, "values": values}


def trained(rewards: tuple[float, float]) -> Iterator[dict[str, Any]]:
    """What a driver reports of a whole run; its LoRA is uploaded."""
    digest = hashlib.sha256(LORA).hexdigest()
    yield {"type": "state", "state": "running"}
    yield evaluation(0, rewards[0])
    yield evaluation(2, rewards[1])
    file = {"path": Path(LORA_PATH).name, "sha256": digest, "num_bytes": len(LORA)}
    stored = {"artifact": LORA_PATH, "sha256": digest, "num_bytes": len(LORA), "files": [file]}
    yield {"type": "adapter", "batch": 2, "policy_version": 2, "final": True, **stored}
    yield {"type": "state", "state": "completed"}


def test_a_merge_trains_and_keeps_the_lora_and_the_report(served: Served, runner: tuple[Reader, Steps]) -> None:
    reader, steps = runner
    watching = reader.begin_step(steps["Train"])
    run = started(served)
    with served.alone:
        digest = hashlib.sha256(LORA).hexdigest()
        store_artifact(run_id=run.pk, attempt=1, path=LORA_PATH, source=BytesIO(LORA), sha256=digest)
        report(run, *trained((0.2, 0.7)))
    assert "completed" in reader.end(watching)
    reader.end(reader.begin_step(steps["The held-out reward has risen"]))
    reader.end(reader.begin_step(steps["Keep the LoRA and the report"]))
    kept = {path.name for path in (reader.folder / "trained").iterdir()}
    assert kept == {"pytorch_lora_weights.safetensors", "report.html"}
    run.refresh_from_db()
    assert run.tags == ["ci"]


def test_a_job_is_red_where_the_run_fails_or_the_reward_falls(served: Served, runner: tuple[Reader, Steps]) -> None:
    reader, steps = runner
    watching = reader.begin_step(steps["Train"])
    run = started(served)
    with served.alone:
        failure = {"type": "state", "state": "failed", "reason": "out of memory"}
        report(run, {"type": "state", "state": "running"}, evaluation(0, 0.4), evaluation(1, 0.3), failure)
    assert "out of memory" in reader.end(watching, code=10)
    reader.end(reader.begin_step(steps["The held-out reward has risen"]), code=1)


def test_a_cancelled_job_stops_its_run(served: Served, runner: tuple[Reader, Steps]) -> None:
    reader, steps = runner
    reader.begin_step(steps["Train"])
    run = started(served)
    with served.alone:
        report(run, {"type": "state", "state": "running"})
    reader.end(reader.begin_step(steps["Stop the run of a job that was cancelled"]))
    run.refresh_from_db()
    assert run.state == "stopping"
