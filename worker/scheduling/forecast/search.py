"""`tag: search`: trainer lanes are lent only where the open batches are predicted to end sooner for it.

    bubble ──► skip it, or lend so many lanes for so many fragments ──► the next predicted bubble ──► … ──► end
               each choice is predicted by a forecast, the best one is taken

In the open bubble all choices are tried. The few best are followed into later bubbles: to a bounded depth with several
choices in each, and along one path on which all lanes are lent in every bubble, because many bubbles together may gain
what a single one hardly does. Values of similar situations are memoised within a decision.

A decision has a budget, counted in the size of its forecasts, since the scheduler has no clock: half of it is for the
choices in the open bubble, from the most lanes down, and the rest in equal parts for following each of the best. What
the budget does not reach is not tried.

Invariant: with exact costs a decision never makes the predicted end later, since skipping every bubble is always among
the choices. A gain must exceed a margin, so that noise in the costs does not decide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import Allowance, PredictedGain
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.forecast import Bubble, Forecast, extend
from worker.scheduling.forecast.initial_state import InitialState, LendableLane
from worker.scheduling.forecast.loans import LendingPlan, loans_at, loans_now
from worker.scheduling.forecast.state_reader import InitialStateReader, training_progress

# What is said of run times below was measured on 120 profiles of `tests.bench.search_grid` (`grid()[5::12]`), with
# exact costs and with durations that vary by ±20 %, as ratios to the same runs without lending.
LOOKAHEAD_DEPTH = 1
"""Later bubbles in which several choices are tried. No profile changes by more than 0.1 % with 0, given the greedy path
below; 2 takes twice the time and changes the mean by less than 0.1 % (24 profiles)."""
NUM_CHOICES_FOLLOWED = 3
"""Choices in the open bubble that are followed into later ones. The mean stays within 0.1 % with 1 to 6; 1 makes single
profiles up to 0.9 % slower or 1.9 % faster, 6 takes half as long again (24 profiles)."""
MIN_GAIN_SHARE = 0.1
"""The gain that a choice must exceed, as a share of the time in which the rollout lanes would generate what it lends.
At 0 a run with varying durations is up to 3.3 % slower than without lending instead of 0.7 %; at 0.3 single profiles
lose a gain of up to 20 % of their time."""
GREEDY_LOOKAHEAD_DEPTH = 16
"""Later bubbles that the path of lending all lanes is followed through. With 4, or without the path, single profiles
are up to 5 % slower; 64 makes no profile slower and one 0.5 % faster, in 15 % more time."""
REDECIDE_AFTER = 0.5
"""Fragment times (of the fastest rollout lane) after which an open bubble is decided again, as costs and the ends of
actions under way are better known by then. 4 makes single profiles with varying durations up to 3.6 % slower, 0.1 takes
twice the time and changes the mean by less than 0.1 %."""
BUDGET = 250_000
"""Total size of the forecasts of one decision: 20 to 80 ms of one core, whatever the number of lanes, where fragments
take seconds to minutes. A run of `tests.bench.scheduler_scale` on 256 lanes with many bubbles takes 9 % longer with
50,000, and no less with 1,000,000."""
_FORECAST_COST = 1500
"""The size of any forecast, in units of one lane or one fragment to come. Measured: 370 µs, against 0.31 µs for each
lane and fragment, so 1,200 of these; more than measured, so that a decision rather ends too early than too late."""
_LOAN_COST = 30
"""The size of each loan in a forecast. Measured: 5 µs, so 16 units; again more than measured."""
_SAME_BUBBLE_TOLERANCE = 1 / 16
"""Share of the idle lanes that may join or leave while a bubble still counts as the same. Of many lanes a few come and
go all the time: with 0 a run on 128 lanes takes 20 decisions instead of 13 and is 0.2 % shorter, with 1/4 a run on 256
lanes is 1.5 % longer (`tests.bench.scheduler_scale`)."""
_MEMO_TIME_RESOLUTION = 1 / 32
"""Fragment times within which two bubbles that begin at different moments share one memoised value. With 1/8 or 1/512
the means of 24 profiles are the same; 1/1024 takes 20 % more time on 256 lanes."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A plan of the bubbles up to some one, with its forecast."""

    plan: LendingPlan
    forecast: Forecast
    lanes: tuple[str, ...] = ()
    """The lanes lent in the plan's first bubble by this decision."""
    num_fragments: int = 0
    """The number of fragments that each of `lanes` may begin."""


class Search:
    """The lending policy that predicts what lending gains."""

    def __init__(
        self, *, depth: int = LOOKAHEAD_DEPTH, min_gain_share: float = MIN_GAIN_SHARE, budget: int = BUDGET
    ) -> None:
        self._reader = InitialStateReader()
        self._depth = depth
        self._min_gain_share = min_gain_share
        self._budget = budget
        self._decided: tuple[tuple[int, ...], frozenset[str]] | None = None
        """The bubble decided last: how far training had come, and which lanes were idle."""
        self._redecide_at = 0.0
        """Before this time the same bubble is not decided again, in seconds of the executor's clock."""
        self._was_truncated = False
        """The last decision reached its budget, so deciding every bubble would take too long."""
        self.num_searches = 0
        """The number of decisions made."""
        self.num_truncated = 0
        """The number of decisions that reached their budget."""
        self.total_size = 0
        """Total size of the forecasts of all decisions, which is what decisions cost time for."""

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        """Lend where the end is predicted to come sooner; without costs nothing can be predicted, and nothing is
        lent."""
        progress, names = training_progress(state), frozenset(lane.name for lane in idle)
        if at < self._redecide_at and (self._was_truncated or self._is_decided(progress, names)):
            return None
        initial = self._reader.read(state, at)
        if initial is None:
            return None
        self._decided = progress, names
        self.num_searches += 1
        self._redecide_at = at + REDECIDE_AFTER * float(initial.rollout_lanes.fragment_seconds.min())
        decision = _Decision(initial, names, self._depth, self._min_gain_share, self._budget)
        allowance = decision.allowance(at)
        self.num_truncated += decision.is_truncated
        self.total_size += self._budget - decision.budget_left
        self._was_truncated = decision.is_truncated
        return allowance

    def _is_decided(self, progress: tuple[int, ...], names: frozenset[str]) -> bool:
        """Whether this is the bubble decided last; a few lanes more or less among many do not make it another one."""
        if self._decided is None or self._decided[0] != progress:
            return False
        before = self._decided[1]
        return len(names ^ before) <= _SAME_BUBBLE_TOLERANCE * len(before)


class _Decision:
    """The search for the best choice in one bubble."""

    def __init__(
        self, initial: InitialState, idle: frozenset[str], depth: int, min_gain_share: float, budget: int
    ) -> None:
        self._initial = initial
        self._depth = depth
        self._fragment_seconds = float(initial.rollout_lanes.fragment_seconds.min())
        # Lanes that are lent already come first, since they need no switch.
        self._candidates = sorted(
            (lane for lane in initial.lendable_lanes if lane.name in idle),
            key=lambda lane: (not lane.is_lent, lane.earliest_start + lane.fragment_seconds),
        )
        self._fastest_first = sorted(initial.lendable_lanes, key=lambda lane: lane.fragment_seconds)
        num_fragments = sum(batch.waiting_groups.size for batch in initial.batches)
        num_lanes = initial.rollout_lanes.free_at.size + initial.reward_lanes.free_at.size
        self._num_lent_lanes = sum(lane.is_lent for lane in initial.lendable_lanes)
        self._forecast_size = _FORECAST_COST + num_fragments + num_lanes
        """The part of a forecast's size that does not depend on the plan."""
        self._budget_left = budget
        self._budget_kept = 0
        """The part of `_budget_left` that is kept for choices to be followed later."""
        self.is_truncated = False
        """Whether a forecast was left out because the budget did not reach it."""
        plan, forecast = extend(initial, (), loans_now(initial.lendable_lanes, (), 0))
        self._skip = _Choice(plan, forecast)
        self._min_gain_share = min_gain_share
        self._rollout_fragments_per_second = float((1.0 / initial.rollout_lanes.fragment_seconds).sum())
        self._remaining: dict[tuple[object, ...], float] = {}
        """By situation: seconds from the start of a bubble to the end of the last batch."""

    @property
    def budget_left(self) -> int:
        """What is left of the total size of forecasts."""
        return self._budget_left

    def allowance(self, at: float) -> Allowance | None:
        """The best choice for the open bubble; `None` where none gains more than the margin."""
        self._budget_kept = self._budget_left // 2
        found = sorted(
            self._choices_now(), key=lambda choice: (choice.forecast.end, len(choice.lanes), choice.num_fragments)
        )
        followed = found[:NUM_CHOICES_FOLLOWED]
        without, *ends = self._ends_after([self._skip, *followed])
        with_margin = [end + self._margin(choice.forecast) for end, choice in zip(ends, followed, strict=True)]
        best = min(range(len(followed)), key=with_margin.__getitem__, default=None)
        if best is None or with_margin[best] >= without:
            return None
        end_without = self._skip.forecast.end
        return Allowance(
            lanes=followed[best].lanes,
            num_fragments=followed[best].num_fragments,
            prediction=PredictedGain(
                last_batch=self._initial.first_batch + len(self._initial.batches) - 1,
                end_without=at + end_without,
                gain_seconds=end_without - ends[best],
                # The choice was made by `without`, which may end sooner than the batch does without any lending.
                least_gain_seconds=end_without - without + self._margin(followed[best].forecast),
            ),
        )

    def _margin(self, forecast: Forecast) -> float:
        """Seconds that the choice must gain."""
        num_lent = forecast.num_lent_fragments - self._skip.forecast.num_lent_fragments
        return self._min_gain_share * num_lent / self._rollout_fragments_per_second

    def _spend(self, plan: LendingPlan, num_loans: int) -> bool:
        """Take from the budget the size of a forecast of `plan` with `num_loans` more; whether the budget allows it."""
        num_loans += sum(len(bubble_loans.loans) for bubble_loans in plan)
        size = self._forecast_size + _LOAN_COST * num_loans
        if self._budget_left - size < self._budget_kept:
            self.is_truncated = True
            return False
        self._budget_left -= size
        return True

    def _ends_after(self, choices: Sequence[_Choice]) -> list[float]:
        """The end after each of these choices for the open bubble, with the best choices found in later ones."""
        ends = []
        for index, choice in enumerate(choices):
            self._budget_kept = self._budget_left - self._budget_left // (len(choices) - index)
            ends.append(min(self._best_end(choice, self._depth), self._greedy_end(choice)))
        return ends

    def _greedy_end(self, choice: _Choice) -> float:
        """The earliest end, if all lanes are lent in every bubble from the next on, up to some bubble."""
        end = choice.forecast.end
        for _ in range(GREEDY_LOOKAHEAD_DEPTH):
            bubble = choice.forecast.next_bubble
            if bubble is None:
                break
            longer = next(self._choices_later(choice.plan, bubble), None)
            if longer is None:
                break
            choice = longer
            end = min(end, choice.forecast.end)
        return end

    def _choices_now(self) -> Iterator[_Choice]:
        """In the open bubble: all idle lanes, …, 8, 6, 4, 3, 2, 1 of them, for growing numbers of fragments."""
        num_waiting = sum(batch.waiting_groups.size for batch in self._initial.batches[: self._initial.num_open])
        num_waiting += self._initial.num_evaluation_fragments
        for num_lanes in reversed(list(_numbers_to_try(min(len(self._candidates), num_waiting)))):
            if self._initial.lends_together and num_lanes < len(self._candidates):
                continue
            granted = self._candidates[:num_lanes]
            lanes = tuple(lane.name for lane in granted)
            num_lent_fragments = self._skip.forecast.num_lent_fragments
            for num_fragments in _numbers_to_try(-(-num_waiting // num_lanes)):
                if not self._spend((), self._num_lent_lanes + num_lanes):
                    return
                loans = loans_now(self._initial.lendable_lanes, granted, num_fragments)
                plan, forecast = extend(self._initial, (), loans)
                if forecast.num_lent_fragments == num_lent_fragments:
                    # Training work is ready before the lanes could begin this many.
                    break
                num_lent_fragments = forecast.num_lent_fragments
                yield _Choice(plan, forecast, lanes, num_fragments)

    def _best_end(self, choice: _Choice, depth: int) -> float:
        """The end, if the best choice found is taken in each of the next `depth` bubbles after this choice."""
        bubble = choice.forecast.next_bubble
        if depth == 0 or bubble is None:
            return choice.forecast.end
        moment = round(bubble.starts_at / (self._fragment_seconds * _MEMO_TIME_RESOLUTION))
        situation = (moment, bubble.num_waiting, bubble.progress, depth)
        if situation not in self._remaining:
            ends = [choice.forecast.end]
            if depth > 1 and self._spend(choice.plan, 0):
                ends.append(self._best_end(_Choice(*extend(self._initial, choice.plan, ())), depth - 1))
            ends += [self._best_end(option, depth - 1) for option in self._choices_later(choice.plan, bubble)]
            self._remaining[situation] = min(ends) - bubble.starts_at
        return bubble.starts_at + self._remaining[situation]

    def _choices_later(self, plan: LendingPlan, bubble: Bubble) -> Iterator[_Choice]:
        """In a later bubble: all lanes or the fastest one, for all waiting fragments or one each, as far as the budget
        reaches."""
        lent_before = {loan.lane for bubble_loans in plan for loan in bubble_loans.loans}
        num_lanes = min(len(self._fastest_first), bubble.num_waiting)
        numbers = {num_lanes} if self._initial.lends_together else {num_lanes, 1}
        for number in sorted(numbers, reverse=True):
            for num_fragments in sorted({1, -(-bubble.num_waiting // number)}, reverse=True):
                if not self._spend(plan, number):
                    return
                lanes = [_without_pull(lane, lent_before) for lane in self._fastest_first[:number]]
                yield _Choice(*extend(self._initial, plan, loans_at(bubble.starts_at, lanes, num_fragments)))


def _without_pull(lane: LendableLane, lent_before: set[str]) -> LendableLane:
    """The lane as it is later in the plan: one that was lent before holds the version already."""
    return replace(lane, pull_seconds=0.0) if lane.name in lent_before else lane


def _numbers_to_try(last: int) -> Iterator[int]:
    """1, 2, 3, 4, 6, 8, 12, … below `last`, and `last` itself: of neighbouring large numbers one is as good as
    another."""
    power = 1
    while power < last:
        yield power
        if 2 < power + power // 2 < last:
            yield power + power // 2
        power *= 2
    yield last
