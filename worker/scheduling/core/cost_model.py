"""The cost model: estimates of what work costs, measured in the run itself.

The scheduler observes every action that finishes; search, planner and the run page read the estimates. Until a cost has
been observed, a prior stands in for it: an estimate from a profile, or a measurement of an earlier run. A lane that has
become slow at training is expected to be so at generation, and the reverse, until it does that again: a trainer lane
may have been lent once, long ago, and its next fragment would hold up the whole batch. One that recovers at either is
taken to have recovered at both, since what it is not given any more for being slow it cannot show. What others take is
told by what it took before it turned slow.

Invariant: estimates are finite and never negative, and depend on prior and observations alone.
"""

import math

from worker.contracts.names import LaneRole
from worker.scheduling.core.cost_fit import CostFit
from worker.scheduling.core.costs import Cost, CostKind, CostTable, MeasuredCost
from worker.scheduling.core.messages import Accumulate, Action, Generate, Pull, Score, Switch

_OTHER_WORK = {CostKind.GENERATE: CostKind.ACCUMULATE, CostKind.ACCUMULATE: CostKind.GENERATE}
"""By kind of work that a lane's GPUs do: the one that they do at the same speed, more or less."""


class CostModel:
    """Estimates by lane and kind of work, from observations where there are any and from `prior` elsewhere."""

    def __init__(self, prior: CostTable | None = None) -> None:
        self._prior = dict(prior or {})
        self._fits: dict[CostKind, dict[str, CostFit]] = {kind: {} for kind in CostKind}
        # With thousands of lanes, estimates are read far more often than they change, so each is kept until then.
        self._fitted: dict[CostKind, dict[str, Cost]] = {kind: {} for kind in CostKind}
        self._scaled_priors: dict[CostKind, dict[str, Cost]] = {kind: {} for kind in CostKind}
        self._means: dict[CostKind, Cost] = {}
        # How many times as long as fit or prior say a lane's work is expected to take: it became slow at other work.
        self._slower: dict[CostKind, dict[str, float]] = {kind: {} for kind in CostKind}
        # (observed, prior) seconds, summed over the lanes that have both; kept up to date with each observation.
        self._observed_and_prior: dict[CostKind, tuple[float, float]] = {}

    def observe(
        self, lane: str, kind: CostKind, seconds: float, num_units: int = 1, *, is_same_call: bool = False
    ) -> None:
        """Take in one duration; `is_same_call` as in `CostFit.observe`. Raises `ValueError` for a negative one, or for
        less than one unit."""
        if seconds < 0 or num_units < 1:
            raise ValueError(
                f"`seconds` must be ≥ 0 and `num_units` ≥ 1, got {seconds} and {num_units} for {kind} on `{lane}`: "
                "observe an action once, at its end"
            )
        self._add_to_sums(lane, kind, -1)
        self._settle(lane, kind, num_units, seconds)
        fit = self._fits[kind].setdefault(lane, CostFit(num_units, num_units))
        slowdown = fit.slowdown
        change = fit.observe(num_units, seconds, is_same_call=is_same_call)
        self._add_to_sums(lane, kind, 1)
        self._drop_estimates(lane, kind)
        if change != 1.0 and kind in _OTHER_WORK:
            self._expect(lane, _OTHER_WORK[kind], change, has_recovered=fit.slowdown < slowdown)

    def _expect(self, lane: str, kind: CostKind, change: float, *, has_recovered: bool) -> None:
        """Expect the lane's work to take `change` times as long as expected so far, but no less than it took, or than
        it took at first where the lane `has_recovered` at other work. It may have done so once since."""
        slower, fit = change * self._slower[kind].pop(lane, 1.0), self._fits[kind].get(lane)
        self._add_to_sums(lane, kind, -1)
        if slower > 1.0 and not (fit is not None and fit.confirm(slower)):
            self._slower[kind][lane] = slower
        elif slower < 1.0 and has_recovered and fit is not None:
            fit.recover(slower)
        self._add_to_sums(lane, kind, 1)
        self._drop_estimates(lane, kind)

    def _drop_estimates(self, lane: str, kind: CostKind) -> None:
        """Drop those that rest on the lane's observations."""
        self._fitted[kind].pop(lane, None)
        self._scaled_priors[kind].clear()
        self._means.pop(kind, None)

    def _settle(self, lane: str, kind: CostKind, num_units: int, seconds: float) -> None:
        """The lane does the work again that was expected to take longer, if it was. What was observed before counts as
        so much longer where `seconds` bear that out, else no more."""
        slower, fit = self._slower[kind].get(lane), self._fits[kind].get(lane)
        if slower is None:
            return
        if fit is None or not fit.scale(slower, num_units, seconds):
            expected, slowdown = self.seconds(lane, kind, num_units), 1.0 if fit is None else fit.slowdown
            # Nearer to what a slow lane would take than to what it would without being slow.
            if expected is not None and seconds >= expected / math.sqrt(slower):
                slowdown *= slower
            self._fits[kind][lane] = CostFit(num_units, num_units, slowdown=slowdown)
        del self._slower[kind][lane]

    def _add_to_sums(self, lane: str, kind: CostKind, sign: int) -> None:
        """Add the lane to the sums of observed and prior seconds (`sign` 1), or take it out of them (`sign` -1)."""
        fit, prior = self._fits[kind].get(lane), self._prior.get((lane, kind))
        if fit is not None and prior is not None:
            observed, expected = self._observed_and_prior.get(kind, (0.0, 0.0))
            # What a lane took before it turned slow tells what others may take.
            observed += sign * fit.mean_seconds / fit.slowdown
            expected += sign * prior.seconds(fit.mean_units)
            self._observed_and_prior[kind] = observed, expected

    def cost(self, lane: str, kind: CostKind) -> Cost | None:
        """The best estimate there is: the lane's own observations; else its prior, scaled by the ratio of observed to
        prior seconds of the lanes that have both; else the mean of the lanes observed; else `None`. It is longer
        where the lane has become slow at other work since."""
        known = self._fitted[kind].get(lane) or self._scaled_priors[kind].get(lane)
        if known is not None:
            return known
        fit, prior = self._fits[kind].get(lane), self._prior.get((lane, kind))
        if fit is not None:
            known = self._fitted[kind][lane] = fit.cost(prior).scaled(self._slower[kind].get(lane, 1.0))
        elif prior is not None:
            observed, expected = self._observed_and_prior.get(kind, (0.0, 0.0))
            typical = max(0.0, observed) / expected if expected > 0 else 1.0
            known = prior.scaled(typical * self._slower[kind].get(lane, 1.0))
            self._scaled_priors[kind][lane] = known
        elif self._fits[kind]:
            known = self._mean(kind).scaled(self._slower[kind].get(lane, 1.0))
        return known

    def _mean(self, kind: CostKind) -> Cost:
        if kind not in self._means:
            known = [
                fit.cost(self._prior.get((lane, kind))).scaled(1 / fit.slowdown)
                for lane, fit in self._fits[kind].items()
            ]
            self._means[kind] = Cost(
                sum(cost.per_call for cost in known) / len(known), sum(cost.per_unit for cost in known) / len(known)
            )
        return self._means[kind]

    def seconds(self, lane: str, kind: CostKind, num_units: int = 1) -> float | None:
        """The estimated seconds of a call of `num_units`; `None` where nothing is known."""
        cost = self.cost(lane, kind)
        return None if cost is None else cost.seconds(num_units)

    def seconds_of(self, lane: str, action: Action) -> float:
        """The estimated seconds of an action on one lane; 0 where nothing is known of it."""
        match action:
            case Pull():
                calls = [(CostKind.PULL, 1)]
            case Switch(to=to):
                calls = [(CostKind.LEND if to is LaneRole.ROLLOUT else CostKind.RECLAIM, 1)]
            case Generate(fragments=fragments):
                calls = [(CostKind.GENERATE, len(fragment.members)) for fragment in fragments]
            case Accumulate(micro_batches=micro_batches):
                calls = [(CostKind.ACCUMULATE, len(micro_batches))]
            case Score(fragment=fragment):
                calls = [(CostKind.SCORE, len(fragment.members))]
            case _:
                calls = []
        return sum(self.seconds(lane, kind, number) or 0.0 for kind, number in calls)

    def table(self) -> dict[tuple[str, CostKind], Cost]:
        """All present estimates, from which the rest of the run can be simulated."""
        keys = [*self._prior, *((lane, kind) for kind, fits in self._fits.items() for lane in fits)]
        return {key: cost for key in keys if (cost := self.cost(*key)) is not None}

    def measured(self) -> dict[tuple[str, CostKind], MeasuredCost]:
        """The observed costs without any that are only priors, for later runs to use."""
        return {
            (lane, kind): fit.measured(self._prior.get((lane, kind)))
            for kind, fits in self._fits.items()
            for lane, fit in fits.items()
        }

    @property
    def is_in_doubt(self) -> bool:
        """Whether a lane's last generation or training took far more or less than those before: it may have become
        another, which its next one tells."""
        return any(fit.is_in_doubt for kind in _OTHER_WORK for fit in self._fits[kind].values())

    def remove_lane(self, lane: str) -> None:
        """Drop a lane's observations: a lane that joins under its name may be another machine."""
        for kind, fits in self._fits.items():
            fits.pop(lane, None)
            self._fitted[kind].pop(lane, None)
            self._slower[kind].pop(lane, None)
            self._scaled_priors[kind].clear()
        self._means.clear()
        self._observed_and_prior.clear()
        for kind, others in self._fits.items():
            for other in others:
                self._add_to_sums(other, kind, 1)
