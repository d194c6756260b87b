"""Tasks are enqueued after commit, whatever the broker does, and a lane that comes free has waiting runs dispatched."""

from collections.abc import Callable

import pytest
from django.db import transaction

from fleet.lane_layout import ensure_local_lanes
from fleet.models import Node, ServiceState
from fleet.services import allocate, release
from fleet.states.state_changes import change_state
from runs.enqueue import enqueue_on_commit
from runs.models import Run
from runs.queue.dispatch import dispatch_waiting
from tests.web.lane_holders import held_by
from worker.contracts.task_names import DISPATCH_RUNS


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_undoes_nothing(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(name: str, args: tuple[str, ...], **_: object) -> None:
        raise ConnectionError("the broker is away")

    monkeypatch.setattr("celery.current_app.send_task", refuse)
    ensure_local_lanes(num_cpu_lanes=3)
    run = make_run()
    assert dispatch_waiting() == [run.pk]
    run.refresh_from_db()
    assert run.state == "starting"
    assert "the broker is away" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_enqueues_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: sent.append(name))
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        enqueue_on_commit("tandem.runs.dispatch")
        raise ZeroDivisionError
    with transaction.atomic():
        enqueue_on_commit("tandem.runs.dispatch")
        assert sent == []
    assert sent == ["tandem.runs.dispatch"]


@pytest.mark.django_db(transaction=True)
def test_a_lane_that_comes_free_or_takes_work_again_has_a_waiting_run_dispatched_at_once(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    ensure_local_lanes(num_cpu_lanes=3)
    first = make_run()
    assert dispatch_waiting() == [first.pk]
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: sent.append(name))
    release(run_id=first.pk, attempt=1)
    assert sent == [], "nobody waits"
    make_run()
    allocate(holder=held_by(first.pk, 2), wanted=first.run_spec.granted_lanes)
    release(run_id=first.pk, attempt=2)
    assert sent == [DISPATCH_RUNS]
    node = Node.objects.get()
    change_state(node, ServiceState.CORDONED, by="ada", reason="fans")
    assert sent == [DISPATCH_RUNS]
    change_state(node, ServiceState.ACTIVE, by="ada")
    assert sent == [DISPATCH_RUNS] * 2
