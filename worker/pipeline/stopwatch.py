"""Learns what work costs: each answer's time since its action began, handed to the cost book in the right unit.

The seconds are the executor's, messages to and fro included, since those are what a plan has to reckon with. Only
training fragments tell what generation costs: an evaluation takes another number of denoising steps.
"""

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Role
from worker.pipeline.costs import GANG, CostBook, CostKind
from worker.pipeline.lanes import LaneTable
from worker.pipeline.packing import num_micro_batches
from worker.pipeline.types import (
    Accumulate,
    Accumulated,
    Committed,
    Event,
    Generate,
    Generated,
    Published,
    Pulled,
    Purpose,
    Score,
    Scored,
    Snapshotted,
    Switched,
)


class Stopwatch:
    def __init__(self, costs: CostBook, algebra: BatchAlgebra, lanes: LaneTable, *, tsp: bool) -> None:
        self._costs = costs
        self._algebra = algebra
        self._lanes = lanes
        self._tsp = tsp
        self.snapshot_at = 0.0
        """When the gang took its last one."""

    def stop(self, event: Event, at: float) -> None:
        """Before the event is applied: the lane still has under way what it answers."""
        match event:
            case Generated() | Scored():
                self._fragment_done(event, at)
            case Pulled(lane):
                self._observe(lane, CostKind.PULL, at)
            case Switched(lane, to):
                self._observe(lane, CostKind.LEND if to is Role.ROLLOUT else CostKind.RECLAIM, at)
            case Accumulated():
                self._accumulated(at)
            case Committed():
                self._gang_done(CostKind.COMMIT, at)
            case Snapshotted():
                self._gang_done(CostKind.SNAPSHOT, at)
                self.snapshot_at = at
            case Published():
                self._costs.observe(GANG, CostKind.PUBLISH, at - self.snapshot_at)
            case _:
                pass

    def _fragment_done(self, event: Generated | Scored, at: float) -> None:
        if event.key.purpose is not Purpose.TRAIN or event.lane not in self._lanes:
            return
        action = self._lanes[event.lane].under_way
        if isinstance(action, Generate | Score):
            kind = CostKind.GENERATE if isinstance(action, Generate) else CostKind.SCORE
            self._observe(event.lane, kind, at, len(action.fragment.members))

    def _accumulated(self, at: float) -> None:
        action = self._lanes.gang_action
        if isinstance(action, Accumulate):
            num_ranks = self._lanes.num(Role.TRAINER)
            num_units = num_micro_batches(self._algebra, len(action.groups), world_size=num_ranks, tsp=self._tsp)
            self._gang_done(CostKind.ACCUMULATE, at, num_units)

    def _gang_done(self, kind: CostKind, at: float, num_units: int = 1) -> None:
        if self._lanes.gang_action is not None:
            self._costs.observe(GANG, kind, at - self._lanes.gang_since, num_units)

    def _observe(self, lane: str, kind: CostKind, at: float, num_units: int = 1) -> None:
        if lane in self._lanes and self._lanes[lane].under_way is not None:
            self._costs.observe(lane, kind, at - self._lanes[lane].since, num_units)
