"""Sums up the live values of each minute, so that a GPU's last hours can be drawn.

    report ─► the minute under way, in the GPU's row, which is written with every report anyway
    minute over ─► one `GpuMinute` ─► deleted after `KEPT`

Invariant: a report costs no statement more than without this; a minute costs two for all GPUs together. After a pause
of the agent the minute that it broke off is stored with the readings that it has.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from fleet.models import Gpu, GpuMinute
from worker.contracts.node_reports import GpuReport

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
MINUTE_SECONDS = 60


def add_reading(row: Gpu, report: GpuReport, now: datetime) -> list[GpuMinute]:
    """Add a reading to the minute under way in a GPU's row, which the caller stores; the minute that it ended, if it
    did, not stored."""
    begin = int(now.timestamp()) // MINUTE_SECONDS * MINUTE_SECONDS
    before = row.minute
    is_same = before.get("begin") == begin
    sums: dict[str, Any] = before if is_same else {"begin": begin, "num_readings": 0, "values": {}, "throttled": {}}
    sums["num_readings"] += 1
    for name in QUANTITIES:
        value = getattr(report.live, name)
        if value is not None:
            low, total, high, number = sums["values"].get(name, (value, 0, value, 0))
            sums["values"][name] = [min(low, value), total + value, max(high, value), number + 1]
    for reason in report.faults.throttle_reasons:
        sums["throttled"][reason] = sums["throttled"].get(reason, 0) + 1
    row.minute = sums
    return [_ended(row, before)] if before and not is_same else []


def _ended(row: Gpu, sums: dict[str, Any]) -> GpuMinute:
    return GpuMinute(
        gpu=row,
        begin=datetime.fromtimestamp(sums["begin"], UTC),
        num_readings=sums["num_readings"],
        values={
            name: [low, float(f"{total / number:.5g}"), high]
            for name, (low, total, high, number) in sums["values"].items()
        },
        throttled=sums["throttled"],
    )


def store(minutes: Collection[GpuMinute], now: datetime) -> None:
    """Append minutes that have ended, and delete those that are too old; nothing happens where none has ended."""
    if minutes:
        # A clock that is set back must not stop the intake.
        GpuMinute.objects.bulk_create(minutes, ignore_conflicts=True)
        GpuMinute.objects.filter(begin__lt=now - KEPT).delete()
