"""A run's spec is validated once per request or task: it was checked at the border and never changes."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from runs.attempts.bootstrap import trade_code
from runs.attempts.launch import launch
from runs.attempts.reconciler import Reconciler
from runs.cluster import JobStatus
from runs.models import Attempt, Run
from runs.queue.dispatch import dispatch_waiting
from telemetry.ingest.ingest import ingest
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, IngestBatch
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db


@pytest.fixture
def validated(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often each spec was validated, by its seed."""
    counts: Counter[int] = Counter()
    validate = RunSpec.model_validate

    def counted(document: Any, *args: Any, **kwargs: Any) -> RunSpec:
        spec = validate(document, *args, **kwargs)
        counts[spec.seed] += 1
        return spec

    monkeypatch.setattr(RunSpec, "model_validate", counted)
    return counts


@pytest.fixture
def queued(make_run: Callable[..., Run], make_spec: Callable[..., RunSpec], project: Project) -> list[Run]:
    ensure_local_lanes(num_cpu_lanes=9)
    return [make_run(project, spec=make_spec(seed=seed)) for seed in (1, 2, 3)]


def test_a_queue_is_dispatched_with_one_validation_a_run(queued: list[Run], validated: Counter[int]) -> None:
    assert len(dispatch_waiting()) == 3
    assert validated == {1: 1, 2: 1, 3: 1}


def test_pages_and_lists_validate_at_most_once_a_run(
    queued: list[Run], validated: Counter[int], alice: User, project: Project
) -> None:
    client = APIClient()
    client.force_authenticate(alice)
    for path in ("/api/v1/runs", f"/api/v1/runs/{queued[0].pk}", f"/api/v1/runs/{queued[0].pk}/plan"):
        validated.clear()
        assert client.get(path).status_code == 200
        assert set(validated.values()) <= {1}, path


def test_a_new_run_is_validated_once(
    alice: User, project: Project, make_spec: Callable[..., RunSpec], validated: Counter[int]
) -> None:
    client = APIClient()
    client.force_authenticate(alice)
    ensure_local_lanes(num_cpu_lanes=3)
    spec = make_spec(seed=11).model_dump(mode="json")
    validated.clear()
    made = client.post("/api/v1/runs", {"project": str(project.pk), "name": "r", "spec": spec})
    assert (made.status_code, validated) == (201, {11: 1})


def test_launch_and_bootstrap_validate_once_each(queued: list[Run], validated: Counter[int], cluster: Any) -> None:
    dispatch_waiting()
    run = queued[0]
    validated.clear()
    assert launch(run_id=run.pk, number=1, gateway=cluster)
    assert validated == {1: 1}
    validated.clear()
    trade_code(cluster.envs[Attempt.objects.get(run=run).submission_id][BOOTSTRAP_CODE_VARIABLE])
    assert validated == {1: 1}


def test_a_post_of_many_events_validates_at_most_once(
    live_run: Callable[..., Attempt], make_spec: Callable[..., RunSpec], validated: Counter[int]
) -> None:
    attempt = live_run(spec=make_spec(seed=4))
    cost = {"lane": "gang", "kind": "commit", "per_call": 0.0, "per_unit": 0.1, "observed_units": [1, 1]}
    bodies: list[dict[str, Any]] = [{"type": "costs", "batch": 3, "costs": [cost]}] * 3
    bodies.append({"type": "state", "state": "failed", "reason": "loss is not finite", "details": "trace"})
    events = tuple({"seq": seq, "at": 1.0, **body} for seq, body in enumerate(bodies, start=1))
    validated.clear()
    ingest(run_id=attempt.run_id, attempt=1, token="the run's token", batch=IngestBatch(events=events))
    attempt.run.refresh_from_db()
    assert (attempt.run.state, validated[4]) == ("failed", 1)


def test_a_lost_driver_costs_at_most_one_validation(
    live_run: Callable[..., Attempt],
    make_spec: Callable[..., RunSpec],
    reconciler: Reconciler,
    cluster: Any,
    validated: Counter[int],
) -> None:
    attempt = live_run(spec=make_spec(seed=5, max_attempts=1))
    cluster.jobs[attempt.submission_id], cluster.logs = JobStatus.FAILED, "killed"
    validated.clear()
    reconciler.tick()
    attempt.run.refresh_from_db()
    assert (attempt.run.state, validated[5]) == ("failed", 1)
