"""What open pages of the queue are told: that it is to be read again.

a run changes its state, is moved, or asks for other lanes ─┐
a share or a policy is set ─────────────────────────────────┼─► a frame of the pool's sockets, on commit
sockets' poll: another digest ──────────────────────────────┘
"""

from django.contrib.postgres.aggregates import StringAgg
from django.db.models import F, Func, Model, QuerySet, TextField, Value

from fleet.models import PoolPolicy, ProjectShare
from live.publish import publish_pool
from runs.models import Attempt, QueuePlace
from runs.run_queue import waiting_runs


def publish_queue() -> None:
    """Tell that the queue is to be read again."""
    publish_pool(queue=True)


def queue_digest() -> str:
    """A digest of what the queue's page shows, forecasts aside; another one means that it is to be read again."""
    return "|".join(
        (
            _digest(waiting_runs(), "id", "state", "priority", "pool", "resized_lanes"),
            _digest(Attempt.objects.filter(ended_at=None), "id", "run__state"),
            _digest(QueuePlace.objects.all(), "run_id", "moved_at"),
            _digest(ProjectShare.objects.all(), "pool_id", "project_id", "guaranteed_lanes", "max_lanes", "weight"),
            _digest(PoolPolicy.objects.all(), "pool_id", "half_life_hours"),
        )
    )


def _digest(rows: QuerySet[Model], *columns: str) -> str:
    row = Func(Value("|"), *map(F, columns), function="CONCAT_WS", output_field=TextField())
    whole = Func(StringAgg(row, Value("\n"), order_by="pk"), function="MD5", output_field=TextField())
    return rows.order_by().aggregate(digest=whole)["digest"] or ""
