"""Sums up the live values of each minute, so that a GPU's last hours can be drawn.

    post of the agent ─► one row with the readings of all its GPUs ─┐ minute over
    `GpuMinute`, one a GPU, deleted after `KEPT` ◄──────────────────┴─► deleted

Invariant: a post costs one narrow insertion, however many GPUs it has; summing up comes once a minute. Rows of GPUs are
written with every report anyway and get no wider by this.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from fleet.models import Gpu, GpuMinute, GpuReadings

KEPT = timedelta(hours=12)
"""Enough for a run of the night before: 720 rows a GPU, 230 MB for 512 GPUs."""
QUANTITIES = (
    "utilisation",
    "memory_used_bytes",
    "temperature",
    "memory_temperature",
    "power",
    "sm_clock",
    "nvlink_bytes_per_second",
)
"""Fields of `GpuLive` that vary from reading to reading."""
Reading = list[Any]
"""The quantities in order, null where the card did not tell them, then a list of reasons for reduced clocks."""


def keep_readings(gpus: Collection[Gpu], now: datetime) -> None:
    """Keep what these rows say as just reported, and sum up the minutes that are over."""
    over = list(GpuReadings.objects.filter(at__lt=_minute_of(now)).order_by("at"))
    if over:
        known = set(Gpu.objects.values_list("pk", flat=True))
        minutes = [minute for minute in summed_up(over) if minute.gpu_id in known]
        # A clock that was set back must not stop the intake.
        GpuMinute.objects.bulk_create(minutes, ignore_conflicts=True)
        GpuReadings.objects.filter(pk__in=[row.pk for row in over]).delete()
        GpuMinute.objects.filter(begin__lt=now - KEPT).delete()
    if gpus:
        GpuReadings.objects.create(at=now, values={str(gpu.pk): _reading(gpu) for gpu in gpus})


def summed_up(rows: Iterable[GpuReadings]) -> list[GpuMinute]:
    """One minute, not stored, for each GPU and minute of these readings."""
    readings: defaultdict[tuple[datetime, int], list[Reading]] = defaultdict(list)
    for row in rows:
        for gpu_id, reading in row.values.items():
            readings[_minute_of(row.at), int(gpu_id)].append(reading)
    return [_minute(gpu_id, begin, found) for (begin, gpu_id), found in readings.items()]


def _reading(gpu: Gpu) -> Reading:
    return [*(gpu.live.get(name) for name in QUANTITIES), list(gpu.faults.get("throttle_reasons", ()))]


def _minute(gpu_id: int, begin: datetime, readings: list[Reading]) -> GpuMinute:
    values = {}
    for position, name in enumerate(QUANTITIES):
        told = [reading[position] for reading in readings if reading[position] is not None]
        if told:
            values[name] = [min(told), float(f"{sum(told) / len(told):.5g}"), max(told)]
    throttled = Counter(reason for reading in readings for reason in reading[-1])
    return GpuMinute(gpu_id=gpu_id, begin=begin, num_readings=len(readings), values=values, throttled=dict(throttled))


def _minute_of(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)
