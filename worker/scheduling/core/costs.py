"""What work costs: seconds by lane and kind of work, a fixed part and a part per unit.

    profiles (`planning`) ──► Cost ◄── `cost_model`, from the run's own events ──► MeasuredCost ──► later runs

Invariant: a measurement says at which sizes it was observed, since a single size does not separate the fixed part from
the part per unit.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from worker.contracts.events import WorkCost

GANG = "gang"
"""Stands for all trainer lanes together, which commit and take a snapshot in step, and accumulate in step where they
must take equally many micro-batches."""


class CostKind(StrEnum):
    """A kind of work, and the unit that its cost is counted in; kinds without a unit are paid once per call."""

    GENERATE = "generate"
    """Generation of a fragment, decoding included; of a call of several fragments, its share by members. Unit: a
    trajectory."""
    SCORE = "score"
    """Scoring of a fragment. Unit: an image or clip."""
    ACCUMULATE = "accumulate"
    """Forward and backward over micro-batches, of one lane or of each rank in step. Unit: a micro-batch of a rank."""
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
    CHECKPOINT = "checkpoint"
    """The gang's writing of a checkpoint."""
    START = "start"
    """The start of the gang's processes, until the model is loaded."""
    RESTORE = "restore"
    """The gang's reading of a checkpoint."""


TRAINER_CHANGE = (CostKind.CHECKPOINT, CostKind.START, CostKind.RESTORE)
"""What replacing the trainer gang takes: training stands still for the sum of these."""


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

    @classmethod
    def mean(cls, costs: Collection["Cost"]) -> "Cost":
        """The line amid several."""
        number = len(costs)
        return cls(sum(cost.per_call for cost in costs) / number, sum(cost.per_unit for cost in costs) / number)

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
    relative_error: float = 0.0
    """The standard error of the mean seconds of a unit ÷ that mean, by how much the observations vary; infinite where
    they cannot tell."""
    slowdown: float = 1.0
    """How many times as long as at first the lane takes, where it turned slow while it was measured."""

    @property
    def determines_line(self) -> bool:
        """Whether several sizes were measured, so that the fixed part is known from the part per unit."""
        return self.fewest_units < self.most_units


CostTable = Mapping[tuple[str, CostKind], Cost]
"""Costs by lane (or `GANG`) and kind."""
MeasuredCostTable = Mapping[tuple[str, CostKind], MeasuredCost]
"""Measured costs by lane (or `GANG`) and kind."""


def dump_costs(table: Mapping[tuple[str, CostKind], Cost | MeasuredCost]) -> tuple[WorkCost, ...]:
    """A table in the form of the contracts, sorted: measured costs that a run reports, or priors that it is given."""
    return tuple(_dump(lane, kind, table[lane, kind]) for lane, kind in sorted(table))


def _dump(lane: str, kind: CostKind, known: Cost | MeasuredCost) -> WorkCost:
    if isinstance(known, Cost):
        return WorkCost(lane=lane, kind=kind, per_call=known.per_call, per_unit=known.per_unit)
    return WorkCost(
        lane=lane,
        kind=kind,
        per_call=known.cost.per_call,
        per_unit=known.cost.per_unit,
        observed_units=(known.fewest_units, known.most_units),
        relative_error=known.relative_error if math.isfinite(known.relative_error) else None,
        slowdown=known.slowdown,
    )


def parse_costs(costs: Iterable[WorkCost]) -> dict[tuple[str, CostKind], Cost]:
    """The table that `dump_costs` wrote. Raises `ValueError` for an unknown kind."""
    return {(cost.lane, CostKind(cost.kind)): Cost(cost.per_call, cost.per_unit) for cost in costs}


def parse_measured_costs(costs: Iterable[WorkCost]) -> dict[tuple[str, CostKind], MeasuredCost]:
    """The measured costs among `costs`. Unknown kinds are left out: an older version may have stored them."""
    return {
        (cost.lane, CostKind(cost.kind)): MeasuredCost(
            Cost(cost.per_call, cost.per_unit),
            *cost.observed_units,
            relative_error=math.inf if cost.relative_error is None else cost.relative_error,
            slowdown=cost.slowdown,
        )
        for cost in costs
        if cost.observed_units is not None and cost.kind in set(CostKind)
    }
