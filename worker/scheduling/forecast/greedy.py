"""`tag: greedy`: a fragment for every idle trainer lane, for as long as fragments wait, but for lanes that are so slow
that all the training would wait for their fragment.

    T: seconds until the lane has generated a fragment      rollout lanes end T × (fragments they generate a second)
       (switch included)                                    meanwhile, less the one that each has under way

Where that is no less than what waits, the lane would end its fragment after all others, and stays. Invariant: of lanes
alike one stays only where the switch takes longer than what waits is worth, and while a cost is not known, none does.
"""

from collections.abc import Sequence

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import Allowance
from worker.scheduling.core.state import SchedulerState


class Greedy:
    """Decides for one scheduler. Costs are read once a batch and whenever lanes come or go."""

    def __init__(self) -> None:
        self._read_for: object = None
        """The batches and lanes that costs were read for."""
        self._num_ended: dict[str, tuple[float, float]] = {}
        """By trainer lane: the fragments that rollout lanes end while it generates one, if it is lent already, and if
        it must switch first."""
        self._most_ended = 0.0
        """The largest of them: with more fragments waiting no lane stays."""

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        self._read(state)
        num_waiting = state.generation.num_unclaimed
        if state.lends_together or num_waiting > self._most_ended:
            return Allowance(num_fragments=1)
        lent = [lane.name for lane in idle if num_waiting > self._num_ended[lane.name][not lane.is_lent]]
        return Allowance(num_fragments=1, lanes=tuple(lent)) if lent else None

    def _read(self, state: SchedulerState) -> None:
        lanes = state.lanes
        read_for = state.batches_completed, lanes.num_joined, lanes.num(LaneRole.ROLLOUT)
        if read_for == self._read_for:
            return
        self._read_for, self._num_ended, self._most_ended = read_for, {}, 0.0
        rollouts = [_generate_seconds(state, lane) for lane in lanes.of(LaneRole.ROLLOUT)]
        trainers = {lane.name: _generate_seconds(state, lane) for lane in lanes.trainers}
        if not all(rollouts) or not all(trainers.values()):
            return
        rate = sum(1 / seconds for seconds in rollouts)
        for name, seconds in trainers.items():
            switched = seconds + (state.costs.seconds(name, CostKind.LEND) or 0.0)
            self._num_ended[name] = seconds * rate - len(rollouts), switched * rate - len(rollouts)
        self._most_ended = max((switched for _, switched in self._num_ended.values()), default=0.0)


def _generate_seconds(state: SchedulerState, lane: Lane) -> float:
    """Seconds of a fragment; 0 where nothing is known."""
    return state.costs.seconds(lane.name, CostKind.GENERATE, state.algebra.fragment_size) or 0.0
