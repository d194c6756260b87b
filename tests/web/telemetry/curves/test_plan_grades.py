"""Each plan of a run is graded once, for REST and page, by the batches that were trained under it."""

from collections.abc import Callable
from typing import Any

import pytest

from runs.planning.plan_body import PlanStep
from telemetry.curves.plan_grades import graded

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db


def step(since_batch: int, batch_seconds: float) -> PlanStep:
    return {
        "attempt": 1,
        "revision": 1,
        "since_batch": since_batch,
        "reason": "",
        "num_rollout": 2,
        "num_trainer": 1,
        "batch_seconds": batch_seconds,
        "promise": None,
    }


def grades(driver: Any, *steps: PlanStep) -> list[tuple[float | None, float | None]]:
    """(Measured seconds, relative error rounded to a thousandth) of each plan."""
    found = [(each["measured_seconds"], each["relative_error"]) for each in graded(driver.run_id, steps)]
    return [(seconds, None if error is None else round(error, 3)) for seconds, error in found]


@pytest.fixture
def measured(driver: Any, metrics: Make) -> Any:
    """Six batches, of which each third fills the pipeline of a new plan."""
    seconds = (90.0, 50.0, 52.0, 30.0, 20.0, 22.0)
    driver.send(*(metrics(batch, batch, speed__batch_seconds=each) for batch, each in enumerate(seconds, start=1)))
    return driver


def test_a_plan_is_graded_by_its_own_batches_without_the_one_that_fills_the_pipeline(measured: Any) -> None:
    found = grades(measured, step(0, 60.0), step(3, 20.0))
    assert found == [(51.0, -0.15), (21.0, 0.05)]


def test_a_plan_without_a_settled_batch_has_no_grade_yet(measured: Any, driver: Any) -> None:
    assert grades(measured, step(0, 60.0), step(5, 20.0))[1] == (None, None)
    assert grades(measured) == []


def test_batches_that_a_resume_went_back_behind_do_not_count(
    measured: Any, metrics: Make, event: Make, next_attempt: Callable[..., Any]
) -> None:
    later = next_attempt(measured.run, 2)
    resumed = event(1, "resumed", batch=3, policy_version=3, optimizer_step=12)
    later.send(resumed, metrics(2, 4, speed__batch_seconds=70.0), metrics(3, 5, speed__batch_seconds=40.0))
    assert grades(later, step(0, 60.0), step(3, 20.0)) == [(51.0, -0.15), (40.0, 1.0)]
