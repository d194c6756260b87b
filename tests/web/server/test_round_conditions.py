"""The beat sends a round only where it may find work, and where that cannot be found out."""

from typing import Any

import pytest
from django.db import OperationalError

from hooks import sending
from server.celery_app import app
from server.round_conditions import CONDITIONS, may_find_work
from worker.contracts import task_names


def test_conditions_are_those_of_rounds_that_the_beat_sends() -> None:
    assert set(CONDITIONS) <= {entry["task"] for entry in app.conf.beat_schedule.values()}


@pytest.mark.django_db
@pytest.mark.parametrize("task", CONDITIONS)
def test_an_installation_in_which_nothing_waits_gets_no_round(task: str) -> None:
    assert not may_find_work(task)


def test_a_round_without_a_condition_is_always_sent() -> None:
    assert may_find_work(task_names.RECONCILE_RUNS)


def test_a_round_is_sent_while_the_database_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(sending, "may_have_work", fail)
    assert may_find_work(task_names.SEND_WEBHOOKS)
