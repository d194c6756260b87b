from collections.abc import Callable

import pytest
from django.db import transaction

from fleet.lane_layout import ensure_local_lanes
from runs.dispatch import dispatch_waiting
from runs.enqueue import enqueue_on_commit
from runs.models import Run


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
