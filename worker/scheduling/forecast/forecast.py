"""Predicts when the open batches end, for a plan of which bubbles trainer lanes fill.

    outlook + plan ──► for each batch: fragments begun ──► generated ──► scored ──► groups complete ──► trained ──► end
                         ▲                                                                  │
                         └── lent lanes, until training work is ready ◄── bubbles ◄─────────┘

The rules are the scheduler's: fragments are pulled from one list, the gang trains whatever groups are ready at once, a
lent lane gives way at a fragment's end, the next batch begins as admission lets it. Bubbles are met in order; the plan
says, of the first ones, who generates in them, and in all after these nobody does.

Invariant: causal. What a plan says of a later bubble does not change what comes before it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from worker.scheduling.forecast.initial_state import BatchState, InitialState, LendableLane
from worker.scheduling.forecast.queueing import SAME_MOMENT, GeneratingLanes, Indices, Seconds, starts

NEVER = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """A trainer lane away from the gang."""

    lane: str
    lent_at: float
    earliest_return: float
    """When it can begin its way back at the earliest."""
    ready: float
    """When it can begin its first fragment."""
    began: float
    """When what it does until then begins."""
    seconds: float
    """For each fragment."""
    reclaim: float
    left: int
    """Fragments that it may begin."""


@dataclass(frozen=True, slots=True)
class BubbleLoans:
    """Who is away in one bubble."""

    loans: tuple[Loan, ...]
    give_way: float = NEVER
    """When training work is ready, and no fragment begins any more on a lent lane."""


LendingPlan = tuple[BubbleLoans, ...]
"""One stint for each of the first bubbles; the first is the one that is open now."""


@dataclass(frozen=True, slots=True)
class Bubble:
    at: float
    num_waiting: int
    """Fragments that no lane has begun by then."""
    progress: tuple[int, ...]
    """Batch, epoch, mini-batch and groups taken: where training stands."""


@dataclass(frozen=True, slots=True)
class Forecast:
    ends: tuple[float, ...]
    """When each batch of the outlook is published."""
    next_bubble: Bubble | None
    """The first that the plan says nothing of."""
    num_lent_fragments: int
    """Fragments that lent lanes begin."""

    @property
    def end(self) -> float:
        return self.ends[-1]


def loans_now(
    lendable_lanes: Sequence[LendableLane], granted: Sequence[LendableLane], num_fragments: int
) -> tuple[Loan, ...]:
    """Who is away from now on: whoever is away already, then those now granted so many fragments each, in order."""
    names = {helper.lane for helper in granted}
    away = [(helper, helper.left) for helper in lendable_lanes if helper.is_lent and helper.lane not in names]
    return tuple(
        Loan(
            lane=helper.lane,
            lent_at=0.0,
            earliest_return=helper.earliest_return if helper.is_lent else helper.lend,
            ready=helper.ready,
            began=helper.began if helper.ready == helper.earliest_return else helper.ready - helper.pull,
            seconds=helper.seconds,
            reclaim=0.0 if helper.is_returning else helper.reclaim,
            left=left,
        )
        for helper, left in away + [(helper, num_fragments) for helper in granted]
    )


def loans_at(at: float, lendable_lanes: Sequence[LendableLane], num_fragments: int) -> tuple[Loan, ...]:
    """These helpers, all at home, lent in a later bubble."""
    return tuple(
        Loan(
            lane=helper.lane,
            lent_at=at,
            earliest_return=at + helper.lend,
            ready=at + helper.lend + helper.pull,
            began=at + helper.lend,
            seconds=helper.seconds,
            reclaim=helper.reclaim,
            left=num_fragments,
        )
        for helper in lendable_lanes
    )


def extend(initial: InitialState, plan: LendingPlan, loans: tuple[Loan, ...]) -> tuple[LendingPlan, Forecast]:
    """The plan with one stint more, and what it leads to."""
    bubble_loans = BubbleLoans(loans)
    if any(loan.left for loan in loans):
        # Nothing before the lanes give way depends on when they do, so a first look tells.
        bubble_loans = replace(bubble_loans, give_way=_ForecastRun(initial, (*plan, bubble_loans)).run_to_give_way())
    longer = (*plan, bubble_loans)
    return longer, _ForecastRun(initial, longer).run()


class _ForecastRun:
    """One run through the horizon."""

    def __init__(self, initial: InitialState, plan: LendingPlan) -> None:
        self._initial = initial
        self._plan = plan
        loans = [(loan, bubble_loans.give_way) for bubble_loans in plan for loan in bubble_loans.loans]
        self._num_rollout = initial.rollout.free.size
        rollout = initial.rollout
        self._lanes = GeneratingLanes(
            free=np.concatenate([rollout.free, [loan.ready for loan, _ in loans]]),
            began=np.concatenate([rollout.began, [loan.began for loan, _ in loans]]),
            seconds=np.concatenate([rollout.seconds, [loan.seconds for loan, _ in loans]]),
            until=np.concatenate([rollout.until, [give_way for _, give_way in loans]]),
            left=np.concatenate([rollout.left, [float(loan.left) for loan, _ in loans]]),
        )
        self._is_rollout = np.arange(self._lanes.free.size) < self._num_rollout
        # Rollout lanes are never lent.
        self._lent_at = np.concatenate([np.full(self._num_rollout, NEVER), [loan.lent_at for loan, _ in loans]])
        self._called_back = np.full(self._lanes.free.size, NEVER)
        """When the list was empty, and lent lanes lost what they were allowed."""
        self._versions = initial.versions
        self._to_score: list[tuple[Indices, Seconds]] = []
        """Of each batch generated so far: the groups of its fragments, and when these are generated."""
        self._num_taken = np.zeros(self._lanes.free.size, dtype=np.int64)
        self._last_start = 0.0
        self._begun: list[tuple[float, Seconds]] = []
        """Of each batch generated so far: when it began, and when its fragments do, in order."""
        self._complete = np.zeros((0, initial.training.num_groups))
        """[batches generated so far, groups]: when each group is complete."""
        self._published = [] if initial.published_in is None else [initial.published_in]
        """When versions are on offer: the one under way at the beginning, then those of the batches in order."""
        self._num_under_way = len(self._published)
        self._num_bubbles = 0
        self._next_bubble: Bubble | None = None
        self._give_way = NEVER

    def run(self) -> Forecast:
        for _ in self._batches():
            pass
        ends = tuple(self._published[self._num_under_way :])
        return Forecast(ends, self._next_bubble, int(self._num_taken[self._num_rollout :].sum()))

    def run_to_give_way(self) -> float:
        """When the lanes of the last stint give way: training work is ready."""
        for _ in self._batches():
            if self._give_way < NEVER:
                break
        return self._give_way

    def _batches(self) -> Iterator[None]:
        """One after the other, each to its end."""
        now = 0.0
        for number, batch in enumerate(self._initial.batches):
            self._generate_up_to(number + self._initial.max_staleness)
            now = self._snapshot(self._train(number, batch, max(now, self._begun[number][0])))
            yield

    # --- generation and scoring -------------------------------------------------------------------------------------

    def _generate_up_to(self, last: int) -> None:
        first, beyond = len(self._begun), min(last + 1, len(self._initial.batches))
        for number in range(first, beyond):
            self._generate(self._initial.batches[number], number)
        if beyond > first:
            self._score()

    def _generate(self, batch: BatchState, number: int) -> None:
        begins = 0.0 if batch.version is not None else self._begins(number)
        num_others = 0 if number else self._initial.num_others
        num_fragments = num_others + batch.waiting.size
        lanes = self._lanes.not_before(begins)
        if num_fragments:
            lanes = self._pulled(lanes, self._version_of(batch, begins))
        start, lane = starts(lanes, num_fragments)
        generated = (start + lanes.seconds[lane])[num_others:]
        num_taken = np.bincount(lane, minlength=self._num_taken.size)
        after = lanes.after(num_taken)
        # A lane that took nothing was not held up by this batch.
        self._lanes = replace(after, free=np.where(num_taken > 0, after.free, self._lanes.free))
        self._num_taken = self._num_taken + num_taken
        if start.size:
            self._last_start = float(start[-1])
        self._begun.append((begins, start))
        groups, known = batch.begun
        self._to_score.append((np.concatenate([groups, batch.waiting]), np.concatenate([known, generated])))

    def _begins(self, number: int) -> float:
        """When admission lets a batch begin: few enough are ahead of it, and a generator has nothing else to do."""
        must_be_over = number - 1 - self._initial.max_staleness + self._num_under_way
        over = self._published[must_be_over] if must_be_over >= 0 else 0.0
        is_lent = (self._lent_at <= self._last_start) & (self._lanes.left > 0)
        is_lent &= self._lanes.free < self._lanes.until
        first_free = float(self._lanes.free[self._is_rollout | is_lent].min())
        if max(over, first_free) <= self._last_start + SAME_MOMENT:
            return self._last_start
        # With nothing left to take, whoever is lent is called back, and does not count as a generator.
        self._called_back = np.where(is_lent, self._last_start, self._called_back)
        self._lanes = replace(self._lanes, left=np.where(is_lent, 0.0, self._lanes.left))
        return max(over, float(self._lanes.free[self._is_rollout].min()))

    def _version_of(self, batch: BatchState, begins: float) -> int:
        if batch.version is not None:
            return batch.version
        return self._initial.policy_version + bisect_right(self._published, begins + SAME_MOMENT)

    def _pulled(self, lanes: GeneratingLanes, version: int) -> GeneratingLanes:
        """Rollout lanes that hold another version pull before they begin; lent ones have pulled on their way."""
        behind = self._versions != version
        self._versions = np.where(behind, version, self._versions)
        if not behind.any():
            return lanes
        free = lanes.free.copy()
        free[: self._num_rollout] += np.where(behind, self._initial.pull, 0.0)
        return replace(lanes, free=free)

    def _score(self) -> None:
        """All batches generated so far, together: a fragment of the next one may keep a lane from the last of this."""
        num_groups = self._initial.training.num_groups
        urgency = np.concatenate([number * num_groups + groups for number, (groups, _) in enumerate(self._to_score)])
        scored = self._initial.rewards.scored(np.concatenate([generated for _, generated in self._to_score]), urgency)
        complete = np.zeros((len(self._to_score), num_groups))
        np.maximum.at(complete.reshape(-1), urgency, scored)
        for batch, of_batch in zip(self._initial.batches, complete, strict=False):
            groups, ends = batch.scoring
            np.maximum.at(of_batch, groups, ends)
        if self._initial.training.whole_batch_first:
            complete[:] = complete.max(axis=1, keepdims=True)
        self._complete = complete

    # --- training ---------------------------------------------------------------------------------------------------

    def _train(self, number: int, batch: BatchState, now: float) -> float:
        """Through all epochs; returns when the last commit is done."""
        training = self._initial.training
        by_minibatch = self._complete[number].reshape(training.num_minibatches, -1)
        first, taken = batch.minibatch, batch.taken
        for epoch in range(batch.epoch, training.num_epochs):
            for minibatch in range(first, training.num_minibatches):
                ready = self._ready(by_minibatch[minibatch], minibatch, taken)
                now = self._accumulate(ready, now, (number, epoch, minibatch)) + training.commit
                taken = frozenset()
            first = 0
        return now

    def _snapshot(self, now: float) -> float:
        """Of what was trained by `now`, once the version before is on offer; returns when the gang goes on."""
        training = self._initial.training
        before = self._published[-1] if self._published else 0.0
        free = max(now, before) + training.snapshot
        self._published.append(free + training.publish)
        return free

    def _ready(self, complete: Seconds, minibatch: int, taken: frozenset[int]) -> list[float]:
        """When each group still to be taken can be, in the order in which they will be."""
        if taken:
            offset = minibatch * complete.size
            complete = complete[[place for place in range(complete.size) if offset + place not in taken]]
        if self._initial.training.in_order:
            return list(np.maximum.accumulate(complete).tolist())
        return list(np.sort(complete).tolist())

    def _accumulate(self, ready: list[float], now: float, place: tuple[int, int, int]) -> float:
        num_taken = 0
        while num_taken < len(ready):
            # The forecast is made in a bubble, which is the first.
            if ready[num_taken] > now + SAME_MOMENT or not self._num_bubbles:
                now = self._wait(now, ready[num_taken], (*place, num_taken))
            num_ready = bisect_right(ready, now + SAME_MOMENT) - num_taken
            if num_taken + num_ready < len(ready):
                num_ready = self._initial.training.takes[num_ready]
            now += self._initial.training.bundle[num_ready]
            num_taken += num_ready
        return now

    def _wait(self, now: float, ready: float, progress: tuple[int, ...]) -> float:
        """The gang has nothing to do until `ready`; returns when it goes on."""
        if self._num_bubbles > len(self._plan):
            return ready
        num_waiting = sum(
            start.size - int(start.searchsorted(now, "right")) for begins, start in self._begun if begins <= now
        )
        if self._num_bubbles and not num_waiting:
            return ready
        ordinal = self._num_bubbles
        self._num_bubbles += 1
        if ordinal == len(self._plan):
            self._next_bubble = Bubble(now, num_waiting, progress)
        if ordinal >= len(self._plan):
            return ready
        if ordinal == len(self._plan) - 1:
            self._give_way = ready
        return max(ready, self._back(ordinal))

    def _back(self, ordinal: int) -> float:
        """When all lanes away in this bubble are back."""
        bubble_loans = self._plan[ordinal]
        first = self._num_rollout + sum(len(earlier.loans) for earlier in self._plan[:ordinal])
        leaves = [
            self._leaves(loan, column, bubble_loans.give_way) for column, loan in enumerate(bubble_loans.loans, first)
        ]
        reclaims = [loan.reclaim for loan in bubble_loans.loans]
        if self._initial.lends_together:
            return max(leaves, default=0.0) + max(reclaims, default=0.0)
        return max((leave + reclaim for leave, reclaim in zip(leaves, reclaims, strict=True)), default=0.0)

    def _leaves(self, loan: Loan, column: int, give_way: float) -> float:
        """When a lent lane begins its way back."""
        if self._num_taken[column]:
            return float(self._lanes.free[column])
        # One that finds nothing to do does not even pull.
        nothing_to_do = min(give_way, self._last_start, float(self._called_back[column]))
        return loan.earliest_return if nothing_to_do <= loan.earliest_return or not loan.left else loan.ready
