"""The work of the trainer gang: micro-batches for each rank by itself, then what takes all of them together.

    a rank is free, units are ready ──► `rank_shares` ──► Accumulate ──► Accumulated ─┐
    all ranks must take equally many ─► `take_in_step` ─► Accumulate for all at once ─┤
                                                                                      ▼
                       mini-batch taken, every rank free and none lent ──► Commit … ──► Snapshot

Ranks wait for each other in commits and snapshots only. Where they must take equally many micro-batches (ZeRO 2 and 3
reduce gradients in every backward pass), they wait for each other in every accumulation. Invariant: nothing begins
while the controller holds the gang, and no commit while a rank is at work or lent.
"""

from collections.abc import Iterator

from worker.contracts.names import LaneRole
from worker.scheduling.core.batching import num_micro_batches_per_unit
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.expected_ends import return_times
from worker.scheduling.core.messages import Accumulate, Accumulated, Action, Committed, Snapshot
from worker.scheduling.core.rank_shares import RankShares
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.core.training import Training


class GangWork:
    """Starts the training actions of one scheduler, and counts their answers."""

    def __init__(self, state: SchedulerState) -> None:
        self._state = state
        self._shares = RankShares(())

    def next_actions(self, at: float) -> Iterator[Action]:
        """Whatever the gang, or its free ranks, can begin for the batch being trained."""
        state, lanes = self._state, self._state.lanes
        head = state.head
        if head is None or not lanes.ranks_may_begin or state.waits_for_publish:
            return
        training = head.training
        if training.is_complete or training.is_minibatch_taken:
            if lanes.gang_is_free:
                yield self._start_gang(training, head.number, at)
        elif state.equal_counts:
            if lanes.gang_is_free:
                yield from self._started(training.take_in_step([lane.name for lane in lanes.trainers]), at)
        elif lanes.num_free(LaneRole.TRAINER) and (num_units := training.num_units_ready):
            yield from self._take(training, num_units, at)

    def accumulated(self, event: Accumulated) -> None:
        """Free the rank. Raises `ProtocolError` for an answer to nothing."""
        self._state.lanes.finish(event.lane, event)
        if not self._state.equal_counts:
            self._shares.ended(event.lane)
            self._read_speed(event.lane)

    def committed(self, event: Committed) -> None:
        """Free the gang, and open the next mini-batch. Raises `ProtocolError` for an answer to nothing."""
        self._state.lanes.finish_gang(event)
        self._state.work.batches[event.batch].training.committed()
        self._shares.committed()
        for lane in self._shares.lanes:
            self._read_speed(lane)

    def _start_gang(self, training: Training, batch: int, at: float) -> Action:
        state = self._state
        if training.is_complete:
            action: Action = Snapshot(batch, state.policy_version + 1)
        else:
            action = training.commit()
        state.lanes.start_gang(action, at)
        return action

    def _take(self, training: Training, num_units: int, at: float) -> Iterator[Action]:
        shares = self._known_shares()
        free = [lane.name for lane in self._state.lanes.free(LaneRole.TRAINER)]
        taken = shares.to_take(free, num_units, training.num_units_left, at, return_times(self._state, at))
        for lane, number in taken:
            shares.began(lane, number, at)
        yield from self._started([training.take(lane, number) for lane, number in taken], at)

    def _started(self, actions: list[Accumulate], at: float) -> Iterator[Action]:
        for action in actions:
            self._state.lanes.start(self._state.lanes[action.lane], action, at)
        yield from actions

    def _known_shares(self) -> RankShares:
        """The ranks as they are now; trainer lanes join only between mini-batches."""
        lanes = tuple(lane.name for lane in self._state.lanes.trainers)
        if lanes != self._shares.lanes:
            per_unit = num_micro_batches_per_unit(self._state.algebra, tsp=self._state.settings.tsp)
            self._shares = RankShares(lanes, num_micro_batches_per_unit=per_unit)
            for lane in lanes:
                self._read_speed(lane)
        return self._shares

    def _read_speed(self, lane: str) -> None:
        """Take over what the cost model knows by now; without any estimate all ranks count as alike."""
        cost = self._state.costs.cost(lane, CostKind.ACCUMULATE)
        if cost is not None:
            self._shares.set_speed(lane, cost.per_unit, cost.per_call)
