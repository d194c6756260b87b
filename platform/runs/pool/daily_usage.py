"""The usage of each day by project, user, card, …: what the bars of the usage page are drawn from.

Invariant: the days of a row add up to its usage of the window, and the rows to that of the whole pool as the user sees
it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.access import Actor
from runs.pool.lane_usage import UsageBy, days_between, parts

MAX_ROWS = 6
"""Rows that are told apart, those with the largest sums: a chart has no more colours. Others are one row."""
MAX_DAYS = 400
"""More than a year."""
OTHERS = "others"


@dataclass(slots=True)
class DailyRow:
    """One project, user, card, …, with a value for each day."""

    key: str
    """Empty for several together, and for what was deleted."""
    name: str
    lane_hours: list[float]
    gpu_hours: list[float]
    cost: list[float]
    """At the prices that the GPUs had; 0 for GPUs without one."""

    @property
    def size(self) -> tuple[float, float]:
        return sum(self.gpu_hours), sum(self.lane_hours)

    def add(self, other: "DailyRow") -> None:
        for mine, theirs in (
            (self.lane_hours, other.lane_hours),
            (self.gpu_hours, other.gpu_hours),
            (self.cost, other.cost),
        ):
            mine[:] = [one + another for one, another in zip(mine, theirs, strict=True)]


@dataclass(frozen=True, slots=True)
class DailyUsage:
    days: Sequence[str]
    """Days of UTC, the first and the last of them perhaps in part."""
    rows: Sequence[DailyRow]
    """Most GPU hours first, then lane hours; `OTHERS` last."""


def daily_usage(user: Actor, *, since: datetime, until: datetime, by: UsageBy) -> DailyUsage:
    """The usage of each day in the window. Raises `ValueError` for a window that is empty or too long."""
    if until - since > timedelta(days=MAX_DAYS):
        raise ValueError(f"the window must have at most {MAX_DAYS} days, got {(until - since).days}")
    days = [day for day, _, _ in days_between(since, until)]
    number = {day: index for index, day in enumerate(days)}
    rows: dict[str, DailyRow] = {}
    # Days are told apart anyway, so `by` day means one row.
    for use, key, name, begin, stop in parts(user, since=since, until=until, by=by):
        label = ("", "all") if by is UsageBy.DAY else (key, name)
        row = rows.get(label[0]) or rows.setdefault(label[0], _empty(*label, len(days)))
        for day, first, last in days_between(begin, stop):
            hours = (last - first).total_seconds() / 3600
            row.lane_hours[number[day]] += hours
            row.gpu_hours[number[day]] += hours * len(use.gpus)
            row.cost[number[day]] += hours * float(use.price_per_hour or 0)
    ordered = sorted(rows.values(), key=lambda row: row.size, reverse=True)
    shown, rest = ordered[:MAX_ROWS], ordered[MAX_ROWS:]
    if rest:
        others = _empty("", OTHERS, len(days))
        for row in rest:
            others.add(row)
        shown.append(others)
    return DailyUsage(days, shown)


def _empty(key: str, name: str, num_days: int) -> DailyRow:
    return DailyRow(key, name, [0.0] * num_days, [0.0] * num_days, [0.0] * num_days)
