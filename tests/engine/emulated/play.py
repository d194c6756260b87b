"""Plays one case twice: on real Ray with emulated lanes, and in the simulator."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engine.driving import RUN_SECONDS, bootstrap_answer, grants, start_driver
from tests.engine.emulated.cases import Case, Costs
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.events import WorkCost
from worker.contracts.run_spec import RunSpec
from worker.engine.emulated.pace import Emulation
from worker.pipeline.costs import CostTable, heard_costs, told_costs
from worker.pipeline.scheduler import Scheduler
from worker.pipeline.simulator import SimulatedLane, Simulator
from worker.pipeline.types import Event, Published

LANE_CPUS = 0.01
"""A lane that only waits needs next to none, and Ray must place dozens on a small machine."""


@dataclass(frozen=True, slots=True)
class Played:
    """What a run told: seconds of each batch by its number from 1, and its learnt costs by batch."""

    batch_seconds: Mapping[int, float]
    costs: Mapping[int, Costs]

    @classmethod
    def of_events(cls, events: Iterable[dict[str, Any]]) -> "Played":
        seconds, costs = {}, {}
        for event in events:
            if event["type"] == "metrics" and "speed/batch_seconds" in event["values"]:
                seconds[event["batch"]] = event["values"]["speed/batch_seconds"]
            elif event["type"] == "costs":
                costs[event["batch"]] = heard_costs(map(WorkCost.model_validate, event["costs"]))
        return cls(seconds, costs)


def emulate(case: Case, ray_address: str, ingest: Ingest, folder: Path, *, relative_spread: float = 0.0) -> Played:
    """Raises `AssertionError` with what the driver printed when the run fails."""
    emulation = Emulation(costs=told_costs(case.costs), relative_spread=relative_spread)
    file = folder / "emulation.json"
    file.write_text(emulation.model_dump_json())
    lanes = tuple(grant.model_copy(update={"num_cpus": LANE_CPUS}) for grant in grants(case.spec))
    answer = bootstrap_answer(case.spec, "none", folder / "checkpoints", lanes=lanes)
    driven = start_driver(ingest, answer, ray_address, ("worker.engine.emulated", str(file)))
    try:
        output, _ = driven.process.communicate(timeout=RUN_SECONDS)
    finally:
        driven.kill()
    assert driven.process.returncode == 0, output[-4000:]
    return Played.of_events(ingest.events)


def simulate(spec: RunSpec, lanes: Iterable[SimulatedLane], costs: CostTable, *, num_batches: int) -> dict[int, float]:
    """Virtual seconds of each batch by its number from 1, from publish to publish."""
    scheduler = Scheduler(
        spec.algebra,
        spec.pipeline,
        advantage_std=spec.algorithm.advantage_std,
        first_batch=0,
        num_batches=num_batches,
        policy_version=0,
        prior=costs,
    )
    published_at = [0.0]

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published_at.append(at)

    Simulator(scheduler, spec.algebra, lanes, costs, lambda span: None, tsp=spec.pipeline.tsp, observe=observe).run()
    return {batch: published_at[batch] - published_at[batch - 1] for batch in range(1, len(published_at))}


def simulated_lanes(case: Case) -> list[SimulatedLane]:
    return [SimulatedLane(lane=lane, role=role) for lane, role in case.lanes]


def steady_mean(batch_seconds: Mapping[int, float]) -> float:
    """Mean over all batches but the first, which waits for lanes and for the first evaluation."""
    return statistics.mean(seconds for batch, seconds in batch_seconds.items() if batch > 1)
