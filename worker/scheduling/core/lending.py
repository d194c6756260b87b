"""Lending (TAG, trainer-assisted generation): when trainer lanes generate, and when they are returned to training.

    gang idle, nothing to train ──► policy: how many fragments each? ──► Switch ──► [Pull] Generate … ──► Switch back
                                                                                        ▲
                       training work ready: no fragment begins any more on a lent lane ─┘

Colocated placement uses the same mechanism without a choice: every lane generates until no fragment waits, then trains,
but for those that train early (`early_training`).
Invariant: once there is training work (colocated: and no fragment of the batch that waits), a lent lane returns at the
end of its fragment. Lanes that are back train meanwhile, except where ranks must take equally many micro-batches; the
commit waits for all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from worker.contracts.names import LaneRole
from worker.scheduling.core.early_training import EarlyTraining
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.messages import Action, Lend, LendSettled, Switch
from worker.scheduling.core.state import SchedulerState

UNLIMITED = 2**62
"""An allowance that no batch exhausts, in fragments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedGain:
    """The effect that a policy predicts of lending."""

    last_batch: int
    """The number of the last batch in the forecast; the gain is measured at its end."""
    end_without: float
    """When that batch would end without any lending from now on, in seconds of the executor's clock."""
    gain_seconds: float
    """Seconds by which that batch is predicted to end sooner."""
    least_gain_seconds: float = 0.0
    """The policy's threshold: it would not have lent for less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """A policy's decision to lend idle trainer lanes."""

    num_fragments: int
    """The number of fragments that each lane may begin."""
    lanes: tuple[str, ...] | None = None
    """The idle lanes to lend; `None` for as many of them as fragments wait."""
    prediction: PredictedGain | None = None
    """`None` from a policy that predicts nothing."""


class LendingPolicy(Protocol):
    """Decides how idle trainer lanes are lent."""

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        """The allowance for a bubble: trainer lanes are idle, there is nothing to train, and fragments wait. `None` for
        leaving the lanes idle.

        Args:
            state: the scheduler's whole state, not to be changed.
            idle: the trainer lanes that could be lent.
            at: now, in seconds of the executor's clock.
        """
        ...


class Lending:
    """Lends lanes as a policy decides, and returns them; without a policy no lane is ever lent."""

    def __init__(self, state: SchedulerState, policy: LendingPolicy | None) -> None:
        self._state = state
        self._lanes, self._generation = state.lanes, state.generation
        self._together = state.lends_together
        self.policy = policy
        """Decides from now on; lanes lent before return as it was decided then."""
        self._early = EarlyTraining(state)
        self._num_decisions = 0
        self._unsettled: list[tuple[int, PredictedGain]] = []
        """(decision number, prediction) of the decisions whose realised gain is not known yet."""

    def train_early(self, at: float) -> None:
        """Let colocated lanes that are better at training begin no further fragment."""
        for lane in self._early.next_lanes(at):
            self._lanes.allow(lane, 0)

    def reclaim(self, *, training_waits: bool, at: float) -> Iterator[Action]:
        """Switch back the lent lanes that have nothing under way and no fragment left to generate.

        `training_waits`: there is training work, so lent lanes begin no further fragment.
        """
        if training_waits or not self._generation.num_unclaimed:
            self._end_allowances(unassign=training_waits)
        returning = self._lanes.exhausted
        if self._together and len(returning) < self._lanes.num_lent_lanes:
            return
        for lane in returning:
            yield self._switch(lane, LaneRole.TRAINER, at)

    def _end_allowances(self, *, unassign: bool) -> None:
        """Let lent lanes begin no further fragment except one that is assigned to them; with `unassign`, not even that
        one."""
        for lane in self._lanes.with_allowance:
            if unassign:
                self._generation.unassign(lane)
            if not self._generation.is_assigned(lane):
                self._lanes.allow(lane, 0)

    def lend(self, open_batches: Sequence[int], at: float) -> Iterator[Action]:
        """Lend idle lanes as the policy decides; to be called only while there is nothing to train.

        `open_batches`: their numbers, the one being trained first.
        """
        num_unclaimed = self._generation.num_unclaimed
        if self.policy is None or not num_unclaimed or self._lanes.gang_action is not None:
            return
        free = [*self._lanes.free(LaneRole.TRAINER), *self._lanes.exhausted]
        idle = [lane for lane in free if self._early.may_generate(lane, at)]
        if (
            not idle
            or self._lanes.gang_is_reserved
            or (self._together and len(idle) < self._lanes.num(LaneRole.TRAINER))
        ):
            return
        allowance = self.policy.grant(self._state, idle, at)
        if allowance is None:
            return
        chosen = idle if self._together else _named(allowance.lanes, idle)[:num_unclaimed]
        yield from self._record(chosen, allowance, open_batches)
        for lane in chosen:
            self._lanes.allow(lane, allowance.num_fragments)
            if not lane.is_lent:
                yield self._switch(lane, LaneRole.ROLLOUT, at)

    def settle(self, batch: int, at: float) -> Iterator[Action]:
        """Report the realised gain of the decisions that were predicted to end `batch` sooner; it has ended at `at`."""
        for decision, prediction in self._unsettled:
            if prediction.last_batch <= batch:
                yield LendSettled(decision, prediction.end_without - at)
        self._unsettled = [entry for entry in self._unsettled if entry[1].last_batch > batch]

    def _record(self, chosen: Sequence[Lane], allowance: Allowance, open_batches: Sequence[int]) -> Iterator[Action]:
        prediction = allowance.prediction
        # A policy that predicts nothing is asked again for each fragment of a lent lane: that is no new decision.
        is_new = prediction is not None or any(not lane.is_lent for lane in chosen)
        if not open_batches or allowance.num_fragments == UNLIMITED or not is_new:
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
            None if prediction is None else prediction.least_gain_seconds,
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
