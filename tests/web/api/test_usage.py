"""Usage over REST: as JSON, and as a table that a spreadsheet does not run."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.models import LaneUse
from runs.models import Run

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WINDOW = {"since": NOON.isoformat(), "until": (NOON + timedelta(hours=6)).isoformat()}
ClientOf = Callable[[User], APIClient]


@pytest.fixture
def used(make_run: Callable[..., Run], project: Project) -> Run:
    run = make_run(project=project, name="=HYPERLINK(1)")
    LaneUse.objects.create(
        label="gpu0/gpu-0",
        gpus=["GPU-a"],
        accelerator="H100",
        run_id=run.pk,
        attempt=1,
        role="rollout",
        name_in_run="rollout-0",
        project=project,
        price_per_hour=Decimal("2.5"),
        since=NOON,
        until=NOON + timedelta(hours=2),
    )
    return run


def test_usage_is_summed_inside_the_window(api: APIClient, used: Run) -> None:
    (row,) = api.get("/api/v1/usage", {**WINDOW, "by": "accelerator"}).json()["results"]
    sums = {"lane_hours": 2.0, "gpu_hours": 2.0, "cost": "5.0000", "num_runs": 1, "unpriced_gpu_hours": 0.0}
    assert row == {"key": "H100", "name": "H100", **sums}


def test_others_see_nothing_of_it(client_of: ClientOf, charlie: User, used: Run) -> None:
    assert client_of(charlie).get("/api/v1/usage", WINDOW).json()["results"] == []


def test_the_table_has_a_header_and_no_formulas(api: APIClient, used: Run) -> None:
    answer = api.get("/api/v1/usage.csv", {**WINDOW, "by": "run"})
    assert answer["Content-Type"].startswith("text/csv")
    header, row = csv.reader(io.StringIO(answer.content.decode()))
    assert header == ["key", "name", "lane_hours", "gpu_hours", "cost", "num_runs", "unpriced_gpu_hours"]
    assert row[1:4] == ["'=HYPERLINK(1)", "2.0000", "2.0000"]


@pytest.mark.parametrize(
    ("query", "field"),
    [({}, "since"), ({**WINDOW, "by": "mood"}, "by"), ({"since": WINDOW["until"], "until": WINDOW["since"]}, "since")],
)
def test_a_query_that_makes_no_sense_is_refused_by_field(api: APIClient, query: dict[str, str], field: str) -> None:
    refused = api.get("/api/v1/usage", query)
    assert refused.status_code == 400
    assert field in refused.json()["errors"]


def test_days_are_told_by_row(api: APIClient, used: Run, project: Project) -> None:
    body = api.get("/api/v1/usage/days", {**WINDOW, "by": "project"}).json()
    assert body["days"] == ["2026-03-01"]
    row = {"key": str(project.pk), "name": project.name, "lane_hours": [2.0], "gpu_hours": [2.0], "cost": [5.0]}
    assert body["rows"] == [row]
    wrong = api.get("/api/v1/usage/days", {"since": "2020-01-01T00:00:00Z", "until": WINDOW["until"]})
    assert (wrong.status_code, list(wrong.json()["errors"])) == (400, ["since"])
