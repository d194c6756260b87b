"""What work costs, learnt from the run itself: seconds by lane and kind of work, a fixed part and a part for each unit.

The scheduler observes every action that it sees finished; search, planner and the run page read the estimates. Until a
cost has been observed, a prior stands in for it: a documented profile, or what was learnt on an earlier run.

Invariants: estimates are finite and never negative, and depend on prior and observations alone; what is handed on as
learnt says at which sizes it was observed, since one size alone cannot tell the fixed part from the part for each unit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from worker.contracts.events import WorkCost

GANG = "gang"
"""Stands for all trainer lanes together, which accumulate, commit and take a snapshot in step."""


class CostKind(StrEnum):
    """What is paid for, and in which unit."""

    GENERATE = "generate"
    """One trajectory, decoding included."""
    SCORE = "score"
    """One picture or clip."""
    ACCUMULATE = "accumulate"
    """One micro-batch of each rank."""
    COMMIT = "commit"
    SNAPSHOT = "snapshot"
    """The copy of what was trained, before the gang goes on."""
    PUBLISH = "publish"
    """From the snapshot to the version being on offer; no lane is held up."""
    PULL = "pull"
    LEND = "lend"
    """A trainer lane's switch to generation."""
    RECLAIM = "reclaim"
    """Its switch back to training."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds = `per_call` + units × `per_unit`."""

    per_call: float = 0.0
    per_unit: float = 0.0

    @classmethod
    def split(cls, seconds: float, num_units: float, fixed_share: float) -> "Cost":
        """The line through one measurement, of which `fixed_share` (0 to 1) would be paid whatever the size."""
        return cls(seconds * fixed_share, seconds * (1 - fixed_share) / num_units)

    def seconds(self, num_units: float = 1) -> float:
        return self.per_call + num_units * self.per_unit

    def scaled(self, factor: float) -> "Cost":
        return Cost(self.per_call * factor, self.per_unit * factor)

    def line_at(self, num_units: float) -> "Cost":
        """A plain line that costs as much for so many units."""
        return self

    def fixed_share(self, num_units: float) -> float:
        """Of the seconds of so many units; 0 for what costs nothing."""
        seconds = self.seconds(num_units)
        return self.per_call / seconds if seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class ConservativeCost(Cost):
    """Measured at one size, and how much of it is fixed only known within a range: the dearer of the two lines at the
    ends of that range, so that the truth is dearer at no size. Its own line is that of smaller sizes."""

    beyond: Cost = Cost()
    """The line of larger sizes."""

    @classmethod
    def within(cls, seconds: float, num_units: int, shares: tuple[float, float]) -> Cost:
        """Of one measurement whose fixed share is somewhere in `shares`."""
        low, high = shares
        below = Cost.split(seconds, num_units, high)
        return below if low == high else cls(below.per_call, below.per_unit, Cost.split(seconds, num_units, low))

    def seconds(self, num_units: float = 1) -> float:
        return max(Cost.seconds(self, num_units), self.beyond.seconds(num_units))

    def line_at(self, num_units: float) -> Cost:
        below = Cost(self.per_call, self.per_unit)
        return max(below, self.beyond, key=lambda line: line.seconds(num_units))

    def scaled(self, factor: float) -> Cost:
        return ConservativeCost(self.per_call * factor, self.per_unit * factor, self.beyond.scaled(factor))


@dataclass(frozen=True, slots=True)
class MeasuredCost:
    """A cost as it was observed: a measurement from `fewest_units` to `most_units`, a guess elsewhere."""

    cost: Cost
    fewest_units: int
    most_units: int

    @property
    def determines_line(self) -> bool:
        """Whether several sizes were seen. One tells its own seconds, and nothing of how they come about."""
        return self.fewest_units < self.most_units


CostTable = Mapping[tuple[str, CostKind], Cost]
"""By lane (or `GANG`) and kind."""
MeasuredCostTable = Mapping[tuple[str, CostKind], MeasuredCost]


@dataclass(slots=True)
class _Fit:
    """A straight line through (units, seconds), old observations fading by `_DECAY` with each new one."""

    fewest: int
    most: int
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
        """Of the units; 0 where one size is all that still weighs."""
        variance = self.units_squared / self.weight - self.mean_units**2
        return variance if variance > _MIN_RELATIVE_VARIANCE * self.mean_units**2 else 0.0

    def cost(self, prior: Cost | None) -> Cost:
        """Where the sizes do not tell it, the fixed share is the prior's, and without one none: other sizes scale."""
        mean_units, mean_seconds, variance = self.mean_units, self.mean_seconds, self.variance
        if variance:
            slope = max(0.0, (self.units_seconds / self.weight - mean_units * mean_seconds) / variance)
            fixed = mean_seconds - slope * mean_units
            return Cost(fixed, slope) if fixed >= 0 else Cost(0.0, mean_seconds / mean_units)
        return Cost.split(mean_seconds, mean_units, 0.0 if prior is None else prior.fixed_share(mean_units))

    def measured(self, prior: Cost | None) -> MeasuredCost:
        size = round(self.mean_units)
        fewest, most = (self.fewest, self.most) if self.variance else (size, size)
        return MeasuredCost(self.cost(prior), fewest, most)


_DECAY = 0.9
_MIN_RELATIVE_VARIANCE = 1e-3


class CostModel:
    """Estimates by lane and kind of work, from observations where there are any and from `prior` elsewhere."""

    def __init__(self, prior: CostTable | None = None) -> None:
        self._prior = dict(prior or {})
        self._fits: dict[CostKind, dict[str, _Fit]] = {kind: {} for kind in CostKind}
        # Thousands of lanes are asked about, again and again: each answer is kept until an observation changes it.
        self._own: dict[CostKind, dict[str, Cost]] = {kind: {} for kind in CostKind}
        self._inferred: dict[CostKind, dict[str, Cost]] = {kind: {} for kind in CostKind}
        self._means: dict[CostKind, Cost] = {}
        # Summed up as it comes in: observed and prior seconds of the lanes that have both.
        self._compared: dict[CostKind, tuple[float, float]] = {}

    def observe(self, lane: str, kind: CostKind, seconds: float, num_units: int = 1) -> None:
        """Raises `ValueError` for a duration or a number of units that cannot be."""
        if seconds < 0 or num_units < 1:
            raise ValueError(
                f"`seconds` must be ≥ 0 and `num_units` ≥ 1, got {seconds} and {num_units} for {kind} on `{lane}`"
            )
        self._compare(lane, kind, -1)
        self._fits[kind].setdefault(lane, _Fit(num_units, num_units)).observe(num_units, seconds)
        self._compare(lane, kind, 1)
        self._own[kind].pop(lane, None)
        self._inferred[kind].clear()
        self._means.pop(kind, None)

    def _compare(self, lane: str, kind: CostKind, sign: int) -> None:
        """Count the lane in, or out, among those that say how far off the priors of their kind are."""
        fit, prior = self._fits[kind].get(lane), self._prior.get((lane, kind))
        if fit is not None and prior is not None:
            seen, expected = self._compared.get(kind, (0.0, 0.0))
            seen, expected = seen + sign * fit.mean_seconds, expected + sign * prior.seconds(fit.mean_units)
            self._compared[kind] = seen, expected

    def cost(self, lane: str, kind: CostKind) -> Cost | None:
        """The lane's own cost; else its prior, as far off as those of the lanes that have done such work turned out to
        be; else the mean of these lanes; else `None`."""
        known = self._own[kind].get(lane) or self._inferred[kind].get(lane)
        if known is not None:
            return known
        fit, prior = self._fits[kind].get(lane), self._prior.get((lane, kind))
        if fit is not None:
            known = self._own[kind][lane] = fit.cost(prior)
        elif prior is not None:
            seen, expected = self._compared.get(kind, (0.0, 0.0))
            known = prior.scaled(max(0.0, seen) / expected) if expected > 0 else prior
            self._inferred[kind][lane] = known
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
        cost = self.cost(lane, kind)
        return None if cost is None else cost.seconds(num_units)

    def table(self) -> dict[tuple[str, CostKind], Cost]:
        """Everything known now: what a simulation of the rest of the run starts from."""
        keys = [*self._prior, *((lane, kind) for kind, fits in self._fits.items() for lane in fits)]
        return {key: cost for key in keys if (cost := self.cost(*key)) is not None}

    def measured(self) -> dict[tuple[str, CostKind], MeasuredCost]:
        """What was observed, and nothing else: what later runs may go by."""
        return {
            (lane, kind): fit.measured(self._prior.get((lane, kind)))
            for kind, fits in self._fits.items()
            for lane, fit in fits.items()
        }

    def remove_lane(self, lane: str) -> None:
        """A lane that left says nothing of the machine that takes its name next."""
        for kind, fits in self._fits.items():
            fits.pop(lane, None)
            self._own[kind].pop(lane, None)
            self._inferred[kind].clear()
        self._means.clear()
        self._compared.clear()
        for kind, others in self._fits.items():
            for other in others:
                self._compare(other, kind, 1)


def dump_costs(table: Mapping[tuple[str, CostKind], Cost | MeasuredCost]) -> tuple[WorkCost, ...]:
    """The table as it is told: by a run, what it has learnt; to a run, what to go by until then."""
    return tuple(_dump(lane, kind, table[lane, kind]) for lane, kind in sorted(table))


def _dump(lane: str, kind: CostKind, known: Cost | MeasuredCost) -> WorkCost:
    cost, units = (known, None) if isinstance(known, Cost) else (known.cost, (known.fewest_units, known.most_units))
    return WorkCost(lane=lane, kind=kind, per_call=cost.per_call, per_unit=cost.per_unit, observed_units=units)


def parse_costs(costs: Iterable[WorkCost]) -> dict[tuple[str, CostKind], Cost]:
    """The table that was told."""
    return {(cost.lane, CostKind(cost.kind)): Cost(cost.per_call, cost.per_unit) for cost in costs}


def parse_measured_costs(costs: Iterable[WorkCost]) -> dict[tuple[str, CostKind], MeasuredCost]:
    """What was told as observed; kinds that are no longer known are passed over."""
    return {
        (cost.lane, CostKind(cost.kind)): MeasuredCost(Cost(cost.per_call, cost.per_unit), *cost.observed_units)
        for cost in costs
        if cost.observed_units is not None and cost.kind in set(CostKind)
    }
