"""What work costs, measured in the run itself: seconds by lane and kind of work, a fixed part and a part per unit.

The scheduler observes every action that finishes; search, planner and the run page read the estimates. Until a cost has
been observed, a prior stands in for it: an estimate from a profile, or a measurement of an earlier run.

Invariants: estimates are finite and never negative, and depend on prior and observations alone; a measurement handed to
later runs says at which sizes it was observed, since a single size does not separate the fixed part from the part per
unit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from worker.contracts.events import WorkCost

GANG = "gang"
"""Stands for all trainer lanes together, which accumulate, commit and take a snapshot in step."""


class CostKind(StrEnum):
    """A kind of work, and the unit that its cost is counted in; kinds without a unit are paid once per call."""

    GENERATE = "generate"
    """Generation of a fragment, decoding included. Unit: a trajectory."""
    SCORE = "score"
    """Scoring of a fragment. Unit: an image or clip."""
    ACCUMULATE = "accumulate"
    """Forward and backward over a bundle of groups. Unit: a micro-batch of each rank."""
    COMMIT = "commit"
    """The optimizer step of a mini-batch."""
    SNAPSHOT = "snapshot"
    """The copy of the trained weights, before the gang trains on."""
    PUBLISH = "publish"
    """The time from the snapshot until the version can be pulled; it occupies no lane."""
    PULL = "pull"
    """A lane's loading of a published version."""
    LEND = "lend"
    """A trainer lane's switch to generation."""
    RECLAIM = "reclaim"
    """A trainer lane's switch back to training."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a call of `num_units`: `per_call` + `num_units` × `per_unit`."""

    per_call: float = 0.0
    """Seconds of each call, whatever its size."""
    per_unit: float = 0.0
    """Seconds of each unit."""

    @classmethod
    def from_measurement(cls, seconds: float, num_units: float, fixed_share: float) -> "Cost":
        """The line through one measured size, where `fixed_share` (0 to 1) of the seconds does not depend on it."""
        return cls(seconds * fixed_share, seconds * (1 - fixed_share) / num_units)

    def seconds(self, num_units: float = 1) -> float:
        return self.per_call + num_units * self.per_unit

    def scaled(self, factor: float) -> "Cost":
        return Cost(self.per_call * factor, self.per_unit * factor)

    def line_at(self, num_units: float) -> "Cost":
        """A single line with the same seconds for `num_units`."""
        return self

    def fixed_share(self, num_units: float) -> float:
        """The share of the seconds of `num_units` that does not depend on the size; 0 for work that takes no time."""
        seconds = self.seconds(num_units)
        return self.per_call / seconds if seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class ConservativeCost(Cost):
    """An upper estimate of work measured at one size only, whose fixed share is known only within a range.

    The seconds are the larger ones of two lines through the measurement, one for each end of the range, so no size is
    underestimated. The line with the most fixed seconds is the larger one below the measured size (`per_call` and
    `per_unit` are its), the line with the fewest above it.
    """

    line_above: Cost = Cost()
    """The line that holds for sizes above the measured one."""

    @classmethod
    def from_share_range(cls, seconds: float, num_units: int, fixed_shares: tuple[float, float]) -> Cost:
        """The upper estimate through one measured size, where the fixed share lies within (lowest, highest)."""
        lowest, highest = fixed_shares
        below = Cost.from_measurement(seconds, num_units, highest)
        if lowest == highest:
            return below
        return cls(below.per_call, below.per_unit, Cost.from_measurement(seconds, num_units, lowest))

    def seconds(self, num_units: float = 1) -> float:
        return max(Cost.seconds(self, num_units), self.line_above.seconds(num_units))

    def line_at(self, num_units: float) -> Cost:
        below = Cost(self.per_call, self.per_unit)
        return max(below, self.line_above, key=lambda line: line.seconds(num_units))

    def scaled(self, factor: float) -> Cost:
        return ConservativeCost(self.per_call * factor, self.per_unit * factor, self.line_above.scaled(factor))


@dataclass(frozen=True, slots=True)
class MeasuredCost:
    """A cost with the range of sizes that it was measured at; outside that range it is an extrapolation."""

    cost: Cost
    fewest_units: int
    most_units: int

    @property
    def determines_line(self) -> bool:
        """Whether several sizes were measured, so that the fixed part is known from the part per unit."""
        return self.fewest_units < self.most_units


CostTable = Mapping[tuple[str, CostKind], Cost]
"""Costs by lane (or `GANG`) and kind."""
MeasuredCostTable = Mapping[tuple[str, CostKind], MeasuredCost]
"""Measured costs by lane (or `GANG`) and kind."""


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

    def observe(self, num_units: int, seconds: float) -> None:
        self.fewest, self.most = min(self.fewest, num_units), max(self.most, num_units)
        self.weight = self.weight * _DECAY + 1.0
        self.units = self.units * _DECAY + num_units
        self.seconds = self.seconds * _DECAY + seconds
        self.units_squared = self.units_squared * _DECAY + num_units * num_units
        self.units_seconds = self.units_seconds * _DECAY + num_units * seconds

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
        return MeasuredCost(self.cost(prior), fewest, most)


_DECAY = 0.9
"""An estimate rests on about the last 10 observations. With durations that vary by ±20 % it is off by 3 % (standard
deviation), and it has followed a machine that became 1.5 times slower after 17 observations. Measured for comparison:
7 % and 3 observations at 0.5, 1 % and 184 observations at 0.99."""
_MIN_RELATIVE_VARIANCE = 1e-3
"""Variance of the sizes ÷ their squared mean, below which they count as one size. So one observation of half or twice
the size determines the line for about 30 to 45 observations of the other size, then no longer: by then its weight is a
few per cent of one observation, and a slope through it would be noise."""


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


def dump_costs(table: Mapping[tuple[str, CostKind], Cost | MeasuredCost]) -> tuple[WorkCost, ...]:
    """A table in the form of the contracts, sorted: measured costs that a run reports, or priors that it is given."""
    return tuple(_dump(lane, kind, table[lane, kind]) for lane, kind in sorted(table))


def _dump(lane: str, kind: CostKind, known: Cost | MeasuredCost) -> WorkCost:
    cost, units = (known, None) if isinstance(known, Cost) else (known.cost, (known.fewest_units, known.most_units))
    return WorkCost(lane=lane, kind=kind, per_call=cost.per_call, per_unit=cost.per_unit, observed_units=units)


def parse_costs(costs: Iterable[WorkCost]) -> dict[tuple[str, CostKind], Cost]:
    """The table that `dump_costs` wrote. Raises `ValueError` for an unknown kind."""
    return {(cost.lane, CostKind(cost.kind)): Cost(cost.per_call, cost.per_unit) for cost in costs}


def parse_measured_costs(costs: Iterable[WorkCost]) -> dict[tuple[str, CostKind], MeasuredCost]:
    """The measured costs among `costs`. Unknown kinds are left out: an older version may have stored them."""
    return {
        (cost.lane, CostKind(cost.kind)): MeasuredCost(Cost(cost.per_call, cost.per_unit), *cost.observed_units)
        for cost in costs
        if cost.observed_units is not None and cost.kind in set(CostKind)
    }
