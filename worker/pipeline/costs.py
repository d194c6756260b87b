"""What work costs, learnt from the run itself: seconds by lane and kind of work, a fixed part and a part for each unit.

The scheduler observes every action that it sees finished; search, planner and the run page read the estimates. Until a
cost has been observed, a prior stands in for it: a documented profile, or what was learnt on an earlier run.

Invariant: estimates are finite and never negative, and depend on the observations alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from worker.contracts.events import WorkCost

GANG = "gang"
"""Stands for all trainer lanes together, which accumulate, commit and publish in step."""


class CostKind(StrEnum):
    """What is paid for, and in which unit."""

    GENERATE = "generate"
    """One trajectory, decoding included."""
    SCORE = "score"
    """One picture or clip."""
    ACCUMULATE = "accumulate"
    """One micro-batch of each rank."""
    COMMIT = "commit"
    PUBLISH = "publish"
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

    def seconds(self, num_units: int = 1) -> float:
        return self.per_call + num_units * self.per_unit


CostTable = Mapping[tuple[str, CostKind], Cost]
"""By lane (or `GANG`) and kind."""


@dataclass(slots=True)
class _Fit:
    """A straight line through (units, seconds), old observations fading by `_FADE` with each new one."""

    weight: float = 0.0
    units: float = 0.0
    seconds: float = 0.0
    units_squared: float = 0.0
    units_seconds: float = 0.0

    def observe(self, num_units: int, seconds: float) -> None:
        self.weight = self.weight * _FADE + 1.0
        self.units = self.units * _FADE + num_units
        self.seconds = self.seconds * _FADE + seconds
        self.units_squared = self.units_squared * _FADE + num_units * num_units
        self.units_seconds = self.units_seconds * _FADE + num_units * seconds

    @property
    def cost(self) -> Cost:
        mean_units, mean_seconds = self.units / self.weight, self.seconds / self.weight
        variance = self.units_squared / self.weight - mean_units**2
        if variance <= _MIN_RELATIVE_VARIANCE * mean_units**2:
            # One size only was seen: charge all of it to the units, so that other sizes scale.
            return Cost(0.0, mean_seconds / mean_units)
        slope = max(0.0, (self.units_seconds / self.weight - mean_units * mean_seconds) / variance)
        fixed = mean_seconds - slope * mean_units
        return Cost(fixed, slope) if fixed >= 0 else Cost(0.0, mean_seconds / mean_units)


_FADE = 0.9
_MIN_RELATIVE_VARIANCE = 1e-3


class CostBook:
    """Estimates by lane and kind of work, from observations where there are any and from `prior` elsewhere."""

    def __init__(self, prior: CostTable | None = None) -> None:
        self._prior = dict(prior or {})
        self._fits: dict[CostKind, dict[str, _Fit]] = {kind: {} for kind in CostKind}
        # Asked for by every lane without a cost of its own; worked out once after each observation of the kind.
        self._means: dict[CostKind, Cost] = {}

    def observe(self, lane: str, kind: CostKind, seconds: float, num_units: int = 1) -> None:
        """Raises `ValueError` for a duration or a number of units that cannot be."""
        if seconds < 0 or num_units < 1:
            raise ValueError(
                f"`seconds` must be ≥ 0 and `num_units` ≥ 1, got {seconds} and {num_units} for {kind} on `{lane}`"
            )
        self._fits[kind].setdefault(lane, _Fit()).observe(num_units, seconds)
        self._means.pop(kind, None)

    def cost(self, lane: str, kind: CostKind) -> Cost | None:
        """The lane's own cost; else its prior; else the mean of the lanes that have done such work; else `None`."""
        fit = self._fits[kind].get(lane)
        if fit is not None:
            return fit.cost
        if (lane, kind) in self._prior:
            return self._prior[lane, kind]
        return self._mean(kind) if self._fits[kind] else None

    def _mean(self, kind: CostKind) -> Cost:
        if kind not in self._means:
            known = [fit.cost for fit in self._fits[kind].values()]
            self._means[kind] = Cost(
                sum(cost.per_call for cost in known) / len(known), sum(cost.per_unit for cost in known) / len(known)
            )
        return self._means[kind]

    def seconds(self, lane: str, kind: CostKind, num_units: int = 1) -> float | None:
        cost = self.cost(lane, kind)
        return None if cost is None else cost.seconds(num_units)

    def table(self) -> dict[tuple[str, CostKind], Cost]:
        """Everything known now: what a simulation of the rest of the run starts from."""
        learnt = {(lane, kind): fit.cost for kind, fits in self._fits.items() for lane, fit in fits.items()}
        return self._prior | learnt

    def forget(self, lane: str) -> None:
        """A lane that left says nothing of the machine that takes its name next."""
        for fits in self._fits.values():
            fits.pop(lane, None)
        self._means.clear()


def told_costs(table: CostTable) -> tuple[WorkCost, ...]:
    """The table as a run tells it."""
    return tuple(
        WorkCost(lane=lane, kind=kind, per_call=cost.per_call, per_unit=cost.per_unit)
        for (lane, kind), cost in sorted(table.items())
    )


def heard_costs(costs: Iterable[WorkCost]) -> dict[tuple[str, CostKind], Cost]:
    """The table that was told."""
    return {(cost.lane, CostKind(cost.kind)): Cost(cost.per_call, cost.per_unit) for cost in costs}
