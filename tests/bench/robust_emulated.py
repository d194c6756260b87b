"""The sample of `make bench-robust` on emulated lanes over real Ray: what re-planning gains, and what it promised.

wrong history ─► plan ─► run on real actors, which wait as long as work truly takes ─► re-planned ─► `plan` events
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.cluster import bench_cluster
from tests.engine.emulated.replanned_run import (
    TO_COLOCATED,
    TO_DISAGGREGATED,
    TOO_FEW_TRAINERS,
    MisplannedRun,
    asked,
    history,
    run_until_settled,
)
from tests.engine.prediction import RunMeasurements
from tests.engine.telemetry.ingest_server import start_ingest
from worker.contracts.names import Placement
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.planner import make_plan, plan_request

RUNS = {
    "training five times as dear": TOO_FEW_TRAINERS,
    "training three times as dear, two lanes": TO_COLOCATED,
    "a commit of 5 s, lending cheap, three lanes": TO_DISAGGREGATED,
}
"""By what the first plan did not know."""


def measured_runs() -> list[dict[str, Any]]:
    """Of each run the ways of working and the seconds of a batch as planned, re-planned, and of the plan from the true
    costs."""
    with bench_cluster() as address:
        return [{"unknown": unknown} | _measured(run, address) for unknown, run in RUNS.items()]


def _measured(run: MisplannedRun, ray_address: str) -> dict[str, Any]:
    ingest, server = start_ingest()
    with tempfile.TemporaryDirectory(prefix="tandem-robust-") as folder:
        spec = run_until_settled(run, ray_address, ingest, Path(folder))
    server.shutdown()
    server.server_close()
    seconds = RunMeasurements.of_events(ingest.events).batch_seconds
    plans = ingest.of_type("plan")
    first, last = plans[0], plans[-1]
    best = make_plan(plan_request(asked(run.num_lanes), history=[history(run.true)]), only_best=True).best.split_result
    after = statistics.mean(taken for batch, taken in seconds.items() if batch > last["batch"] + 1)
    num_trainer = sum(role == "trainer" for role in last["lanes"].values())
    chosen = PipelineSpec.model_validate(last["pipeline"])
    return {
        "way_before": _way(spec.pipeline, spec.lanes.num_trainer, spec.algebra.fragment_size),
        "way": _way(chosen, num_trainer, last["fragment_size"]),
        "best_way": _way(best.candidate.pipeline, len(best.candidate.trainers), best.candidate.fragment_size),
        "changed_after_batches": [plan["batch"] for plan in plans],
        # The first batch waits for lanes and for the first evaluation.
        "seconds_before": statistics.mean(taken for batch, taken in seconds.items() if 1 < batch <= first["batch"]),
        "promised_seconds": last["batch_seconds"],
        "seconds": after,
        "best_seconds": best.batch_seconds,
        "regret": after / best.batch_seconds - 1,
        "predicted_move_seconds": sum(plan["predicted_move_seconds"] for plan in plans),
        "move_seconds": sum(plan["move_seconds"] for plan in plans),
    }


def _way(pipeline: PipelineSpec, num_trainer: int, fragment_size: int) -> str:
    """A way of working, in words."""
    if pipeline.placement is Placement.COLOCATED:
        return f"colocated, fragments of {fragment_size}"
    lanes = "1 trainer lane" if num_trainer == 1 else f"{num_trainer} trainer lanes"
    return f"{lanes}, staleness {pipeline.max_staleness}, fragments of {fragment_size}"
