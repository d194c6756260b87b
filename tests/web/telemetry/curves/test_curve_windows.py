"""A window of a curve is read as finely as its width allows; sparklines are curves of several runs in one read."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Project
from runs.models import Run
from telemetry.curves.curves import curves, sparklines

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db
NUM_STEPS = 3000


@pytest.fixture
def long_run(driver: Any) -> Any:
    """A run of 3,000 optimizer steps, whose metric `x` has a spike at step 2,222 and whose `late` begins at 2,000."""
    driver.send(
        *(
            {
                "seq": step,
                "at": float(step),
                "type": "metrics",
                "batch": step,
                "optimizer_step": step,
                "values": {"x": 9.0 if step == 2222 else math.sin(step / 50)} | ({"late": 1.0} if step >= 2000 else {}),
            }
            for step in range(1, NUM_STEPS + 1)
        )
    )
    return driver


def test_a_narrow_window_of_a_long_curve_is_exact(long_run: Any) -> None:
    whole = curves(long_run.run_id, keys=["x"], max_points=50)["series"]["x"]
    assert 9.0 not in whole["value"], "over the whole run the spike is in the envelope alone"
    window = curves(long_run.run_id, keys=["x"], max_points=50, from_step=2200, to_step=2240)["series"]["x"]
    assert window["optimizer_step"] == list(range(2200, 2241))
    assert window["value"][22] == window["max"][22] == window["min"][22] == 9.0


def test_a_wide_window_has_no_more_points_than_asked_and_keeps_its_extremes(long_run: Any) -> None:
    window = curves(long_run.run_id, keys=["x"], max_points=50, from_step=1000, to_step=2500)["series"]["x"]
    assert len(window["value"]) == 50
    assert max(window["max"]) == 9.0
    # A bucket may begin before the window and end beyond it.
    assert (window["optimizer_step"][0] > 950, window["optimizer_step"][-1] < 2550) == (True, True)


def test_a_window_without_points_has_no_curve_but_knows_the_metrics(long_run: Any) -> None:
    found = curves(long_run.run_id, from_step=5000, to_step=6000)
    assert (found["series"], found["keys"]) == ({}, ["late", "x"])
    assert set(curves(long_run.run_id, max_points=20, from_step=1, to_step=1500)["series"]) == {"x"}


def test_metrics_that_were_not_asked_for_are_named(long_run: Any) -> None:
    found = curves(long_run.run_id, keys=["late"], max_points=10)
    assert (set(found["series"]), found["keys"]) == ({"late"}, ["late", "x"])


def test_sparklines_are_the_curves_of_each_run(
    long_run: Any, make_run: Callable[..., Run], project: Project, next_attempt: Any, metrics: Make
) -> None:
    short = next_attempt(make_run(project=project, state="running"), 1)
    short.send(metrics(1, 1, x=1.0), metrics(2, 2, x=2.0))
    bare = make_run(project=project)
    found = sparklines([long_run.run_id, short.run_id, bare.pk], key="x", max_points=60)["series"]
    assert found == {
        str(long_run.run_id): curves(long_run.run_id, keys=["x"], max_points=60)["series"]["x"]["value"],
        str(short.run_id): [1.0, 2.0],
    }
