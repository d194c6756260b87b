"""The batch times and costs that a run reported, and the simulator's prediction of the same run."""

import random
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.engine.driving import grants
from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import Cost, CostKind, CostTable, parse_costs
from worker.scheduling.core.messages import Event, Published
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.planning.cost_estimates import lane_name, pool_costs
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator

Costs = dict[tuple[str, CostKind], Cost]

NUM_SIMULATIONS = 20
VARIATION = 0.02
"""By how much an emulated lane's seconds differ from call to call: the milliseconds of a message in tenths of a
second."""


@dataclass(frozen=True, slots=True)
class RunMeasurements:
    """What a run reported, by number of batches complete, from 1."""

    batch_seconds: Mapping[int, float]
    """Seconds from the publish of the previous batch to that of this one."""
    costs: Mapping[int, Costs]
    """Costs measured by the end of the batch."""

    @classmethod
    def of_events(cls, events: Iterable[dict[str, Any]]) -> "RunMeasurements":
        """The measurements in a run's events."""
        seconds, costs = {}, {}
        for event in events:
            if event["type"] == "metrics" and "speed/batch_seconds" in event["values"]:
                seconds[event["batch"]] = event["values"]["speed/batch_seconds"]
            elif event["type"] == "costs":
                costs[event["batch"]] = parse_costs(map(WorkCost.model_validate, event["costs"]))
        return cls(seconds, costs)

    def mean_seconds(self, batches: Iterable[int]) -> float:
        return statistics.mean(self.batch_seconds[batch] for batch in batches)


def simulated(
    spec: RunSpec, costs: CostTable, vary: Callable[[float], float] = lambda seconds: seconds
) -> RunMeasurements:
    """The run simulated with the lanes that it would be granted. Like a real run's, its scheduler knows only the costs
    that it measures itself."""
    scheduler = Scheduler(
        spec.algebra,
        spec.pipeline,
        advantage_std=spec.algorithm.advantage_std,
        first_batch=0,
        lending_policy=lending_policy(spec.pipeline),
        num_batches=spec.num_batches,
        policy_version=0,
        equal_counts=spec.deepspeed.zero_stage >= 2,
    )
    published_at = [0.0]

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published_at.append(at)

    lanes = [SimulatedLane(lane=grant.lane, role=grant.role) for grant in grants(spec)]
    Simulator(scheduler, lanes, costs, None, observe=observe, vary=vary).run()
    seconds = {batch: published_at[batch] - published_at[batch - 1] for batch in range(1, len(published_at))}
    return RunMeasurements(seconds, {})


def first_estimate(spec: RunSpec) -> Costs:
    """The costs expected of CPU lanes before anything is measured, by the names of the lanes that the spec is
    granted."""
    lanes = [grant.lane for grant in grants(spec) if grant.role is not LaneRole.REWARD]
    trainers = [index for index, lane in enumerate(lanes) if lane.startswith(LaneRole.TRAINER)]
    pool = pool_costs(Workload.of(spec), [CPU_CORE] * len(lanes), num_reward=spec.lanes.num_reward)
    names = {lane_name(index): lane for index, lane in enumerate(lanes)}
    return {(names.get(lane, lane), kind): cost for (lane, kind), cost in pool.cost_table(trainers).items()}


def expected_seconds(spec: RunSpec, costs: CostTable, batches: Iterable[int]) -> float:
    """The mean seconds of `batches` over simulations whose work takes a little more or less each time, as a real run's
    does: where two lanes are free at almost the same time, milliseconds decide which takes the last fragment, and with
    lanes of unlike speed the batches of one simulation are all of the one kind or all of the other."""
    batches = tuple(batches)

    def one(seed: int) -> float:
        draw = random.Random(seed)
        varied = simulated(spec, costs, lambda seconds: seconds * draw.uniform(1 - VARIATION, 1 + VARIATION))
        return varied.mean_seconds(batches)

    return statistics.mean(map(one, range(NUM_SIMULATIONS)))


def prediction_error(measured: RunMeasurements, spec: RunSpec, *, measured_by: int, batches: Iterable[int]) -> float:
    """Predicted ÷ measured mean seconds of `batches`, less 1, with the costs measured by the end of batch
    `measured_by`."""
    batches = tuple(batches)
    return expected_seconds(spec, measured.costs[measured_by], batches) / measured.mean_seconds(batches) - 1
