"""The ledger of lending over REST."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pandas
import pyarrow
import pytest
from django.db.models import F
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import LaneLoan
from runs.lending.borrowing import lend_idle_lanes
from runs.models import Run
from telemetry.arrow.arrow_stream import MEDIA_TYPE as ARROW
from telemetry.arrow.lend_stream import lend_stream
from telemetry.lending.lend_listing import LendsWanted
from tests.web.runs.elastic_runs import at_work, measure


@pytest.fixture
def borrower(make_run: Callable[..., Run], project: Project) -> Run:
    """A run of alice's with three borrowed lanes."""
    ensure_local_lanes(num_cpu_lanes=6)
    attempt = at_work(make_run, project)
    measure(attempt)
    assert lend_idle_lanes() == 3
    return attempt.run


def test_lends_are_read_page_by_page(api: APIClient, borrower: Run) -> None:
    first = api.get("/api/v1/lends", {"limit": 2}).json()
    assert [row["run"] for row in first["results"]] == [str(borrower.pk)] * 2
    rest = api.get(first["next"]).json()
    assert len(rest["results"]) == 1
    assert rest["next"] is None
    names = {row["lane_in_run"] for row in [*first["results"], *rest["results"]]}
    assert names == {"rollout-1", "rollout-2", "rollout-3"}


def test_sums_are_read_by_lane(api: APIClient, borrower: Run) -> None:
    found = api.get("/api/v1/lends/sums", {"by": "lane", "run": str(borrower.pk)}).json()["results"]
    assert [row["num_lends"] for row in found] == [1, 1, 1]


@pytest.mark.parametrize("query", [{"cursor": "yesterday"}, {"kind": "loan"}, {"limit": 0}, {"run": "mine"}])
def test_questions_that_make_no_sense_are_refused(api: APIClient, query: dict[str, str]) -> None:
    answer = api.get("/api/v1/lends", query)
    assert answer.status_code == 400
    assert next(iter(query)) in answer.content.decode()


def test_outsiders_see_nothing(client_of: Callable[..., APIClient], charlie: object, borrower: Run) -> None:
    assert client_of(charlie).get("/api/v1/lends").json() == {"next": None, "results": []}


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row of Arrow as JSON has it: times in whole microseconds, as the database keeps them."""
    times = {name: value.round("us").isoformat() for name, value in row.items() if isinstance(value, pandas.Timestamp)}
    return {**row, **times, "gpus": row["gpus"].split(",") if row["gpus"] else []}


def test_lends_are_arrow_for_who_accepts_it(api: APIClient, borrower: Run) -> None:
    # Until a lane has joined, it takes longer with every look.
    LaneLoan.objects.update(joined_at=F("since"))
    gone = LaneLoan.objects.order_by("since").first()
    assert gone is not None
    LaneLoan.objects.filter(pk=gone.pk).update(until=gone.since + timedelta(seconds=7), gpus=["a:0", "a:1"])
    whole = api.get("/api/v1/lends").json()["results"]
    for query, expected in (({}, whole), ({"limit": 2}, whole[:2]), ({"run": str(gone.pk)}, [])):
        answer = api.get("/api/v1/lends", query, HTTP_ACCEPT=ARROW)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, ARROW)
        table = pyarrow.ipc.open_stream(b"".join(answer.streaming_content)).read_all()
        assert list(map(plain, table.to_pylist())) == expected


def test_a_ledger_of_many_pages_is_one_stream(alice: User, borrower: Run) -> None:
    pages = [b"".join(lend_stream(alice, LendsWanted(), limit=limit, page_rows=2)) for limit in (None, 3)]
    for page in pages:
        batches = pyarrow.ipc.open_stream(page).read_all().to_batches()
        assert [batch.num_rows for batch in batches] == [2, 1]


def test_an_outsiders_arrow_has_no_rows(client_of: Callable[..., APIClient], charlie: object, borrower: Run) -> None:
    answer = client_of(charlie).get("/api/v1/lends", HTTP_ACCEPT=ARROW)
    assert pyarrow.ipc.open_stream(b"".join(answer.streaming_content)).read_all().num_rows == 0
