"""`tag: search`: trainer lanes generate only where the batches are predicted to end sooner for it.

    bubble ──► skip it, or lend so many lanes for so many fragments ──► the next predicted bubble ──► … ──► end
               each choice played through by the forecast, the best kept

In the first bubble, the one that is open, all choices are tried; the few best are followed into the bubbles after it,
to a bounded depth, beyond which nothing is lent, and down one line along which everything is lent: what a single bubble
hardly gains, all of them together may. Values of like situations are remembered within a decision.

A decision has a budget, counted in forecasts by their size, since a scheduler knows no clock: half of it is for the
choices in the open bubble, from the most lanes down, and the rest in equal parts for what follows each of the best.
What the budget does not reach is not looked at, and the decision rests on what was.

Invariant: with exact costs a decision never makes the predicted end later, since skipping every bubble is always among
the choices. A gain must exceed a margin, so that noise in the costs does not decide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import Allowance, PredictedGain
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.forecast import Bubble, Forecast, LendingPlan, extend, loans_at, loans_now
from worker.scheduling.forecast.initial_state import InitialState, LendableLane
from worker.scheduling.forecast.state_reader import InitialStateReader, training_progress

LOOKAHEAD_DEPTH = 1
"""Bubbles that a decision looks ahead, beyond the open one."""
NUM_CHOICES_FOLLOWED = 3
"""Choices in the open bubble that are followed further."""
MIN_GAIN_SHARE = 0.1
"""Of the time in which the rollout lanes generate what is to be lent: a smaller gain is none."""
GREEDY_LOOKAHEAD_DEPTH = 16
"""Bubbles ahead, in which every lane is lent throughout, to see what persistence brings."""
REDECIDE_AFTER = 0.5
"""Of a fragment's time, after which the same bubble is judged anew: by then more is known."""
BUDGET = 250_000
"""Of one decision, in sizes of forecasts: 20 to 60 ms of a processor, whatever the number of lanes."""
_FORECAST_COST = 1500
"""Whatever it is of, beside 1 for each lane and each fragment to come."""
_LOAN_COST = 30
_SAME_BUBBLE_TOLERANCE = 1 / 16
_MEMO_TIME_RESOLUTION = 1 / 32
"""Of a fragment's time: bubbles that begin closer than this are alike."""


@dataclass(frozen=True, slots=True)
class _Choice:
    plan: LendingPlan
    forecast: Forecast
    lanes: tuple[str, ...] = ()
    num_fragments: int = 0


class Search:
    """The lending policy that predicts."""

    def __init__(self, *, depth: int = LOOKAHEAD_DEPTH, margin: float = MIN_GAIN_SHARE, budget: int = BUDGET) -> None:
        self._reader = InitialStateReader()
        self._depth = depth
        self._margin = margin
        self._budget = budget
        self._judged: tuple[tuple[int, ...], frozenset[str]] | None = None
        """The bubble judged last: how far training had come, and who was idle."""
        self._judge_again_at = 0.0
        self._waits = False
        """What was looked at last takes too long to look at in every bubble."""
        self.num_searches = 0
        self.num_truncated = 0
        """Searches that ended at their budget."""

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        """Lend where the end is predicted to come sooner; without costs nothing is predicted, so nothing lent."""
        progress, names = training_progress(state), frozenset(lane.name for lane in idle)
        if at < self._judge_again_at and (self._waits or self._is_judged(progress, names)):
            return None
        initial = self._reader.read(state, at)
        if initial is None:
            return None
        self._judged = progress, names
        self.num_searches += 1
        self._judge_again_at = at + REDECIDE_AFTER * float(initial.rollout.seconds.min())
        decision = _Decision(initial, names, self._depth, self._margin, self._budget)
        allowance = decision.allowance(at)
        self.num_truncated += decision.is_truncated
        self._waits = decision.is_truncated
        return allowance

    def _is_judged(self, progress: tuple[int, ...], names: frozenset[str]) -> bool:
        """Whether this is the bubble judged last. Among many lanes a few that come or go make no other one of it."""
        if self._judged is None or self._judged[0] != progress:
            return False
        before = self._judged[1]
        return len(names ^ before) <= _SAME_BUBBLE_TOLERANCE * len(before)


class _Decision:
    """What to do in one bubble, as things stand."""

    def __init__(self, initial: InitialState, idle: frozenset[str], depth: int, margin: float, budget: int) -> None:
        self._initial = initial
        self._depth = depth
        self._fragment_seconds = float(initial.rollout.seconds.min())
        # Those already away need no switch.
        self._candidates = sorted(
            (helper for helper in initial.lendable_lanes if helper.lane in idle),
            key=lambda helper: (not helper.is_lent, helper.ready + helper.seconds),
        )
        self._best_of_all = sorted(initial.lendable_lanes, key=lambda helper: helper.seconds)
        num_fragments = sum(batch.waiting.size for batch in initial.batches)
        self._num_lent_lanes = sum(helper.is_lent for helper in initial.lendable_lanes)
        self._size = _FORECAST_COST + num_fragments + initial.rollout.free.size + initial.rewards.free.size
        self._left = budget
        self._kept = 0
        """Of the budget, for what is looked at later."""
        self.is_truncated = False
        plan, forecast = extend(initial, (), loans_now(initial.lendable_lanes, (), 0))
        self._skip = _Choice(plan, forecast)
        self._margin = margin
        self._fragments_a_second = float((1.0 / initial.rollout.seconds).sum())
        self._remaining: dict[tuple[object, ...], float] = {}
        """From a bubble to the end, by situation."""

    def allowance(self, at: float) -> Allowance | None:
        self._kept = self._left // 2
        found = sorted(
            self._choices_now(), key=lambda choice: (choice.forecast.end, len(choice.lanes), choice.num_fragments)
        )
        followed = found[:NUM_CHOICES_FOLLOWED]
        without, *ends = self._ends_after([self._skip, *followed])
        with_margin = [end + self._margin_of(choice.forecast) for end, choice in zip(ends, followed, strict=True)]
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
            ),
        )

    def _margin_of(self, forecast: Forecast) -> float:
        num_lent_fragments = forecast.num_lent_fragments - self._skip.forecast.num_lent_fragments
        return self._margin * num_lent_fragments / self._fragments_a_second

    def _may_look(self, plan: LendingPlan, num_loans: int) -> bool:
        """Whether the budget allows a forecast of a plan followed by a stint of so many loans; if so, it is spent."""
        num_loans += sum(len(bubble_loans.loans) for bubble_loans in plan)
        size = self._size + _LOAN_COST * num_loans
        if self._left - size < self._kept:
            self.is_truncated = True
            return False
        self._left -= size
        return True

    def _ends_after(self, choices: Sequence[_Choice]) -> list[float]:
        """The end after each of these choices for this bubble, if the later ones are put to the best use found."""
        ends = []
        for place, choice in enumerate(choices):
            self._kept = self._left - self._left // (len(choices) - place)
            ends.append(min(self._end_with(choice, self._depth), self._end_of_line(choice)))
        return ends

    def _end_of_line(self, choice: _Choice) -> float:
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
        """So many of the idle lanes, so many fragments each: all there are, …, 8, 6, 4, 3, 2, 1 lanes."""
        num_waiting = sum(batch.waiting.size for batch in self._initial.batches[: self._initial.num_open])
        num_waiting += self._initial.num_others
        for num_lanes in reversed(list(_growing(min(len(self._candidates), num_waiting)))):
            if self._initial.lends_together and num_lanes < len(self._candidates):
                continue
            granted = self._candidates[:num_lanes]
            lanes = tuple(helper.lane for helper in granted)
            num_lent_fragments = self._skip.forecast.num_lent_fragments
            for num_fragments in _growing(-(-num_waiting // num_lanes)):
                if not self._may_look((), self._num_lent_lanes + num_lanes):
                    return
                loans = loans_now(self._initial.lendable_lanes, granted, num_fragments)
                plan, forecast = extend(self._initial, (), loans)
                if forecast.num_lent_fragments == num_lent_fragments:
                    # Training work comes before they could begin as many.
                    break
                num_lent_fragments = forecast.num_lent_fragments
                yield _Choice(plan, forecast, lanes, num_fragments)

    def _end_with(self, choice: _Choice, depth: int) -> float:
        """The end, if the next `depth` bubbles after this choice are put to the best use found."""
        bubble = choice.forecast.next_bubble
        if depth == 0 or bubble is None:
            return choice.forecast.end
        moment = round(bubble.at / (self._fragment_seconds * _MEMO_TIME_RESOLUTION))
        situation = (moment, bubble.num_waiting, bubble.progress, depth)
        if situation not in self._remaining:
            ends = [choice.forecast.end]
            if depth > 1 and self._may_look(choice.plan, 0):
                ends.append(self._end_with(_Choice(*extend(self._initial, choice.plan, ())), depth - 1))
            ends += [self._end_with(option, depth - 1) for option in self._choices_later(choice.plan, bubble)]
            self._remaining[situation] = min(ends) - bubble.at
        return bubble.at + self._remaining[situation]

    def _choices_later(self, plan: LendingPlan, bubble: Bubble) -> Iterator[_Choice]:
        """All lanes or the fastest one, as many fragments as there are or one each; what the budget allows of that."""
        lent_before = {loan.lane for bubble_loans in plan for loan in bubble_loans.loans}
        num_lanes = min(len(self._best_of_all), bubble.num_waiting)
        numbers = {num_lanes} if self._initial.lends_together else {num_lanes, 1}
        for number in sorted(numbers, reverse=True):
            for num_fragments in sorted({1, -(-bubble.num_waiting // number)}, reverse=True):
                if not self._may_look(plan, number):
                    return
                lendable_lanes = [_holding_the_version(helper, lent_before) for helper in self._best_of_all[:number]]
                yield _Choice(*extend(self._initial, plan, loans_at(bubble.at, lendable_lanes, num_fragments)))


def _holding_the_version(helper: LendableLane, lent_before: set[str]) -> LendableLane:
    return replace(helper, pull=0.0) if helper.lane in lent_before else helper


def _growing(last: int) -> Iterator[int]:
    """1, 2, 3, 4, 6, 8, 12, … below `last`, and `last` itself."""
    power = 1
    while power < last:
        yield power
        if 2 < power + power // 2 < last:
            yield power + power // 2
        power *= 2
    yield last
