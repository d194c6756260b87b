"""Drivers with emulated lanes on a real Ray cluster, and the run of one case."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.engine.driving import RUN_SECONDS, Driven, bootstrap_answer, grants, start_driver
from tests.engine.emulated.cases import SECONDS_PER_MICRO_BATCH, Case
from tests.engine.prediction import RunMeasurements
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.emulated.timing import Emulation
from worker.scheduling.core.costs import GANG, Cost, CostKind, dump_costs

LANE_CPUS = 0.01
"""CPUs that Ray reserves for a lane. A lane only waits, and Ray must place dozens of them on a small machine."""


def start_emulated(
    spec: RunSpec, emulation: Emulation, ray_address: str, ingest: Ingest, folder: Path, **changes: Any
) -> Driven:
    """Start a driver with emulated lanes. `changes` replace fields of its bootstrap answer."""
    file = folder / "emulation.json"
    file.write_text(emulation.model_dump_json())
    lanes = tuple(grant.model_copy(update={"num_cpus": LANE_CPUS}) for grant in grants(spec))
    answer = bootstrap_answer(spec, "none", folder / "checkpoints", lanes=lanes, **changes)
    return start_driver(ingest, answer, ray_address, ("worker.engine.emulated", str(file)))


def emulate(
    case: Case,
    ray_address: str,
    ingest: Ingest,
    folder: Path,
    *,
    batch: Mapping[str, Any] = {},
    zero_stage: int | None = None,
    **settings: Any,
) -> RunMeasurements:
    """Run a case to its end.

    Args:
        batch: changes to the `batch` section of its spec.
        zero_stage: that of its trainer lanes, where it is not the usual one.
        settings: of the `Emulation`.

    Raises:
        RuntimeError: with the driver's output, if the run fails.
    """
    spec = case.spec.model_copy(update={"batch": case.spec.batch.model_copy(update=dict(batch))})
    costs = case.costs
    if zero_stage is not None:
        deepspeed = DeepSpeedSpec.model_validate({"config": f"zero{zero_stage}"})
        spec = spec.model_copy(update={"deepspeed": deepspeed})
        costs[GANG, CostKind.ACCUMULATE] = Cost(0.0, SECONDS_PER_MICRO_BATCH)
    emulation = Emulation.model_validate({"costs": dump_costs(costs), **settings})
    driven = start_emulated(spec, emulation, ray_address, ingest, folder)
    try:
        output, _ = driven.process.communicate(timeout=RUN_SECONDS)
    finally:
        driven.kill()
    if driven.process.returncode != 0:
        raise RuntimeError(f"the run failed: {output[-4000:]}")
    return RunMeasurements.of_events(ingest.events)
