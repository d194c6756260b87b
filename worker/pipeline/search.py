"""`tag: search`: trainer lanes generate only where the batches are predicted to end sooner for it.

    bubble ──► skip it, or lend so many lanes for so many fragments ──► the next predicted bubble ──► … ──► end
               each choice played through by the forecast, the best kept

In the first bubble, the one that is open, all choices are tried; the few best are followed into the bubbles after it,
to a bounded depth, beyond which nothing is lent, and down one line along which everything is lent: what a single bubble
hardly gains, all of them together may. Values of like situations are remembered within a decision.

Invariant: with exact costs a decision never makes the predicted end later, since skipping every bubble is always among
the choices. A gain must exceed a margin, so that noise in the costs does not decide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from worker.pipeline.forecast import Forecast, Loan, Plan, extend, loans_at, loans_now
from worker.pipeline.lanes import Lane
from worker.pipeline.lending import Allowance, Prediction
from worker.pipeline.outlook import Helper, Lookout, Outlook

DEPTH = 1
"""Bubbles that a decision looks ahead, beyond the open one."""
BREADTH = 3
"""Choices in the open bubble that are followed further."""
MARGIN = 0.1
"""Of the time in which the rollout lanes generate what is to be lent: a smaller gain is none."""
LINE = 16
"""Bubbles ahead, in which every lane is lent throughout, to see what persistence brings."""
ASK_AGAIN = 0.5
"""Of a fragment's time, after which the same bubble is judged anew: by then more is known."""
_LIKE_MOMENTS = 1 / 32
"""Of a fragment's time: bubbles that begin closer than this are alike."""


@dataclass(frozen=True, slots=True)
class _Choice:
    plan: Plan
    forecast: Forecast
    lanes: tuple[str, ...] = ()
    num_fragments: int = 0


class Search:
    """The lending policy that predicts."""

    def __init__(self, lookout: Lookout, *, depth: int = DEPTH, margin: float = MARGIN) -> None:
        self._lookout = lookout
        self._depth = depth
        self._margin = margin
        self._judged: tuple[tuple[int, ...], tuple[str, ...]] | None = None
        """The bubble judged last: how far training had come, and who was idle."""
        self._judge_again_at = 0.0

    def grant(self, idle: Sequence[Lane], at: float) -> Allowance | None:
        """Lend where the end is predicted to come sooner; without costs nothing is predicted, so nothing lent."""
        bubble = self._lookout.progress(), tuple(lane.name for lane in idle)
        if bubble == self._judged and at < self._judge_again_at:
            return None
        outlook = self._lookout.look(at)
        if outlook is None:
            return None
        self._judged = bubble
        self._judge_again_at = at + ASK_AGAIN * float(outlook.rollout.seconds.min())
        return _Decision(outlook, bubble[1], self._depth, self._margin).allowance(at)


class _Decision:
    """What to do in one bubble, as things stand."""

    def __init__(self, outlook: Outlook, idle: Sequence[str], depth: int, margin: float) -> None:
        self._outlook = outlook
        self._depth = depth
        self._fragment_seconds = float(outlook.rollout.seconds.min())
        candidates = [helper for helper in outlook.helpers if helper.lane in set(idle)]
        # Those already away need no switch.
        self._candidates = sorted(candidates, key=lambda helper: (not helper.is_away, helper.ready + helper.seconds))
        self._best_of_all = sorted(outlook.helpers, key=lambda helper: helper.seconds)
        plan, forecast = extend(outlook, (), loans_now(outlook.helpers, (), 0))
        self._skip = _Choice(plan, forecast)
        self._margin = margin
        self._fragments_a_second = float((1.0 / outlook.rollout.seconds).sum())
        self._remaining: dict[tuple[object, ...], float] = {}
        """From a bubble to the end, by situation."""

    def allowance(self, at: float) -> Allowance | None:
        followed = sorted(self._choices_now(), key=lambda choice: choice.forecast.end)[:BREADTH]
        without = self._end_after(self._skip)
        ends = [(self._end_after(choice) + self._margin_of(choice.forecast), choice) for choice in followed]
        end, chosen = min(ends, key=lambda entry: entry[0], default=(without, self._skip))
        if end >= without:
            return None
        end_without = self._skip.forecast.end
        return Allowance(
            lanes=chosen.lanes,
            num_fragments=chosen.num_fragments,
            prediction=Prediction(
                last_batch=self._outlook.first_batch + len(self._outlook.batches) - 1,
                end_without=at + end_without,
                gain_seconds=end_without - self._end_after(chosen),
            ),
        )

    def _margin_of(self, forecast: Forecast) -> float:
        num_lent = forecast.num_lent - self._skip.forecast.num_lent
        return self._margin * num_lent / self._fragments_a_second

    def _end_after(self, choice: _Choice) -> float:
        """The end after a choice for this bubble, if the later ones are put to the best use found."""
        return min(self._end_with(choice, self._depth), self._end_of_line(choice))

    def _end_of_line(self, choice: _Choice) -> float:
        """The earliest end, if all lanes are lent in every bubble from the next on, up to some bubble."""
        end = choice.forecast.end
        for _ in range(LINE):
            bubble = choice.forecast.next_bubble
            if bubble is None:
                break
            loans = next(self._choices_later(choice.plan, bubble.at, bubble.num_waiting))
            choice = _Choice(*extend(self._outlook, choice.plan, loans))
            end = min(end, choice.forecast.end)
        return end

    def _choices_now(self) -> Iterator[_Choice]:
        """So many of the idle lanes, so many fragments each: 1, 2, 3, 4, 6, 8, … up to all there are."""
        num_waiting = sum(batch.waiting.size for batch in self._outlook.batches[: self._outlook.num_open])
        num_waiting += self._outlook.num_others
        for num_lanes in _growing(min(len(self._candidates), num_waiting)):
            if self._outlook.lends_together and num_lanes < len(self._candidates):
                continue
            granted = self._candidates[:num_lanes]
            lanes = tuple(helper.lane for helper in granted)
            num_lent = self._skip.forecast.num_lent
            for num_fragments in _growing(-(-num_waiting // num_lanes)):
                loans = loans_now(self._outlook.helpers, granted, num_fragments)
                plan, forecast = extend(self._outlook, (), loans)
                if forecast.num_lent == num_lent:
                    # Training work comes before they could begin as many.
                    break
                num_lent = forecast.num_lent
                yield _Choice(plan, forecast, lanes, num_fragments)

    def _end_with(self, choice: _Choice, depth: int) -> float:
        """The end, if the next `depth` bubbles after this choice are put to the best use found."""
        bubble = choice.forecast.next_bubble
        if depth == 0 or bubble is None:
            return choice.forecast.end
        moment = round(bubble.at / (self._fragment_seconds * _LIKE_MOMENTS))
        situation = (moment, bubble.num_waiting, bubble.progress, depth)
        if situation not in self._remaining:
            options = [(), *self._choices_later(choice.plan, bubble.at, bubble.num_waiting)]
            later = [_Choice(*extend(self._outlook, choice.plan, loans)) for loans in options]
            self._remaining[situation] = min(self._end_with(option, depth - 1) for option in later) - bubble.at
        return bubble.at + self._remaining[situation]

    def _choices_later(self, plan: Plan, at: float, num_waiting: int) -> Iterator[tuple[Loan, ...]]:
        """All lanes or the fastest one, as many fragments as there are or one each."""
        lent_before = {loan.lane for stint in plan for loan in stint.loans}
        num_lanes = min(len(self._best_of_all), num_waiting)
        numbers = {num_lanes} if self._outlook.lends_together else {num_lanes, 1}
        for number in sorted(numbers, reverse=True):
            helpers = [_holding_the_version(helper, lent_before) for helper in self._best_of_all[:number]]
            for num_fragments in sorted({1, -(-num_waiting // number)}, reverse=True):
                yield loans_at(at, helpers, num_fragments)


def _holding_the_version(helper: Helper, lent_before: set[str]) -> Helper:
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
