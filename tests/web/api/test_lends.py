"""The ledger of lending over REST."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import Project
from fleet.lane_layout import ensure_local_lanes
from runs.lending.borrowing import lend_idle_lanes
from runs.models import Run
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
