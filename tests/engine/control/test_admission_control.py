"""Admission is open only while nothing closes it: a pause, a stop, a plan that the run is drained for."""

from types import SimpleNamespace
from typing import Any

import pytest

from worker.engine.control.admission_control import AdmissionControl
from worker.scheduling.core.messages import AdmissionClosed, AdmissionOpened, Event


@pytest.fixture
def commands() -> Any:
    return SimpleNamespace(pause_wanted=False, stop_wanted=False)


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def scheduler(events: list[Event]) -> Any:
    return SimpleNamespace(apply=lambda event, at: events.append(event))


def test_a_run_is_drained_once_and_opened_once_the_plan_is_carried_out(
    commands: Any, events: list[Event], scheduler: Any
) -> None:
    admission = AdmissionControl(commands)
    for drains in (False, True, True, False, False):
        admission.apply_commands(scheduler, 1.0, drains=drains)
    assert events == [AdmissionClosed(), AdmissionOpened()]


@pytest.mark.parametrize("wanted", ["pause_wanted", "stop_wanted"])
def test_a_plan_that_was_carried_out_does_not_end_a_pause_or_a_stop(
    wanted: str, commands: Any, events: list[Event], scheduler: Any
) -> None:
    admission = AdmissionControl(commands)
    admission.apply_commands(scheduler, 1.0, drains=True)
    setattr(commands, wanted, True)
    admission.apply_commands(scheduler, 2.0, drains=False)
    assert events == [AdmissionClosed()]
