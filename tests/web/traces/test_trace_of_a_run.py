"""One trace holds a run from the request that made it to its optimizer steps."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Project
from fleet.lane_layout import ensure_local_lanes
from runs.attempts.launch import launch
from runs.models import Run
from runs.queue.dispatch import dispatch_waiting
from tests.trace_collector import Collector, attributes
from tests.web.fake_cluster import FakeCluster
from tests.web.traces.conftest import received
from worker.contracts.ingest import BOOTSTRAP_PATH, EVENTS_PATH
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SECRET = "tandem_secret_in_a_query"
COMMITTED = Callable[..., Any]


def report(driver: Client, run: Run, token: str, started: float) -> None:
    """What a driver sends of a batch of two optimizer steps, and of the run's end."""
    worked = {"batch": 0, "start": started, "end": started + 2.0}
    spans = [
        {"lane": "rollout-0", "kind": "generate", "group": 1, "fragment": 0, "policy_version": 0, **worked},
        {"lane": "reward-0", "kind": "score", **worked},
        {"lane": "trainer-0", "kind": "train", **worked, "start": started + 1.0},
        {"lane": "trainer-0", "kind": "idle", "cause": "batch_barrier", "start": started, "end": started + 1.0},
    ]
    bodies: list[dict[str, Any]] = [
        {"type": "spans", "spans": spans},
        *(
            {"type": "metrics", "batch": 1, "optimizer_step": step, "values": {"policy/learning_rate": 1e-3}}
            for step in (1, 2)
        ),
        {"type": "metrics", "batch": 1, "optimizer_step": 2, "values": {"speed/batch_seconds": 4.0}},
        {"type": "state", "state": "completed"},
    ]
    events = [{"seq": n, "at": started + 1.0 + n / 2, **body} for n, body in enumerate(bodies, start=1)]
    path = EVENTS_PATH.format(run=run.pk, attempt=1)
    headers = {"Authorization": f"Bearer {token}"}
    answer = driver.post(path, json.dumps({"events": events}), content_type="application/json", headers=headers)
    assert answer.status_code == 200, answer.content


def test_a_trace_goes_from_the_request_to_the_optimizer_step(
    traced: Collector,
    api: APIClient,
    client: Client,
    project: Project,
    make_spec: Callable[..., RunSpec],
    django_capture_on_commit_callbacks: COMMITTED,
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    cluster = FakeCluster()
    body = {"project": str(project.pk), "name": "traced", "spec": make_spec().model_dump(mode="json")}
    with django_capture_on_commit_callbacks(execute=True):
        headers = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
        created = api.post("/api/v1/runs", body, format="json", headers=headers)
    assert created.status_code == 201, created.content
    run = Run.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        assert len(dispatch_waiting()) == 1
    with django_capture_on_commit_callbacks(execute=True):
        assert launch(run_id=run.pk, number=1, gateway=cluster)
    env = next(iter(cluster.envs.values()))
    code = {"code": env["TANDEM_BOOTSTRAP_CODE"]}
    token = client.post(BOOTSTRAP_PATH, json.dumps(code), content_type="application/json").json()["token"]
    with django_capture_on_commit_callbacks(execute=True):
        report(client, run, token, run.created_at.timestamp() + 10)

    found = received(traced)
    request, whole = found["POST /api/v1/runs"], found["run"]
    attempt, batch = found["attempt 1"], found["batch 0"]
    assert {span.trace_id.hex() for span in found.values()} == {TRACE}
    assert request.parent_span_id.hex() == CALLER
    parents = {"run": request, "queue": whole, "attempt 1": whole, "launch": attempt, "batch 0": attempt}
    for name in ("generate", "score", "train", "optimizer step"):
        parents[name] = batch
    assert {name: found[name].parent_span_id for name in parents} == {
        name: parent.span_id for name, parent in parents.items()
    }
    assert "idle" not in found
    steps = [span for span in traced.spans if span.name == "optimizer step"]
    assert [attributes(step)["tandem.optimizer_step"] for step in steps] == [1, 2]
    assert steps[0].end_time_unix_nano == steps[1].start_time_unix_nano
    assert steps[0].start_time_unix_nano == found["train"].start_time_unix_nano
    assert (batch.end_time_unix_nano - batch.start_time_unix_nano) / 1e9 == pytest.approx(4.0)
    assert env["TRACEPARENT"] == f"00-{TRACE}-{attempt.span_id.hex()}-01"
    work = attributes(found["generate"])
    assert work == {
        "tandem.run.id": str(run.pk),
        "tandem.attempt": 1,
        "tandem.lane": "rollout-0",
        "tandem.role": "rollout",
        "tandem.batch": 0,
        "tandem.group": 1,
        "tandem.fragment": 0,
        "tandem.policy_version": 0,
    }
    assert attributes(whole)["tandem.run.state"] == "completed"
    assert attributes(request)["http.response.status_code"] == 201
    assert traced.services == {"tandem"}


def test_a_run_made_without_a_request_has_a_trace_of_its_own(
    traced: Collector, make_run: Callable[..., Run], django_capture_on_commit_callbacks: COMMITTED
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run()
    with django_capture_on_commit_callbacks(execute=True):
        dispatch_waiting()
    found = received(traced)
    assert found["queue"].trace_id.hex() == run.pk.hex


def test_a_trace_that_its_caller_does_not_sample_is_not_sent(
    traced: Collector, make_run: Callable[..., Run], django_capture_on_commit_callbacks: COMMITTED
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run()
    Run.objects.filter(pk=run.pk).update(traceparent=f"00-{TRACE}-{CALLER}-00")
    with django_capture_on_commit_callbacks(execute=True):
        dispatch_waiting()
    assert received(traced) == {}


def test_requests_are_spans_without_what_could_be_secret(traced: Collector, api: APIClient) -> None:
    api.get("/api/v1/me", {"token": SECRET}, headers={"Authorization": f"Bearer {SECRET}"})
    api.get("/api/v1/health/live")
    found = received(traced)
    assert set(found) == {"GET /api/v1/me"}
    assert attributes(found["GET /api/v1/me"]) == {
        "http.request.method": "GET",
        "http.route": "/api/v1/me",
        "http.response.status_code": 400,
        "url.path": "/api/v1/me",
        "url.scheme": "http",
        "server.address": "testserver",
    }
    assert not any(SECRET in str(span) for span in traced.spans)
