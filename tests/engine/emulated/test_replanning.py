"""A run planned on wrong costs, on emulated lanes over real Ray: it measures, re-plans, and keeps what it promised."""

import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.engine.emulated.replanned_run import (
    TO_COLOCATED,
    TO_DISAGGREGATED,
    TOO_FEW_TRAINERS,
    MisplannedRun,
    run_until_settled,
)
from tests.engine.prediction import RunMeasurements
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.names import LaneRole, Placement

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

MAX_ERROR = 0.15
"""Relative. Seconds are compared although others use the machine, since that is what a plan promises and emulated lanes
only wait: at load average 26 on two cores the error was 6 %. The median leaves out a batch that the machine held
up."""


def num_trainers(plan: dict[str, Any]) -> int:
    return Counter(plan["lanes"].values())[LaneRole.TRAINER]


def check_that_the_last_plan_kept_its_promise(ingest: Ingest) -> None:
    plans = ingest.of_type("plan")
    last = plans[-1]
    assert last["batch_seconds"] < last["seconds_before"]
    measured = RunMeasurements.of_events(ingest.events).batch_seconds
    later = [seconds for batch, seconds in measured.items() if batch > last["batch"] + 1]
    assert len(later) >= 4
    assert abs(statistics.median(later) / last["batch_seconds"] - 1) <= MAX_ERROR, (later, last)
    assert statistics.median(later) < measured[plans[0]["batch"]], "a batch before the first change"
    resizes = [event["resize"] for event in ingest.of_type("lanes") if event["resize"]]
    assert {resize["cause"] for resize in resizes} == {"plan"}
    assert resizes[-1]["state"] == "done"
    assert not ingest.of_type("resumed")


@pytest.mark.slow
def test_a_run_planned_on_wrong_costs_replans_and_keeps_what_it_promised(
    ray_address: str, ingest: Ingest, tmp_path: Path
) -> None:
    spec = run_until_settled(TOO_FEW_TRAINERS, ray_address, ingest, tmp_path)
    assert spec.lanes.num_trainer < 3
    assert num_trainers(ingest.of_type("plan")[0]) > spec.lanes.num_trainer
    check_that_the_last_plan_kept_its_promise(ingest)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "before", "after"),
    [
        (TO_COLOCATED, Placement.DISAGGREGATED, Placement.COLOCATED),
        (TO_DISAGGREGATED, Placement.COLOCATED, Placement.DISAGGREGATED),
    ],
    ids=["to_colocated", "to_disaggregated"],
)
def test_a_run_changes_its_placement_between_two_batches_and_keeps_what_it_promised(
    run: MisplannedRun, before: Placement, after: Placement, ray_address: str, ingest: Ingest, tmp_path: Path
) -> None:
    spec = run_until_settled(run, ray_address, ingest, tmp_path)
    assert spec.pipeline.placement is before
    last = ingest.of_type("plan")[-1]
    assert last["pipeline"]["placement"] == after
    check_that_the_last_plan_kept_its_promise(ingest)
    staleness = {event["batch"]: {*map(int, event["counts"])} for event in ingest.of_type("staleness")}
    assert all(
        max(counts) <= last["pipeline"]["max_staleness"] for batch, counts in staleness.items() if batch > last["batch"]
    )
