"""The cost model: estimates of what work costs, measured in the run itself.

The scheduler observes every action that finishes; search, planner and the run page read the estimates. Until a cost has
been observed, a prior stands in for it: an estimate from a profile, or a measurement of an earlier run.

Invariant: estimates are finite and never negative, and depend on prior and observations alone.
"""

import math
from dataclasses import dataclass

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import Cost, CostKind, CostTable, MeasuredCost
from worker.scheduling.core.messages import Accumulate, Action, Generate, Pull, Score, Switch


@dataclass(slots=True)
class _DecayingFit:
    """A weighted least-squares line through (units, seconds); each observation weighs `_DECAY` times the next one.

    The fields after the first two are sums over the observations, each times its weight.
    """

    fewest: int
    """The fewest units of any observation."""
    most: int
    """The most units of any observation."""
    weight: float = 0.0
    units: float = 0.0
    seconds: float = 0.0
    units_squared: float = 0.0
    units_seconds: float = 0.0
    rate: float = 0.0
    """Seconds per unit."""
    rate_squared: float = 0.0
    weight_squared: float = 0.0
    """The sum of the squared weights."""

    def observe(self, num_units: int, seconds: float) -> None:
        self.fewest, self.most = min(self.fewest, num_units), max(self.most, num_units)
        self.weight = self.weight * _DECAY + 1.0
        self.units = self.units * _DECAY + num_units
        self.seconds = self.seconds * _DECAY + seconds
        self.units_squared = self.units_squared * _DECAY + num_units * num_units
        self.units_seconds = self.units_seconds * _DECAY + num_units * seconds
        rate = seconds / num_units
        self.rate = self.rate * _DECAY + rate
        self.rate_squared = self.rate_squared * _DECAY + rate * rate
        self.weight_squared = self.weight_squared * _DECAY**2 + 1.0

    @property
    def mean_units(self) -> float:
        return self.units / self.weight

    @property
    def mean_seconds(self) -> float:
        return self.seconds / self.weight

    @property
    def variance(self) -> float:
        """The weighted variance of the units; 0 where nearly all of the weight is on one size."""
        variance = self.units_squared / self.weight - self.mean_units**2
        return variance if variance > _MIN_RELATIVE_VARIANCE * self.mean_units**2 else 0.0

    def cost(self, prior: Cost | None) -> Cost:
        """The fitted line. Where only one size still has weight, its fixed share is the prior's, or 0 without one."""
        mean_units, mean_seconds, variance = self.mean_units, self.mean_seconds, self.variance
        if variance:
            slope = max(0.0, (self.units_seconds / self.weight - mean_units * mean_seconds) / variance)
            fixed = mean_seconds - slope * mean_units
            return Cost(fixed, slope) if fixed >= 0 else Cost(0.0, mean_seconds / mean_units)
        return Cost.from_measurement(mean_seconds, mean_units, 0.0 if prior is None else prior.fixed_share(mean_units))

    def measured(self, prior: Cost | None) -> MeasuredCost:
        """The fitted line, with the sizes that still have weight."""
        size = round(self.mean_units)
        fewest, most = (self.fewest, self.most) if self.variance else (size, size)
        return MeasuredCost(self.cost(prior), fewest, most, self.relative_error)

    @property
    def relative_error(self) -> float:
        """The standard error of the mean seconds of a unit ÷ that mean; infinite after one observation, which does not
        show how much they vary."""
        number = self.weight**2 / self.weight_squared
        if number < _FEWEST_TO_VARY:
            return math.inf
        mean = self.rate / self.weight
        variance = max(0.0, self.rate_squared / self.weight - mean**2) * number / (number - 1)
        return math.sqrt(variance / number) / mean if mean > 0 else 0.0


_DECAY = 0.9
"""An estimate rests on about the last 10 observations. With durations that vary by ±20 % it is off by 3 % (standard
deviation), and it has followed a machine that became 1.5 times slower after 17 observations. Measured for comparison:
7 % and 3 observations at 0.5, 1 % and 184 observations at 0.99."""
_MIN_RELATIVE_VARIANCE = 1e-3
"""Variance of the sizes ÷ their squared mean, below which they count as one size. So one observation of half or twice
the size determines the line for about 30 to 45 observations of the other size, then no longer: by then its weight is a
few per cent of one observation, and a slope through it would be noise."""

_FEWEST_TO_VARY = 1.5
"""Effective observations below which their variance says nothing: one has 1, two have almost 2."""


class CostModel:
    """Estimates by lane and kind of work, from observations where there are any and from `prior` elsewhere."""

    def __init__(self, prior: CostTable | None = None) -> None:
        self._prior = dict(prior or {})
        self._fits: dict[CostKind, dict[str, _DecayingFit]] = {kind: {} for kind in CostKind}
        # With thousands of lanes, estimates are read far more often than they change, so each is kept until then.
        self._fitted: dict[CostKind, dict[str, Cost]] = {kind: {} for kind in CostKind}
        self._scaled_priors: dict[CostKind, dict[str, Cost]] = {kind: {} for kind in CostKind}
        self._means: dict[CostKind, Cost] = {}
        # (observed, prior) seconds, summed over the lanes that have both; kept up to date with each observation.
        self._observed_and_prior: dict[CostKind, tuple[float, float]] = {}

    def observe(self, lane: str, kind: CostKind, seconds: float, num_units: int = 1) -> None:
        """Take in one duration. Raises `ValueError` for a negative one, or for less than one unit."""
        if seconds < 0 or num_units < 1:
            raise ValueError(
                f"`seconds` must be ≥ 0 and `num_units` ≥ 1, got {seconds} and {num_units} for {kind} on `{lane}`: "
                "observe an action once, at its end"
            )
        self._add_to_sums(lane, kind, -1)
        self._fits[kind].setdefault(lane, _DecayingFit(num_units, num_units)).observe(num_units, seconds)
        self._add_to_sums(lane, kind, 1)
        self._fitted[kind].pop(lane, None)
        self._scaled_priors[kind].clear()
        self._means.pop(kind, None)

    def _add_to_sums(self, lane: str, kind: CostKind, sign: int) -> None:
        """Add the lane to the sums of observed and prior seconds (`sign` 1), or take it out of them (`sign` -1)."""
        fit, prior = self._fits[kind].get(lane), self._prior.get((lane, kind))
        if fit is not None and prior is not None:
            observed, expected = self._observed_and_prior.get(kind, (0.0, 0.0))
            observed, expected = observed + sign * fit.mean_seconds, expected + sign * prior.seconds(fit.mean_units)
            self._observed_and_prior[kind] = observed, expected

    def cost(self, lane: str, kind: CostKind) -> Cost | None:
        """The best estimate there is: the lane's own observations; else its prior, scaled by the ratio of observed to
        prior seconds of the lanes that have both; else the mean of the lanes observed; else `None`."""
        known = self._fitted[kind].get(lane) or self._scaled_priors[kind].get(lane)
        if known is not None:
            return known
        fit, prior = self._fits[kind].get(lane), self._prior.get((lane, kind))
        if fit is not None:
            known = self._fitted[kind][lane] = fit.cost(prior)
        elif prior is not None:
            observed, expected = self._observed_and_prior.get(kind, (0.0, 0.0))
            known = prior.scaled(max(0.0, observed) / expected) if expected > 0 else prior
            self._scaled_priors[kind][lane] = known
        elif self._fits[kind]:
            known = self._mean(kind)
        return known

    def _mean(self, kind: CostKind) -> Cost:
        if kind not in self._means:
            known = [fit.cost(self._prior.get((lane, kind))) for lane, fit in self._fits[kind].items()]
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

    def remove_lane(self, lane: str) -> None:
        """Drop a lane's observations: a lane that joins under its name may be another machine."""
        for kind, fits in self._fits.items():
            fits.pop(lane, None)
            self._fitted[kind].pop(lane, None)
            self._scaled_priors[kind].clear()
        self._means.clear()
        self._observed_and_prior.clear()
        for kind, others in self._fits.items():
            for other in others:
                self._add_to_sums(other, kind, 1)
