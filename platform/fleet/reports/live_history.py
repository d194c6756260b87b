"""The last hours of a GPU, minute by minute, as columns for charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fleet.models import Gpu
from fleet.reports.live_rollups import KEPT, QUANTITIES


@dataclass(frozen=True, slots=True)
class Column:
    """One quantity, a value for each minute; null where the card did not tell it."""

    low: Sequence[float | None]
    mean: Sequence[float | None]
    high: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class LiveHistory:
    """Minutes of a GPU in order of time; minutes without a report are left out."""

    kept_hours: float
    """For how long minutes are kept."""
    at: Sequence[float]
    """The begin of each minute, in Unix seconds."""
    num_readings: Sequence[int]
    values: Mapping[str, Column]
    """By field of `GpuLive`, in its unit; without those that the card never told."""
    throttled: Mapping[str, Sequence[float]]
    """The share of each minute's readings in which its clocks were reduced, by reason."""


def live_history(gpu: Gpu, *, since: datetime | None = None) -> LiveHistory:
    """The minutes of a GPU that have ended, from `since` on; all that are kept by default."""
    rows = gpu.minutes.all() if since is None else gpu.minutes.filter(begin__gte=since)
    minutes = list(rows.order_by("begin").values_list("begin", "num_readings", "values", "throttled"))
    nothing = (None, None, None)
    columns = {
        name: Column(*map(tuple, zip(*(values.get(name, nothing) for _, _, values, _ in minutes), strict=True)))
        for name in QUANTITIES
        if any(name in values for _, _, values, _ in minutes)
    }
    reasons = sorted({reason for *_, throttled in minutes for reason in throttled})
    return LiveHistory(
        kept_hours=KEPT.total_seconds() / 3600,
        at=[begin.timestamp() for begin, *_ in minutes],
        num_readings=[number for _, number, _, _ in minutes],
        values=columns,
        throttled={
            reason: [throttled.get(reason, 0) / number for _, number, _, throttled in minutes] for reason in reasons
        },
    )
