"""A run planned on wrong costs, on emulated lanes over real Ray: it measures, re-plans, and keeps what it promised."""

import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.engine.emulated.replanned_run import run_until_settled
from tests.engine.prediction import RunMeasurements
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.names import LaneRole

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

MAX_ERROR = 0.15
"""Relative. Seconds are compared although others use the machine, since that is what a plan promises and emulated lanes
only wait: at load average 26 on two cores the error was 6 %. The median leaves out a batch that the machine held
up."""


def num_trainers(plan: dict[str, Any]) -> int:
    return Counter(plan["lanes"].values())[LaneRole.TRAINER]


@pytest.mark.slow
def test_a_run_planned_on_wrong_costs_replans_and_keeps_what_it_promised(
    ray_address: str, ingest: Ingest, tmp_path: Path
) -> None:
    spec = run_until_settled(ray_address, ingest, tmp_path)
    assert spec.lanes.num_trainer < 3
    plans = ingest.of_type("plan")
    last = plans[-1]
    assert last["batch_seconds"] < last["seconds_before"]
    assert num_trainers(plans[0]) > spec.lanes.num_trainer
    measured = RunMeasurements.of_events(ingest.events).batch_seconds
    later = [seconds for batch, seconds in measured.items() if batch > last["batch"] + 1]
    assert len(later) >= 4
    assert abs(statistics.median(later) / last["batch_seconds"] - 1) <= MAX_ERROR, (later, last)
    assert statistics.median(later) < measured[plans[0]["batch"]], "a batch before the first change"
    resizes = [event["resize"] for event in ingest.of_type("lanes") if event["resize"]]
    assert {resize["cause"] for resize in resizes} == {"plan"}
    assert resizes[-1]["state"] == "done"
    assert not ingest.of_type("resumed")
