"""Runs one case on a real Ray cluster, with emulated lanes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.engine.driving import RUN_SECONDS, bootstrap_answer, grants, start_driver
from tests.engine.emulated.cases import Case
from tests.engine.prediction import RunMeasurements
from tests.engine.telemetry.ingest_server import Ingest
from worker.engine.emulated.timing import Emulation
from worker.scheduling.core.costs import dump_costs

LANE_CPUS = 0.01
"""CPUs that Ray reserves for a lane. A lane only waits, and Ray must place dozens of them on a small machine."""


def emulate(
    case: Case, ray_address: str, ingest: Ingest, folder: Path, *, batch: Mapping[str, Any] = {}, **settings: Any
) -> RunMeasurements:
    """Run a case to its end.

    Args:
        batch: changes to the `batch` section of its spec.
        settings: of the `Emulation`.

    Raises:
        RuntimeError: with the driver's output, if the run fails.
    """
    spec = case.spec.model_copy(update={"batch": case.spec.batch.model_copy(update=dict(batch))})
    emulation = Emulation.model_validate({"costs": dump_costs(case.costs), **settings})
    file = folder / "emulation.json"
    file.write_text(emulation.model_dump_json())
    lanes = tuple(grant.model_copy(update={"num_cpus": LANE_CPUS}) for grant in grants(spec))
    answer = bootstrap_answer(spec, "none", folder / "checkpoints", lanes=lanes)
    driven = start_driver(ingest, answer, ray_address, ("worker.engine.emulated", str(file)))
    try:
        output, _ = driven.process.communicate(timeout=RUN_SECONDS)
    finally:
        driven.kill()
    if driven.process.returncode != 0:
        raise RuntimeError(f"the run failed: {output[-4000:]}")
    return RunMeasurements.of_events(ingest.events)
