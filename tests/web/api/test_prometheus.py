"""What Prometheus reads: parsed by its own client, and held against the pool and the runs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

from accounts.models import Project, TokenScope, User
from analysis.prometheus import task_counts
from fleet.lane_layout import ensure_local_lanes
from runs.models import Run
from tests.web.api.token_clients import scopes, with_token
from tests.web.conftest import MakeProject, MakeRun
from tests.web.telemetry.conftest import open_attempt
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(autouse=True)
def broker_of_this_test() -> Any:
    cache.clear()
    yield
    cache.clear()


def read(client: APIClient) -> Samples:
    answer = client.get("/api/v1/metrics")
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {(one.name, frozenset(one.labels.items())): one.value for family in families for one in family.samples}


def value(samples: Samples, series: str, /, **labels: str) -> float | None:
    return samples.get((series, frozenset(labels.items())))


def test_lanes_and_runs_are_counted_as_the_pages_count_them(alice: User, project: Project, make_run: MakeRun) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    make_run(project)
    samples = read(with_token(alice, scopes=scopes(TokenScope.READ)))
    assert value(samples, "tandem_lanes", pool="default", kind="cpu", device="cpu", state="available") == 3
    assert value(samples, "tandem_runs", state="queued") == 1
    assert value(samples, "tandem_runs", state="failed") == 0
    assert value(samples, "tandem_queue_runs", pool="default") == 1


def test_a_run_that_goes_on_tells_its_newest_values(alice: User, project: Project, make_run: MakeRun) -> None:
    run = make_run(project, state=RunState.RUNNING.value)
    driver, reader = open_attempt(run, 1), with_token(alice)
    for batch, reward in ((1, 0.25), (2, 0.5)):
        event = {"seq": batch, "at": float(batch), "type": "metrics", "batch": batch, "optimizer_step": batch}
        driver.send({**event, "values": {"reward/mean": reward}})
    labels = {"run": str(run.pk), "name": run.name, "project": project.name}
    samples = read(reader)
    assert value(samples, "tandem_run_reward", **labels) == 0.5
    assert value(samples, "tandem_run_kl", **labels) is None, "it has reported none"
    Run.objects.filter(pk=run.pk).update(state=RunState.COMPLETED.value)
    assert value(read(reader), "tandem_run_reward", **labels) is None


def test_nobody_reads_of_runs_of_others(alice: User, make_run: MakeRun, make_project: MakeProject) -> None:
    hidden = make_run(make_project("Secret"))
    text = with_token(alice).get("/api/v1/metrics").content.decode()
    assert hidden.name not in text
    assert "Secret" not in text


def test_it_needs_a_token(client: Client) -> None:
    assert client.get("/api/v1/metrics").status_code == 401


def test_tasks_and_requests_are_counted(alice: User) -> None:
    reader = with_token(alice)
    before = read(reader)
    task_counts.count_task("tandem.runs.dispatch", "success", 0.25)
    task_counts.count_task("tandem.runs.dispatch", "failure", 0.5)
    after = read(reader)

    def grown(series: str, /, **labels: str) -> float:
        return (value(after, series, **labels) or 0) - (value(before, series, **labels) or 0)

    assert grown("tandem_tasks_total", task="tandem.runs.dispatch", state="failure") == 1
    assert grown("tandem_task_seconds_total", task="tandem.runs.dispatch") == pytest.approx(0.75)
    request = {"method": "GET", "route": "api/v1/metrics", "status": "200"}
    assert grown("tandem_http_request_seconds_count", **request) == 1


def test_methods_that_a_client_makes_up_are_one_series(alice: User, client: Client) -> None:
    def refused() -> float:
        labels = {"method": "other", "route": "api/v1/metrics", "status": "401"}
        return value(read(with_token(alice)), "tandem_http_request_seconds_count", **labels) or 0

    before = refused()
    for number in range(3):
        client.generic(f"MADEUP{number}", "/api/v1/metrics")
    assert refused() == before + 3
    assert "MADEUP" not in with_token(alice).get("/api/v1/metrics").content.decode()


def test_the_dashboard_asks_for_series_that_are_there(alice: User, project: Project, make_run: MakeRun) -> None:
    """Grafana itself does not run here: held are the names, and what it needs of a dashboard."""
    families = with_token(alice).get("/api/v1/metrics").content.decode()
    told = set(re.findall(r"^# TYPE (\w+)", families, flags=re.MULTILINE))
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "tandem.json").read_text())
    asked = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\btandem_\w+", target["expr"])
    }
    assert {re.sub(r"_(bucket|count)$", "", name) for name in asked} <= told
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    assert {"schemaVersion", "title", "uid"} <= dashboard.keys()
