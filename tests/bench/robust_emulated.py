"""The sample of `make bench-robust` on emulated lanes over real Ray: what re-planning gains, and what it promised.

wrong history ─► plan ─► run on real actors, which wait as long as work truly takes ─► re-planned ─► `plan` events
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.cluster import bench_cluster
from tests.engine.emulated.replanned_run import asked, history, run_until_settled
from tests.engine.prediction import RunMeasurements
from tests.engine.telemetry.ingest_server import start_ingest
from worker.scheduling.planning.planner import make_plan, plan_request


def measured_run() -> dict[str, Any]:
    """Seconds of a batch as planned, before and after re-planning, and of the plan from the true costs."""
    ingest, server = start_ingest()
    with bench_cluster() as address, tempfile.TemporaryDirectory(prefix="tandem-robust-") as folder:
        spec = run_until_settled(address, ingest, Path(folder))
    server.shutdown()
    server.server_close()
    seconds = RunMeasurements.of_events(ingest.events).batch_seconds
    plans = ingest.of_type("plan")
    first, last = plans[0], plans[-1]
    best = make_plan(plan_request(asked(num_batches=1), history=[history(1.0)]), only_best=True).best
    after = statistics.mean(taken for batch, taken in seconds.items() if batch > last["batch"] + 1)
    return {
        "num_trainer_before": spec.lanes.num_trainer,
        "num_trainer": sum(role == "trainer" for role in last["lanes"].values()),
        "fragment_size_before": spec.algebra.fragment_size,
        "fragment_size": last["fragment_size"],
        "changed_after_batches": [plan["batch"] for plan in plans],
        # The first batch waits for lanes and for the first evaluation.
        "seconds_before": statistics.mean(taken for batch, taken in seconds.items() if 1 < batch <= first["batch"]),
        "promised_seconds": last["batch_seconds"],
        "seconds": after,
        "best_seconds": best.split_result.batch_seconds,
        "best_num_trainer": len(best.split_result.candidate.trainers),
        "best_fragment_size": best.split_result.candidate.fragment_size,
        "regret": after / best.split_result.batch_seconds - 1,
        "predicted_move_seconds": sum(plan["predicted_move_seconds"] for plan in plans),
        "move_seconds": sum(plan["move_seconds"] for plan in plans),
    }
