"""Runs that never were: simulated with true costs that nobody is told, noise and stragglers, and logged as a real one
is."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from worker.contracts.names import LaneRole, Placement
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import GANG, Cost, CostKind
from worker.scheduling.core.messages import EvaluationRequested, Event, Published, Purpose, Snapshotted
from worker.scheduling.replay.recorded_scheduler import RecordedScheduler
from worker.scheduling.replay.schedule_log import Applied, Asked, Line, ScheduleStart
from worker.scheduling.rescheduling.recorded_run import RecordedRun, recorded_run
from worker.scheduling.rescheduling.recording import read_recording
from worker.scheduling.simulator.simulated_lanes import Arrival, Incident, SimulatedLane
from worker.scheduling.simulator.simulator import Simulator


def spec_of(num_batches: int = 6, **pipeline: Any) -> RunSpec:
    """8 groups of 8 a batch, in fragments of 2, on 3 rollout and 2 trainer lanes; `pipeline` holds the switches."""
    is_colocated = pipeline.get("placement") == Placement.COLOCATED
    return RunSpec.model_validate(
        {
            "prompts": {"inline": [f"a red square {number}" for number in range(8)]},
            "rewards": [{"name": "shape_match"}],
            "batch": {"num_prompts_per_batch": 8, "group_size": 8, "micro_batch_size": 4, "fragment_size": 2},
            "pipeline": {"placement": "disaggregated", "tag": "off", **pipeline},
            "lanes": {
                "num_rollout": 0 if is_colocated else 3,
                "num_trainer": 5 if is_colocated else 2,
                "num_reward": 1,
            },
            "num_batches": num_batches,
        }
    )


@dataclass(frozen=True, kw_only=True)
class TrueCosts:
    """What work really costs: far from what any profile expects, and more on the slow lanes."""

    slow: Mapping[str, float] = field(default_factory=dict)
    """By lane: by how many times it is slower at everything."""
    noise: float = 0.0
    """The standard deviation of a duration ÷ its mean."""

    def table(self, lanes: Sequence[SimulatedLane]) -> dict[tuple[str, CostKind], Cost]:
        table = {(GANG, CostKind.COMMIT): Cost(0.2), (GANG, CostKind.SNAPSHOT): Cost(0.05)}
        table |= {(GANG, CostKind.PUBLISH): Cost(0.1)}
        for lane in lanes:
            slower = self.slow.get(lane.lane, 1.0)
            of_lane = {
                CostKind.GENERATE: Cost(0.3, 0.35),
                CostKind.ACCUMULATE: Cost(0.05, 0.11),
                CostKind.SCORE: Cost(0.02, 0.05),
                CostKind.PULL: Cost(0.1),
                CostKind.LEND: Cost(0.3),
                CostKind.RECLAIM: Cost(0.2),
            }
            table |= {(lane.lane, kind): cost.scaled(slower) for kind, cost in of_lane.items()}
        return table

    def vary(self, seed: int) -> Callable[[float], float]:
        """A long tail, as real durations have."""
        rng = random.Random(seed)
        sigma = self.noise
        return lambda seconds: seconds * rng.lognormvariate(-sigma * sigma / 2, sigma)


def lanes_of(spec: RunSpec) -> list[SimulatedLane]:
    numbers = {
        LaneRole.ROLLOUT: spec.lanes.num_rollout,
        LaneRole.TRAINER: spec.lanes.num_trainer,
        LaneRole.REWARD: spec.lanes.num_reward,
    }
    return [SimulatedLane(lane=f"{role}-{i}", role=role) for role, number in numbers.items() for i in range(number)]


def start_of(spec: RunSpec) -> ScheduleStart:
    return ScheduleStart(
        algebra=spec.algebra,
        pipeline=spec.pipeline,
        advantage_std=spec.algorithm.advantage_std,
        num_batches=spec.num_batches,
        equal_counts=spec.deepspeed.zero_stage >= 2,
    )


@dataclass(frozen=True, kw_only=True)
class PastRun:
    """A run that is over."""

    spec: RunSpec
    lines: Sequence[Line]
    published: Sequence[float]
    """When each version was published."""

    @property
    def recorded(self) -> RecordedRun:
        return recorded_run(self.spec, read_recording(self.lines), {})


def run_for_real(
    spec: RunSpec,
    true: TrueCosts,
    *,
    seed: int = 0,
    incidents: Sequence[Incident] = (),
    evaluates_after: Sequence[int] = (),
    saves_after: Sequence[int] = (),
    began_at: float = 1.7e9,
) -> PastRun:
    """The run with its log, whose clock began at `began_at`; evaluations of 2 groups of 8, checkpoints of 1.5 s."""
    lines: list[Line] = []
    published: list[float] = []
    scheduler = RecordedScheduler(start_of(spec), lambda line: lines.append(later(line, began_at)))
    lanes = lanes_of(spec)
    coming = [incident.lane for incident in incidents if isinstance(incident, Arrival)]

    def evaluate(number: int, version: int, at: float) -> None:
        if number in evaluates_after:
            scheduler.apply(EvaluationRequested(Purpose.EVALUATE, number, 2, 8, version), at)

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published.append(at)
            evaluate(len(published), event.policy_version, at)
        if isinstance(event, Snapshotted) and len(published) in saves_after:
            simulator.hold_trainers(1.5, len(published), at)

    table = true.table([*lanes, *coming])
    simulator = Simulator(scheduler, lanes, table, None, vary=true.vary(seed), observe=observe, incidents=incidents)
    evaluate(0, 0, 0.0)
    simulator.run()
    return PastRun(spec=spec, lines=lines, published=published)


def later(line: Line, seconds: float) -> Line:
    """The line as of a run whose clock began later."""
    match line:
        case ScheduleStart():
            return line
        case Applied(at, event):
            return Applied(at + seconds, event)
        case Asked(at, actions):
            return Asked(at + seconds, actions)
        case _:
            return line
