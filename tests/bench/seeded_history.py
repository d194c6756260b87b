"""Thirty days of history for a seeded pool: uses, states, minutes, health, audit. Django must be set up before this is
imported.

Each GPU lane is held for some hours, then idle for some, back to thirty days ago; the number of uses is given, so their
length follows. Every fourth node was in maintenance for a day, and every sixteenth GPU was faulty for some hours.
"""

import random
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from accounts.models import Project
from audit.models import AuditEntry
from fleet.models import Gpu, GpuMinute, HealthChange, Lane, LaneKind, LaneUse, Node, ServiceState, StateChange
from fleet.reports.live_rollups import KEPT
from runs.models import Run

DAYS = 30
HELD_SHARE = 0.75
"""Of the time of a lane."""
NUM_AUDIT_ROWS = 5000
BATCH = 2000


def seed_history(num_uses: int, *, num_gpus_with_minutes: int = 1) -> None:
    """Everything but what holds now, which `tests.bench.seeded_pool` has made."""
    chance, now = random.Random(7), timezone.now()
    begin = now - timedelta(days=DAYS)
    Lane.objects.update(created_at=begin - timedelta(days=1))
    Node.objects.filter(pk__in=list(Node.objects.order_by("pk").values_list("pk", flat=True))[::2]).update(
        price_per_gpu_hour=Decimal("2.1")
    )
    _seed_uses(num_uses, begin, now, chance)
    _seed_states(begin, chance)
    for gpu in Gpu.objects.order_by("node__name", "index")[:num_gpus_with_minutes]:
        seed_minutes(gpu, now, chance)
        _seed_health(gpu, now)
    admin_rows = [
        AuditEntry(
            at=now - timedelta(minutes=number * 8),
            actor=chance.choice(["admin", "bob", "carol"]),
            request_id=f"{chance.getrandbits(64):016x}",
            action=chance.choice(["gpu.cordon", "run.create", "node.drain", "gpu.test"]),
            object_type="gpu",
            object_id=str(chance.randrange(512)),
            object_name=f"GPU-{chance.randrange(512)}",
            changes={"reason": "Xid 79"},
        )
        for number in range(NUM_AUDIT_ROWS)
    ]
    AuditEntry.objects.bulk_create(admin_rows, batch_size=BATCH)


def _seed_uses(num_uses: int, begin: datetime, now: datetime, chance: random.Random) -> None:
    lanes = list(Lane.objects.filter(kind=LaneKind.GPU).prefetch_related("gpus__node"))
    runs: list[tuple[Any, Any, Any]] = list(Run.objects.values_list("pk", "project", "created_by"))
    projects = list(Project.objects.values_list("pk", flat=True))
    period = timedelta(days=DAYS) * len(lanes) / num_uses
    uses = []
    for lane in lanes:
        at = begin + period * chance.random()
        while at + period < now - timedelta(hours=1):
            held = period * HELD_SHARE * chance.uniform(0.5, 1.2)
            run, project, user = chance.choice(runs) if runs else (None, chance.choice(projects), None)
            uses.append(
                LaneUse(
                    lane=lane,
                    label=lane.label,
                    gpus=[gpu.name for gpu in lane.gpus.all()],
                    accelerator=lane.accelerator,
                    run_id=run,
                    attempt=1,
                    role=chance.choice(["rollout", "rollout", "trainer"]),
                    name_in_run="rollout-0",
                    project_id=project,
                    user_id=user,
                    price_per_hour=lane.price_per_hour,
                    since=at,
                    until=at + held,
                )
            )
            at += period
    LaneUse.objects.bulk_create(uses, batch_size=BATCH)


def _seed_states(begin: datetime, chance: random.Random) -> None:
    changes = []
    for number, node in enumerate(Node.objects.order_by("name")):
        if number % 4 == 1:
            at = begin + timedelta(days=chance.uniform(1, DAYS - 2))
            changes += _there_and_back({"node": node}, node.name, ServiceState.MAINTENANCE, at, timedelta(days=1))
    for number, gpu in enumerate(Gpu.objects.select_related("node").order_by("node__name", "index")):
        if number % 16 == 3:
            at = begin + timedelta(days=chance.uniform(1, DAYS - 2))
            changes += _there_and_back(
                {"node": gpu.node, "gpu": gpu}, gpu.name, ServiceState.FAULTY, at, timedelta(hours=9)
            )
    StateChange.objects.bulk_create(changes, batch_size=BATCH)


def _there_and_back(
    of: dict[str, Any], name: str, state: ServiceState, at: datetime, lasted: timedelta
) -> list[StateChange]:
    active = ServiceState.ACTIVE.value
    return [
        StateChange(**of, name=name, old=active, new=state.value, reason="new fans", by="admin", at=at),
        StateChange(**of, name=name, old=state.value, new=active, by="admin", at=at + lasted),
    ]


def seed_minutes(gpu: Gpu, now: datetime, chance: random.Random, *, hours: float = KEPT.total_seconds() / 3600) -> None:
    """Minutes of work with a pause between batches, hot in the end."""
    minute = timedelta(minutes=1)
    first = now.replace(second=0, microsecond=0) - int(hours * 60) * minute
    rows = []
    for number in range(int(hours * 60)):
        is_busy, heat = number % 40 > 3, number / (hours * 60)
        share = chance.uniform(0.85, 1.0) if is_busy else 0.02
        values = {
            "utilisation": [max(0.0, share - 0.2), share, min(1.0, share + 0.1)],
            "memory_used_bytes": [5.0e10, 5.6e10 + number * 1e7, 6.9e10],
            "temperature": [40 + 30 * heat, 45 + 35 * heat * share, 50 + 38 * heat],
            "power": [100.0, 120 + 540 * share, 700.0],
            "sm_clock": [1200.0, 1980 - 500 * heat * is_busy, 1980.0],
        }
        throttled = {"thermal slowdown": 4} if heat > 0.8 and is_busy else {}
        if is_busy and number % 7 == 0:
            throttled["power cap"] = 9
        rows.append(
            GpuMinute(gpu=gpu, begin=first + number * minute, num_readings=20, values=values, throttled=throttled)
        )
    GpuMinute.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)


def _seed_health(gpu: Gpu, now: datetime) -> None:
    run = Run.objects.values_list("pk", flat=True).first()
    for hours, health, causes in ((50, "warning", ["thermal slowdown"]), (47, "healthy", [])):
        HealthChange.objects.create(
            gpu=gpu,
            name=gpu.name,
            health=health,
            causes=causes,
            remedy="check the cooling" if causes else "none",
            faults=gpu.faults,
            run_id=run if causes else None,
            at=now - timedelta(hours=hours),
        )
