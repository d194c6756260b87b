"""A run planned on wrong costs, on emulated lanes over real Ray: it measures, re-plans, and keeps what it promised."""

import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.engine.emulated.replanned_run import run_until_settled
from tests.engine.prediction import RunMeasurements
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.names import LaneRole, TrainerAssist

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

MAX_ERROR = 0.15
"""Relative; each batch also sends a hundred messages on a machine that others use."""


def num_trainers(plan: dict[str, Any]) -> int:
    return Counter(plan["lanes"].values())[LaneRole.TRAINER]


@pytest.mark.slow
def test_a_run_planned_on_wrong_costs_replans_and_keeps_what_it_promised(
    ray_address: str, ingest: Ingest, tmp_path: Path
) -> None:
    spec = run_until_settled(ray_address, ingest, tmp_path)
    assert spec.lanes.num_trainer < 3
    plans = ingest.of_type("plan")
    assert plans, "the run went on by its first plan"
    last = plans[-1]
    assert last["batch_seconds"] < last["seconds_before"]
    assert num_trainers(plans[0]) > spec.lanes.num_trainer
    measured = RunMeasurements.of_events(ingest.events).batch_seconds
    later = [seconds for batch, seconds in measured.items() if batch > last["batch"] + 1]
    assert len(later) >= 4
    assert abs(statistics.mean(later) / last["batch_seconds"] - 1) <= MAX_ERROR, (later, last)
    assert statistics.mean(later) < measured[2]
    assert last["pipeline"]["tag"] in set(TrainerAssist)
    resizes = [event["resize"] for event in ingest.of_type("lanes") if event["resize"]]
    assert {resize["cause"] for resize in resizes} == {"plan"}
    assert resizes[-1]["state"] == "done"
    assert not ingest.of_type("resumed")
