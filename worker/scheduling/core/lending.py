"""The lending concern (TAG, trainer-assisted generation): when trainer lanes generate, and when they go back.

    gang idle, nothing to train ──► policy: how many fragments each? ──► Switch ──► [Pull] Generate … ──► Switch back
                                                                                        ▲
                       training work ready: no fragment begins any more on a lent lane ─┘

Colocated placement is the same movement without a choice: every lane generates until no fragment waits, then all train.

Invariant: a lent lane goes back at a fragment's end as soon as there is training work, and no gradient is touched while
any lane of the gang is away.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from worker.contracts.names import LaneRole
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.messages import Action, Lend, LendSettled, Switch
from worker.scheduling.core.state import SchedulerState

UNLIMITED = 2**62
"""An allowance that is never used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedGain:
    """What a policy that predicts expects of lending."""

    last_batch: int
    """The batch by whose end it goes."""
    end_without: float
    """When that batch would end without any lending from here on, in the scheduler's time."""
    gain_seconds: float
    """By how much sooner it is to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a policy grants the idle trainer lanes."""

    num_fragments: int
    """For each lane."""
    lanes: tuple[str, ...] | None = None
    """Which of the idle lanes; `None`: all of them, as far as fragments wait."""
    prediction: PredictedGain | None = None


class LendingPolicy(Protocol):
    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        """Asked in a bubble: trainer lanes idle, nothing to train, fragments waiting. `None`: better wait.

        Args:
            state: the whole of what is known, to be read only.
            idle: the trainer lanes that could be lent.
            at: now, in seconds of the executor's clock.
        """
        ...


class Lending:
    """Carries out what a policy grants, and takes lanes back; without a policy nothing is ever lent."""

    def __init__(self, state: SchedulerState, policy: LendingPolicy | None) -> None:
        self._state = state
        self._lanes, self._generation = state.lanes, state.generation
        self._together = state.lends_together
        self._policy = policy
        self._num_decisions = 0
        self._unsettled: list[tuple[int, PredictedGain]] = []
        """Decisions whose gain is not known yet."""

    def reclaim(self, *, training_waits: bool, at: float) -> Iterator[Action]:
        """Send lent lanes back that have nothing under way and nothing more to do here."""
        if training_waits or not self._generation.num_unclaimed:
            self._recall(release=training_waits)
        back = self._lanes.exhausted
        if self._together and len(back) < self._lanes.num_lent_lanes:
            return
        for lane in back:
            yield self._switch(lane, LaneRole.TRAINER, at)

    def _recall(self, *, release: bool) -> None:
        """Lent lanes begin nothing more, but for what is kept for them where that is not released."""
        for lane in self._lanes.allowed:
            if release:
                self._generation.release(lane)
            if not self._generation.is_bound(lane):
                self._lanes.allow(lane, 0)

    def lend(self, open_batches: Sequence[int], at: float) -> Iterator[Action]:
        """Ask the policy what the idle lanes of a gang without work shall do; called when there is nothing to train."""
        num_unclaimed = self._generation.num_unclaimed
        if self._policy is None or not num_unclaimed or self._lanes.gang_action is not None:
            return
        idle = [*self._lanes.free(LaneRole.TRAINER), *self._lanes.exhausted]
        if (
            not idle
            or self._lanes.gang_is_reserved
            or (self._together and len(idle) < self._lanes.num(LaneRole.TRAINER))
        ):
            return
        allowance = self._policy.grant(self._state, idle, at)
        if allowance is None:
            return
        chosen = idle if self._together else _named(allowance.lanes, idle)[:num_unclaimed]
        yield from self._record(chosen, allowance, open_batches)
        for lane in chosen:
            self._lanes.allow(lane, allowance.num_fragments)
            if not lane.is_lent:
                yield self._switch(lane, LaneRole.ROLLOUT, at)

    def settle(self, batch: int, at: float) -> Iterator[Action]:
        """`batch` is complete: tell what the decisions brought that were to end it sooner."""
        for decision, prediction in self._unsettled:
            if prediction.last_batch <= batch:
                yield LendSettled(decision, prediction.end_without - at)
        self._unsettled = [entry for entry in self._unsettled if entry[1].last_batch > batch]

    def _record(self, chosen: Sequence[Lane], allowance: Allowance, open_batches: Sequence[int]) -> Iterator[Action]:
        prediction = allowance.prediction
        is_news = prediction is not None or any(not lane.is_lent for lane in chosen)
        if not open_batches or allowance.num_fragments == UNLIMITED or not is_news:
            return
        self._num_decisions += 1
        if prediction is not None:
            self._unsettled.append((self._num_decisions, prediction))
        yield Lend(
            self._num_decisions,
            open_batches[0],
            tuple(lane.name for lane in chosen),
            allowance.num_fragments,
            None if prediction is None else prediction.gain_seconds,
        )

    def _switch(self, lane: Lane, to: LaneRole, at: float) -> Action:
        action = Switch(lane.name, to)
        self._lanes.start(lane, action, at)
        return action


def _named(names: tuple[str, ...] | None, idle: Sequence[Lane]) -> Sequence[Lane]:
    if names is None:
        return idle
    by_name = {lane.name: lane for lane in idle}
    return [by_name[name] for name in names]
