"""What runs have measured of one kind of work: seconds at a size, and the line through several sizes, by device.

    newest run's seconds at the sizes it worked with ──► the level
    several sizes in it, or in earlier runs          ──► the line through them

Invariant: of each device the newest run that has done such work counts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from worker.scheduling.core.costs import Cost, CostKind, MeasuredCost, MeasuredCostTable


@dataclass(frozen=True, slots=True)
class PooledMeasurement:
    """The measurements of one kind of work, of one kind of device or averaged over the lanes of a run."""

    size: int
    """A measured size, in the kind's units."""
    seconds: float
    """Seconds of one call of that size."""
    line: Cost | None
    """Seconds by size, where several sizes determine them."""


@dataclass(frozen=True, slots=True)
class MeasuredWork:
    """What runs have measured of one kind of work."""

    of_device: Mapping[str, PooledMeasurement]
    """By name of a device."""
    of_others: PooledMeasurement | None
    """Of lanes whose device is not known, and of the gang."""

    @classmethod
    def of(cls, history: Sequence[MeasuredCostTable], kind: CostKind, devices: Collection[str] = ()) -> Self:
        """From the tables, the newest first. `devices`: the names in them that are those of devices, not of lanes."""
        found: dict[str, list[list[MeasuredCost]]] = {}
        for table in history:
            of_table: dict[str, list[MeasuredCost]] = {}
            for (lane, other), known in table.items():
                if other is kind:
                    of_table.setdefault(lane if lane in devices else "", []).append(known)
            for name, costs in of_table.items():
                found.setdefault(name, []).append(costs)
        others = found.pop("", None)
        return cls({name: _pooled(costs) for name, costs in found.items()}, _pooled(others) if others else None)

    def on(self, device: str) -> PooledMeasurement | None:
        """What counts for a lane with this device where no estimate tells devices apart: its own measurement, else that
        of others."""
        return self.of_device.get(device) or self.of_others or next(iter(self.of_device.values()), None)


def observed_sizes(history: Sequence[MeasuredCostTable]) -> tuple[int, ...]:
    """The fragment sizes that runs have generated with, ascending."""
    tables = [[known for (_, kind), known in table.items() if kind is CostKind.GENERATE] for table in history]
    return tuple(sorted({size for known in tables for one in known for size in (one.fewest_units, one.most_units)}))


def _pooled(tables: Sequence[Sequence[MeasuredCost]]) -> PooledMeasurement:
    """The newest table's seconds, with the line that it or the older ones determine. `tables`: each with the costs of
    its lanes, newest first."""
    newest, *older = map(_mean, tables)
    size, seconds = newest.size, newest.seconds
    if newest.line is not None:
        return newest
    line = next((other.line for other in older if other.line is not None), None)
    if line is not None:
        return PooledMeasurement(size, seconds, Cost.from_measurement(seconds, size, line.fixed_share(size)))
    # Of each other size the newest measurement counts; the line goes through the newest measurement of all.
    points = {other.size: other.seconds for other in reversed(older) if other.size != size}
    if not points:
        return newest
    slope = sum((other - size) * (taken - seconds) for other, taken in points.items())
    slope /= sum((other - size) ** 2 for other in points)
    # A line with a negative part means that the machine has changed between the runs by more than the sizes differ.
    is_possible = 0 <= slope * size <= seconds
    return PooledMeasurement(size, seconds, Cost(seconds - slope * size, slope) if is_possible else None)


def _mean(found: Sequence[MeasuredCost]) -> PooledMeasurement:
    """The mean over lanes."""
    size = round(sum(measured.most_units for measured in found) / len(found))
    line = Cost.mean([measured.cost for measured in found])
    has_line = any(measured.determines_line for measured in found)
    return PooledMeasurement(size, line.seconds(size), line if has_line else None)
