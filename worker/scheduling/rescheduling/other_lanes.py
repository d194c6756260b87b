"""The lanes of another schedule: which of the run's own take which role, which are new, and what all of them cost.

Invariant: a lane keeps its own costs in whichever role; a lane that the run did not have costs what one of its lanes
does; and another device costs by as much more or less as its profile differs from that of the run's device.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import count

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import Cost, CostKind
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts, pool_costs
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator
from worker.scheduling.rescheduling.recorded_run import RecordedRun, costs_by_name
from worker.scheduling.simulator.simulated_lanes import SimulatedLane


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLanes:
    lanes: tuple[SimulatedLane, ...]
    costs: Mapping[tuple[str, CostKind], Cost]


def other_lanes(
    run: RecordedRun, *, num_rollout: int, num_trainer: int, num_reward: int, device: Accelerator | None
) -> OtherLanes:
    """So many lanes of each role, on the run's own devices or all on `device`. Lanes of the run keep their id while
    they keep their role."""
    own = {role: [name for name in run.names if run.recording.lanes[name] is role] for role in LaneRole}
    trained, generated = own[LaneRole.TRAINER], own[LaneRole.ROLLOUT]
    trainers = [*trained, *generated][:num_trainer]
    free = [name for name in [*generated, *trained] if name not in trainers]
    rollouts = free[:num_rollout]
    taken = set(run.recording.lanes)
    places = {name: place for place, name in enumerate(run.names)}
    found: list[tuple[str, LaneRole, int]] = []
    for role, kept, number in ((LaneRole.TRAINER, trainers, num_trainer), (LaneRole.ROLLOUT, rollouts, num_rollout)):
        fresh = _fresh_names(role, taken)
        for index in range(number):
            old = kept[index] if index < len(kept) else None
            is_same = old is not None and run.recording.lanes[old] is role
            place = len(found) % len(run.names) if old is None else places[old]
            found.append((old if old is not None and is_same else next(fresh), role, place))
    order = list(run.recording.lanes)
    found.sort(key=lambda lane: order.index(lane[0]) if lane[0] in order else len(order))
    names_of_rewards = _rewards(run, num_reward, taken)
    pool = run.pool if device is None else _on(device, run)
    pool = replace(pool, lanes=tuple(pool.lanes[place] for _, _, place in found), num_reward=num_reward)
    names = [name for name, _, _ in found]
    training = [position for position, (_, role, _) in enumerate(found) if role is LaneRole.TRAINER]
    lanes = [SimulatedLane(lane=name, role=role) for name, role, _ in found]
    lanes += [SimulatedLane(lane=name, role=LaneRole.REWARD) for name in names_of_rewards]
    lanes.sort(key=lambda lane: order.index(lane.lane) if lane.lane in order else len(order))
    return OtherLanes(lanes=tuple(lanes), costs=costs_by_name(pool, training, names, names_of_rewards))


def _fresh_names(role: LaneRole, taken: set[str]) -> Iterator[str]:
    return (name for number in count() if (name := f"{role}-{number}") not in taken)


def _rewards(run: RecordedRun, number: int, taken: set[str]) -> list[str]:
    fresh = _fresh_names(LaneRole.REWARD, taken)
    return [*run.rewards[:number], *(next(fresh) for _ in range(number - len(run.rewards)))]


def _on(device: Accelerator, run: RecordedRun) -> PoolCosts:
    """The measured costs of the run's lanes, as they would be on `device`."""
    work = Workload.of(run.spec)
    there = pool_costs(work, [device] * len(run.names), num_reward=run.pool.num_reward)
    size = work.algebra.fragment_size
    lanes = zip(run.pool.lanes, run.prior.lanes, there.lanes, strict=True)
    return replace(
        run.pool,
        lanes=tuple(_moved(measured, expected, other, size) for measured, expected, other in lanes),
        score=run.pool.score.scaled(_quotient(there.score.seconds(size), run.prior.score.seconds(size))),
    )


def _moved(measured: LaneCosts, expected: LaneCosts, other: LaneCosts, fragment_size: int) -> LaneCosts:
    changes: dict[str, Cost | float] = {}
    for field in fields(LaneCosts):
        known, here, there = (getattr(costs, field.name) for costs in (measured, expected, other))
        if isinstance(known, Cost):
            size = fragment_size if field.name == CostKind.GENERATE else 1
            changes[field.name] = known.scaled(_quotient(there.seconds(size), here.seconds(size)))
        else:
            changes[field.name] = known * there / here if here > 0 else there
    return replace(measured, **changes)  # type: ignore[arg-type]


def _quotient(there: float, here: float) -> float:
    """1 for work that is expected to take no time."""
    return there / here if here > 0 else 1.0
