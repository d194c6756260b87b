"""One case of `make bench-robust`: what a run was planned on, what is true, and what happens to its lanes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts
from worker.scheduling.planning.planner import PlanRequest
from worker.scheduling.simulator.simulated_lanes import Incident


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustCase:
    """One run: what was believed, and what is true."""

    believed: PlanRequest
    """For all lanes, those of `late` included."""
    true: PoolCosts
    start_seconds: float = 60.0
    """Start of processes until the model is loaded."""
    save_seconds: float = 5.0
    """Writing a checkpoint, or reading it."""
    num_batches: int = 12
    batches_left: int = 50
    """Batches that decisions count on; the simulation ends before, since the rest would only repeat."""
    slower: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    """By number of batches complete: by lane, the factor by which it is slower from then on."""
    late: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """By number of batches complete: the lanes that join as rollout lanes then."""
    leaving: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """By number of batches complete: the rollout lanes that a user takes away then."""
    vary: Callable[[], Callable[[float], float]] | None = None
    """Makes what turns an expected duration into the actual one, the same for each run; empty where work takes what is
    expected."""
    incidents: Sequence[Incident] = ()

    @property
    def lanes_at_the_start(self) -> tuple[int, ...]:
        late = {lane for lanes in self.late.values() for lane in lanes}
        return tuple(lane for lane in range(len(self.true.lanes)) if lane not in late)

    @property
    def lanes_at_the_end(self) -> tuple[int, ...]:
        """Those that the run is left, whatever it gives back itself."""
        gone = {lane for lanes in self.leaving.values() for lane in lanes}
        return tuple(lane for lane in range(len(self.true.lanes)) if lane not in gone)

    def truth_of(self, lanes: Sequence[int]) -> PlanRequest:
        """What a plan for some of the lanes would be made from if all was known that is true in the end."""
        costs = list(self.true.lanes)
        for factors in self.slower.values():
            for lane, factor in factors.items():
                costs[lane] = slowed(costs[lane], factor)
        return restricted(replace(self.believed, costs=replace(self.true, lanes=tuple(costs))), lanes)

    @property
    def since_batch(self) -> int:
        """Batches complete when the last of what happens has happened."""
        return max([0, *self.slower, *self.late, *self.leaving])


def slowed(lane: LaneCosts, factor: float) -> LaneCosts:
    """The lane with `factor` times the seconds of generation and training."""
    return replace(lane, generate=lane.generate.scaled(factor), accumulate=lane.accumulate.scaled(factor))


def restricted(request: PlanRequest, lanes: Sequence[int]) -> PlanRequest:
    """The request for some of its lanes."""
    costs = replace(request.costs, lanes=tuple(request.costs.lanes[lane] for lane in lanes))
    return replace(request, devices=tuple(request.devices[lane] for lane in lanes), costs=costs)
