"""The lines of the runs list: what each run's own page says, field by field, with as many queries for any page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import Project, User
from runs.attempts import attempts
from runs.models import Attempt, AttemptOutcome, Run, SweepRun
from runs.run_lines import ALL_FIELDS, OTHER_FIELDS, OWN_COLUMNS
from runs.selectors import run_body_for, visible_runs
from sweeps.services import create_sweep
from tests.web.sweeps.swept_runs import plan
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]
LiveRun = Callable[..., Attempt]


@pytest.fixture
def client(alice: User) -> APIClient:
    made = APIClient()
    made.force_login(alice)
    return made


@pytest.fixture
def various(project: Project, alice: User, bob: User, make_run: MakeRun, live_run: LiveRun) -> None:
    """Runs of every state; one that is parked, one of a sweep, one whose user is gone, and one that resumes."""
    for state in RunState:
        make_run(project, state=state, created_by=bob, tags=["red"], headline={"reward_after": 0.5})
    make_run(project, state=RunState.STOPPING, ending="cancel", created_by=None)
    make_run(project, resume_from="file:///c")
    parked = live_run(RunState.PAUSED, project=project, created_by=alice)
    attempts.close(parked.run_id, 1, AttemptOutcome.PARKED, detail="paused for long")
    live_run(RunState.PAUSED, project=project, created_by=alice)
    place = SweepRun.objects.filter(point__sweep=create_sweep(user=alice, project=project, document=plan())).first()
    assert place is not None
    place.run = make_run(project, created_by=alice)
    place.save()


def lines(client: APIClient, **query: Any) -> list[dict[str, Any]]:
    answer = client.get("/api/v1/runs", query)
    assert answer.status_code == 200
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


def test_a_line_says_what_the_runs_own_page_says(client: APIClient, various: None, alice: User) -> None:
    listed = lines(client)
    assert {run["state"] for run in listed} == {state.value for state in RunState}
    assert [run["sweep"] is None for run in listed].count(False) == 1
    whole = {str(run.pk): run_body_for(alice, run) for run in visible_runs(alice)}
    assert listed == [{name: value for name, value in whole[run["id"]].items() if name in run} for run in listed]
    assert {frozenset(run) for run in listed} == {ALL_FIELDS}


def test_each_field_is_the_same_alone(client: APIClient, various: None) -> None:
    whole = lines(client)
    for name in sorted(ALL_FIELDS):
        assert lines(client, fields=name) == [{name: run[name]} for run in whole], name


def test_every_field_says_of_which_columns_it_is_made() -> None:
    assert OWN_COLUMNS | OTHER_FIELDS.keys() == ALL_FIELDS
    assert not OWN_COLUMNS & OTHER_FIELDS.keys()
    assert {field.name for field in Run._meta.concrete_fields} >= OWN_COLUMNS


def test_a_page_of_paused_runs_takes_as_many_queries_as_one_of_them(
    client: APIClient, project: Project, live_run: LiveRun
) -> None:
    """What may be done with each depends on whether it has a driver."""
    counts = []
    for _ in range(3):
        live_run(RunState.PAUSED, project=project)
        with CaptureQueriesContext(connection) as captured:
            lines(client)
        counts.append(len(captured))
    assert len(set(counts)) == 1, counts
