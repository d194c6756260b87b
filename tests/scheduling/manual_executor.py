"""A scheduler whose actions a test finishes one by one, for claims about one moment of a run."""

from dataclasses import replace
from typing import Any

from tests.scheduling.random_executor import answer
from tests.scheduling.run_settings import Settings
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import LaneRole, Placement
from worker.scheduling.core.batching import num_micro_batches_per_group
from worker.scheduling.core.messages import Accumulate, Action, Event, LaneJoined, MicroBatchKey, Scored

ONE_OF_EACH = (("t", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))
"""Lanes by name: `t` trains, `g` generates, `s` scores."""


class ManualExecutor:
    """Keeps the actions under way in `actions`; `finish` answers one of them. A second passes with each event.

    Batch 0 is of version 0, which rollout lanes hold from the start.
    """

    def __init__(
        self,
        algebra: BatchAlgebra,
        *,
        lanes: tuple[tuple[str, LaneRole], ...] = ONE_OF_EACH,
        **switches: Any,
    ) -> None:
        """`switches` are fields of `Settings`."""
        self.scheduler = replace(Settings(algebra=algebra, version_of_batch_0=0), **switches).scheduler()
        self.at = 0.0
        self.actions: list[Action] = []
        for lane, role in lanes:
            self.scheduler.apply(LaneJoined(lane, role, 0 if role is LaneRole.ROLLOUT else None), self.at)
        self.start()

    def start(self) -> list[Action]:
        """Start the scheduler's next actions, and return them."""
        new = self.scheduler.next_actions(self.at)
        self.actions += new
        return new

    def apply(self, event: Event) -> list[Action]:
        """Apply an event a second later; returns the actions that follow."""
        self.at += 1.0
        self.scheduler.apply(event, self.at)
        return self.start()

    def finish(self, kind: type[Action], lane: str | None = None, *, has_spread: bool = True) -> list[Action]:
        """Answer the first action of this kind (on this lane); returns the actions that follow. Of a score,
        `has_spread` says whether the group's rewards differ."""
        chosen = next(a for a in self.actions if isinstance(a, kind) and lane in (None, getattr(a, "lane", None)))
        self.actions.remove(chosen)
        event = answer(chosen)
        return self.apply(replace(event, has_spread=has_spread) if isinstance(event, Scored) else event)

    def finish_all(self, *kinds: type[Action]) -> None:
        """Answer actions of these kinds for as long as there are any."""
        while any(isinstance(action, kinds) for action in self.actions):
            self.finish(next(type(action) for action in self.actions if isinstance(action, kinds)))


def whole_groups(lane: str, algebra: BatchAlgebra, *groups: int, batch: int = 0) -> Accumulate:
    """One lane's share of all micro-batches of these groups, in the first mini-batch of a batch."""
    number = num_micro_batches_per_group(algebra)
    keys = tuple(MicroBatchKey(group, index) for group in groups for index in range(number))
    return Accumulate(lane, batch, 0, 0, keys)


def colocated(algebra: BatchAlgebra, *trainers: str, **switches: Any) -> ManualExecutor:
    """An executor of colocated trainer lanes and one reward lane."""
    lanes = (*((lane, LaneRole.TRAINER) for lane in trainers), ("s", LaneRole.REWARD))
    return ManualExecutor(algebra, lanes=lanes, placement=Placement.COLOCATED, **switches)
