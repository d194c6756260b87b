"""A recorded run ready to be scheduled anew: what its lanes cost, and how each piece of its work differed from that.

    Recording ──► measured costs ──► `run_costs` ──► PoolCosts of its lanes: what such work costs
        └──► seconds of each piece ÷ its costs ──► `relative_seconds`: what this piece took beyond that

A piece that took 1.3 times its cost takes 1.3 times the cost of whichever lane does it in another schedule. Invariant:
on the lane that did it, in a call like the one it was part of, a piece takes exactly what was recorded.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import GANG, Cost, CostKind
from worker.scheduling.planning.cost_estimates import PoolCosts, lane_name, reward_lane_name
from worker.scheduling.planning.planner import plan_request
from worker.scheduling.replanning.run_costs import run_costs
from worker.scheduling.replanning.run_lanes import RunLanes
from worker.scheduling.rescheduling.recorded_work import Unit, units_of
from worker.scheduling.rescheduling.recording import Recording
from worker.scheduling.simulator.durations import Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """What another schedule of the run's work is computed from."""

    spec: RunSpec
    """The run's concrete spec, with the lanes and switches of the recording."""
    recording: Recording
    names: tuple[str, ...]
    """Ids of the lanes that generate or train, in the order of the pool."""
    rewards: tuple[str, ...]
    prior: PoolCosts
    """What profiles expect of the same lanes."""
    pool: PoolCosts
    """What was measured on them."""
    has_profiles: bool
    """Whether every lane's device has a profile, so that the costs of other devices can be derived."""
    _ratios: Mapping[tuple[CostKind, Unit], float]
    _typical: Mapping[CostKind, float]

    @property
    def trainers(self) -> tuple[int, ...]:
        """Places, among the names, of the lanes that train."""
        return tuple(place for place, name in enumerate(self.names) if self.recording.lanes[name] is LaneRole.TRAINER)

    def relative_seconds(self, lane: str, kind: CostKind, piece: Piece) -> float:
        """The seconds of a piece ÷ its cost: the mean over those of its units that the run did, else over all of its
        kind."""
        ratios = self._ratios
        known = [ratio for unit in units_of(lane, kind, piece) if (ratio := ratios.get((kind, unit))) is not None]
        return sum(known) / len(known) if known else self._typical.get(kind, 1.0)


def recorded_run(spec: RunSpec, recording: Recording, devices: Mapping[str, str]) -> RecordedRun:
    """The run as recorded.

    Args:
        spec: the concrete spec of the attempt.
        devices: by lane, the name in `hardware.ACCELERATORS`; lanes of other devices are left out.

    Raises:
        ValueError: for a recording without a trainer lane, or one whose model no plan can be made for.
    """
    names = tuple(lane for lane, role in recording.lanes.items() if role is not LaneRole.REWARD)
    rewards = tuple(lane for lane, role in recording.lanes.items() if role is LaneRole.REWARD)
    num_trainer = sum(recording.lanes[name] is LaneRole.TRAINER for name in names)
    numbers = {"num_rollout": len(names) - num_trainer, "num_trainer": num_trainer, "num_reward": len(rewards)}
    start = recording.start
    concrete = spec.model_copy(
        update={
            "pipeline": start.pipeline,
            "lanes": spec.lanes.model_copy(update=numbers),
            "batch": spec.batch.model_copy(update={"fragment_size": start.algebra.fragment_size}),
        }
    )
    has_profiles = all(name in devices for name in names)
    request = plan_request(concrete, [devices[name] for name in names] if has_profiles else [])
    trainers = frozenset(place for place, name in enumerate(names) if recording.lanes[name] is LaneRole.TRAINER)
    lanes = RunLanes(names=names, trainers=trainers, rewards=rewards)
    pool = run_costs(request.costs, _measured(recording).measured(), lanes, kinds=request.devices).pool
    ratios, typical = _ratios(recording, costs_by_name(pool, sorted(trainers), names, rewards))
    return RecordedRun(
        spec=concrete,
        recording=recording,
        names=names,
        rewards=rewards,
        prior=request.costs,
        pool=pool,
        has_profiles=has_profiles,
        _ratios=ratios,
        _typical=typical,
    )


def costs_by_name(
    pool: PoolCosts, trainers: Sequence[int], names: Sequence[str], rewards: Sequence[str]
) -> dict[tuple[str, CostKind], Cost]:
    """The pool's cost table by the ids of its lanes."""
    called = {lane_name(place): name for place, name in enumerate(names)} | {GANG: GANG}
    called |= {reward_lane_name(place): name for place, name in enumerate(rewards)}
    return {(called[lane], kind): cost for (lane, kind), cost in pool.cost_table(trainers).items()}


def _measured(recording: Recording) -> CostModel:
    model = CostModel()
    for timed in recording.pieces:
        if timed.is_typical and timed.num_units:
            model.observe(timed.lane, timed.kind, timed.seconds, timed.num_units)
    return model


def _ratios(
    recording: Recording, costs: Mapping[tuple[str, CostKind], Cost]
) -> tuple[dict[tuple[CostKind, Unit], float], dict[CostKind, float]]:
    """By unit, the seconds of the piece that it was part of ÷ the piece's cost; and the means of all typical pieces."""
    ratios: dict[tuple[CostKind, Unit], float] = {}
    of_kind: defaultdict[CostKind, list[float]] = defaultdict(list)
    for timed in recording.pieces:
        cost = costs.get((timed.lane, timed.kind))
        expected = 0.0 if cost is None else cost.seconds(timed.num_units)
        if expected <= 0:
            continue
        ratio = timed.seconds / expected
        for unit in units_of(timed.lane, timed.kind, timed.piece):
            ratios[timed.kind, unit] = ratio
        if timed.is_typical:
            of_kind[timed.kind].append(ratio)
    return ratios, {kind: sum(found) / len(found) for kind, found in of_kind.items()}
