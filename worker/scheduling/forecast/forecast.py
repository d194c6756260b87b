"""Predicts when the open batches end, given a plan of the bubbles in which trainer lanes are lent.

    InitialState, LendingPlan ──► for each batch: begun ──► generated ──► scored ──► trained ──► published
                                                    ▲                                   │
                                                    └── lent lanes ◄── bubbles ◄────────┘

The rules are the scheduler's, in closed form: fragments are pulled from one queue, the gang trains the groups that are
ready, a lent lane is recalled at the end of its fragment, the next batch begins as admission allows. `core.rules` holds
the rules that both share; `tests/scheduling/test_rules_agree.py` checks the others. Bubbles are numbered in order of
time; the plan names the loans of the first ones, and in all later ones no lane is lent.

Invariant: causal. What a plan says of a later bubble does not change what happens before it.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from worker.scheduling.core.rules import next_minibatch, prerequisite_batch
from worker.scheduling.forecast.initial_state import BatchState, InitialState
from worker.scheduling.forecast.loans import NEVER, BubbleLoans, LendingPlan, Loan
from worker.scheduling.forecast.queueing import SAME_MOMENT, GeneratingLanes, Indices, Seconds, fragment_starts


@dataclass(frozen=True, slots=True)
class Bubble:
    """A time in which the trainer gang has nothing to do while fragments wait."""

    starts_at: float
    """In seconds from the beginning of the forecast."""
    num_waiting: int
    """The number of fragments that no lane has begun by then."""
    progress: tuple[int, ...]
    """How far training has come: batch, epoch, mini-batch, and the number of groups taken in it."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a plan is predicted to lead to. Times are in seconds from the beginning of the forecast."""

    ends: tuple[float, ...]
    """When each batch of the initial state is published."""
    next_bubble: Bubble | None
    """The first bubble that the plan has no entry for; `None` where there is none."""
    num_lent_fragments: int
    """The number of fragments that lent lanes begin."""

    @property
    def end(self) -> float:
        return self.ends[-1]


def extend(initial: InitialState, plan: LendingPlan, loans: tuple[Loan, ...]) -> tuple[LendingPlan, Forecast]:
    """The plan with the loans of one more bubble, and the forecast for it."""
    bubble_loans = BubbleLoans(loans)
    if any(loan.num_fragments for loan in loans):
        # When training work is ready does not depend on the recall itself, so a run without one finds the time.
        recalled_at = _ForecastRun(initial, (*plan, bubble_loans)).run_to_recall()
        bubble_loans = replace(bubble_loans, recalled_at=recalled_at)
    longer = (*plan, bubble_loans)
    return longer, _ForecastRun(initial, longer).run()


class _ForecastRun:
    """One pass through the batches of an initial state, in order."""

    def __init__(self, initial: InitialState, plan: LendingPlan) -> None:
        self._initial = initial
        self._plan = plan
        rollout = initial.rollout_lanes
        self._num_rollout = rollout.free_at.size
        # One entry per rollout lane, then one per loan: a lane lent in two bubbles has two.
        self._lanes = _with_loans(rollout, plan)
        self._is_rollout = np.arange(self._lanes.free_at.size) < self._num_rollout
        lent_at = [loan.lent_at for bubble_loans in plan for loan in bubble_loans.loans]
        self._lent_at = np.concatenate([np.full(self._num_rollout, NEVER), lent_at])
        """When each loan is decided; never for rollout lanes."""
        self._allowance_ended_at = np.full(self._lanes.free_at.size, NEVER)
        """When each loan lost its allowance because no fragment waited."""
        self._versions = initial.rollout_versions
        self._to_score: list[tuple[Indices, Seconds]] = []
        """[batch generated so far]: the groups of its fragments, and when these are generated."""
        self._num_taken = np.zeros(self._lanes.free_at.size, dtype=np.int64)
        """The number of fragments that each lane has begun."""
        self._last_start = 0.0
        """When the latest fragment so far is begun."""
        self._begun: list[tuple[float, Seconds]] = []
        """[batch generated so far]: when the batch begins, and when its fragments do, in order."""
        self._complete = np.zeros((0, initial.training.num_groups))
        """[batch generated so far, group]: when the group is complete."""
        self._published = [] if initial.publish_ends_in is None else [initial.publish_ends_in]
        """When versions can be pulled: the one being published at the beginning, then those of the batches in order."""
        self._num_earlier_publishes = len(self._published)
        self._ranks_free_at = initial.ranks_free_at
        """[trainer lane]: when the rank may begin to accumulate."""
        self._num_bubbles = 0
        self._next_bubble: Bubble | None = None
        self._recalled_at = NEVER

    def run(self) -> Forecast:
        for _ in self._batches():
            pass
        ends = tuple(self._published[self._num_earlier_publishes :])
        return Forecast(ends, self._next_bubble, int(self._num_taken[self._num_rollout :].sum()))

    def run_to_recall(self) -> float:
        """When training work is ready after the plan's last bubble."""
        for _ in self._batches():
            if self._recalled_at < NEVER:
                break
        return self._recalled_at

    def _batches(self) -> Iterator[None]:
        """Generate, score, train and publish one batch after the other."""
        now = 0.0
        for number, batch in enumerate(self._initial.batches):
            self._generate_up_to(number + self._initial.max_staleness)
            now = self._snapshot(self._train(number, batch, max(now, self._begun[number][0])))
            yield

    # --- generation and scoring -------------------------------------------------------------------------------------

    def _generate_up_to(self, last: int) -> None:
        first, end = len(self._begun), min(last + 1, len(self._initial.batches))
        for number in range(first, end):
            self._generate(self._initial.batches[number], number)
        if end > first:
            self._score()

    def _generate(self, batch: BatchState, number: int) -> None:
        begins = 0.0 if batch.policy_version is not None else self._begin_time(number)
        num_evaluation_fragments = 0 if number else self._initial.num_evaluation_fragments
        num_fragments = num_evaluation_fragments + batch.waiting_groups.size
        lanes = self._lanes.not_before(begins)
        if num_fragments:
            lanes = self._after_pulls(lanes, self._version_of(batch, begins))
        start, lane = fragment_starts(lanes, num_fragments)
        generated = (start + lanes.fragment_seconds[lane])[num_evaluation_fragments:]
        num_taken = np.bincount(lane, minlength=self._num_taken.size)
        after = lanes.after(num_taken)
        # A lane that took nothing was not held up by this batch.
        self._lanes = replace(after, free_at=np.where(num_taken > 0, after.free_at, self._lanes.free_at))
        self._num_taken = self._num_taken + num_taken
        if start.size:
            self._last_start = float(start[-1])
        self._begun.append((begins, start))
        groups, known = batch.unscored
        self._to_score.append((np.concatenate([groups, batch.waiting_groups]), np.concatenate([known, generated])))

    def _begin_time(self, number: int) -> float:
        """When admission lets a batch begin: its prerequisite is published, and a lane that generates would idle."""
        prerequisite = prerequisite_batch(number, self._initial.max_staleness) + self._num_earlier_publishes
        published = self._published[prerequisite] if prerequisite >= 0 else 0.0
        is_lent = (self._lent_at <= self._last_start) & (self._lanes.fragments_left > 0)
        is_lent &= self._lanes.free_at < self._lanes.until
        first_free = float(self._lanes.free_at[self._is_rollout | is_lent].min())
        if max(published, first_free) <= self._last_start + SAME_MOMENT:
            return self._last_start
        # With no fragment left, lent lanes lose their allowance, and only rollout lanes can be the first to idle.
        self._allowance_ended_at = np.where(is_lent, self._last_start, self._allowance_ended_at)
        self._lanes = replace(self._lanes, fragments_left=np.where(is_lent, 0.0, self._lanes.fragments_left))
        return max(published, float(self._lanes.free_at[self._is_rollout].min()))

    def _version_of(self, batch: BatchState, begins: float) -> int:
        if batch.policy_version is not None:
            return batch.policy_version
        return self._initial.policy_version + bisect_right(self._published, begins + SAME_MOMENT)

    def _after_pulls(self, lanes: GeneratingLanes, version: int) -> GeneratingLanes:
        """The lanes once all rollout lanes have pulled `version`; the start of a loan includes its pull already."""
        is_behind = self._versions != version
        self._versions = np.where(is_behind, version, self._versions)
        if not is_behind.any():
            return lanes
        free_at = lanes.free_at.copy()
        free_at[: self._num_rollout] += np.where(is_behind, self._initial.rollout_pull_seconds, 0.0)
        return replace(lanes, free_at=free_at)

    def _score(self) -> None:
        """Score all batches generated so far together, since a fragment of the next batch may occupy a reward lane when
        the last one of this batch is generated."""
        num_groups = self._initial.training.num_groups
        urgency = np.concatenate([number * num_groups + groups for number, (groups, _) in enumerate(self._to_score)])
        generated = np.concatenate([generated for _, generated in self._to_score])
        scored = self._initial.reward_lanes.scored_at(generated, urgency)
        complete = np.zeros((len(self._to_score), num_groups))
        np.maximum.at(complete.reshape(-1), urgency, scored)
        for batch, of_batch in zip(self._initial.batches, complete, strict=False):
            groups, ends = batch.in_scoring
            np.maximum.at(of_batch, groups, ends)
        if self._initial.training.waits_for_whole_batch:
            complete[:] = complete.max(axis=1, keepdims=True)
        self._complete = complete

    # --- training ---------------------------------------------------------------------------------------------------

    def _train(self, number: int, batch: BatchState, now: float) -> float:
        """Train all that is left of a batch; returns when its last commit ends."""
        training = self._initial.training
        by_minibatch = self._complete[number].reshape(training.num_minibatches, -1)
        epoch, minibatch, taken = batch.epoch, batch.minibatch, batch.taken
        while epoch < training.num_epochs:
            ready = self._ready_times(by_minibatch[minibatch], minibatch, taken | batch.skipped)
            if ready or taken:
                accumulate = self._accumulate if training.speeds is None else self._share
                now = accumulate(ready, now, (number, epoch, minibatch)) + training.commit_seconds
            epoch, minibatch = next_minibatch(epoch, minibatch, training.num_minibatches)
            taken = frozenset()
        return now

    def _snapshot(self, trained_at: float) -> float:
        """Snapshot and publish a trained batch, after the previous publish; returns when the gang is free again."""
        training = self._initial.training
        previous = self._published[-1] if self._published else 0.0
        free_at = max(trained_at, previous) + training.snapshot_seconds
        self._published.append(free_at + training.publish_seconds)
        return free_at

    def _ready_times(self, complete: Seconds, minibatch: int, done: frozenset[int]) -> list[float]:
        """When each group still to be taken is ready, in the order in which they are taken: all but `done`.

        `complete`: [group of the mini-batch], when the group is complete.
        """
        if done:
            first = minibatch * complete.size
            complete = complete[[index for index in range(complete.size) if first + index not in done]]
        if self._initial.training.in_order:
            return list(np.maximum.accumulate(complete).tolist())
        return list(np.sort(complete).tolist())

    def _accumulate(self, ready: list[float], now: float, position: tuple[int, int, int]) -> float:
        """Accumulate one mini-batch at `position` (batch, epoch, mini-batch) in step; returns when its last bundle
        ends."""
        num_taken, trained_share = 0, self._initial.batches[position[0]].trained_share
        while num_taken < len(ready):
            # A forecast begins in a bubble, so the first one is there even if a group is ready at once.
            if ready[num_taken] > now + SAME_MOMENT or not self._num_bubbles:
                self._wait(now, ready[num_taken], (*position, num_taken))
                now = max(ready[num_taken], float(self._ranks_free_at.max()))
            num_ready = bisect_right(ready, now + SAME_MOMENT) - num_taken
            if num_taken + num_ready < len(ready):
                num_ready = self._initial.training.bundle_sizes[num_ready]
            now += self._initial.training.bundle_seconds[num_ready] * trained_share
            num_taken += num_ready
        return now

    def _share(self, ready: list[float], now: float, position: tuple[int, int, int]) -> float:
        """The same for ranks that share the work by speed. Groups that become ready before the ranks run dry join the
        others; which rank takes the last units of a group that is followed by a later one is left open."""
        speeds, num_taken = self._initial.training.speeds, 0
        trained_share = self._initial.batches[position[0]].trained_share
        assert speeds is not None
        while num_taken < len(ready):
            if ready[num_taken] > now + SAME_MOMENT or not self._num_bubbles:
                self._wait(now, ready[num_taken], (*position, num_taken))
                now = max(now, ready[num_taken])
            free_at = np.maximum(self._ranks_free_at, now)
            last, end = num_taken, now
            while last < len(ready) and ready[last] <= end + SAME_MOMENT:
                last = bisect_right(ready, end + SAME_MOMENT, lo=last)
                end = speeds.end_of_groups(free_at, last - num_taken, is_first=num_taken == 0)
                end = now + trained_share * (end - now) if trained_share < 1 else end
            now, num_taken = end, last
        # The commit needs all ranks, also those that have not returned in time to take anything.
        return max(now, float(self._ranks_free_at.max()))

    # --- bubbles ----------------------------------------------------------------------------------------------------

    def _wait(self, now: float, ready: float, progress: tuple[int, ...]) -> None:
        """The gang has nothing to do until a group is `ready`; finds out when lanes lent meanwhile are returned."""
        if self._num_bubbles > len(self._plan):
            return
        num_waiting = sum(
            start.size - int(start.searchsorted(now, "right")) for begins, start in self._begun if begins <= now
        )
        if self._num_bubbles and not num_waiting:
            return
        index = self._num_bubbles
        self._num_bubbles += 1
        if index == len(self._plan):
            self._next_bubble = Bubble(now, num_waiting, progress)
        if index >= len(self._plan):
            return
        if index == len(self._plan) - 1:
            self._recalled_at = ready
        self._return_lanes(index)

    def _return_lanes(self, index: int) -> None:
        """Note when the lanes lent in bubble `index` are returned."""
        bubble_loans = self._plan[index]
        first = self._num_rollout + sum(len(earlier.loans) for earlier in self._plan[:index])
        starts = [
            self._return_start(loan, entry, bubble_loans.recalled_at)
            for entry, loan in enumerate(bubble_loans.loans, first)
        ]
        ends = [start + loan.reclaim_seconds for start, loan in zip(starts, bubble_loans.loans, strict=True)]
        if self._initial.lends_together and ends:
            ends = [max(starts) + max(loan.reclaim_seconds for loan in bubble_loans.loans)] * len(ends)
        self._ranks_free_at = self._ranks_free_at.copy()
        for loan, end in zip(bubble_loans.loans, ends, strict=True):
            self._ranks_free_at[self._initial.rank_of[loan.lane]] = end

    def _return_start(self, loan: Loan, entry: int, recalled_at: float) -> float:
        """When a lent lane starts its switch back; `entry` is its index among the lanes."""
        if self._num_taken[entry]:
            return float(self._lanes.free_at[entry])
        # Without a fragment to take, the lane does not even pull.
        nothing_to_take_at = min(recalled_at, self._last_start, float(self._allowance_ended_at[entry]))
        if nothing_to_take_at <= loan.earliest_return or not loan.num_fragments:
            return loan.earliest_return
        return loan.earliest_start


def _with_loans(rollout: GeneratingLanes, plan: LendingPlan) -> GeneratingLanes:
    """The rollout lanes, then the loans of a plan in order."""
    loans = [(loan, bubble_loans.recalled_at) for bubble_loans in plan for loan in bubble_loans.loans]
    return GeneratingLanes(
        free_at=np.concatenate([rollout.free_at, [loan.earliest_start for loan, _ in loans]]),
        busy_since=np.concatenate([rollout.busy_since, [loan.busy_since for loan, _ in loans]]),
        fragment_seconds=np.concatenate([rollout.fragment_seconds, [loan.fragment_seconds for loan, _ in loans]]),
        until=np.concatenate([rollout.until, [recalled_at for _, recalled_at in loans]]),
        fragments_left=np.concatenate([rollout.fragments_left, [float(loan.num_fragments) for loan, _ in loans]]),
    )
