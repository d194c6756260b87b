"""The pool's records in Django's admin, for pool admins to read: they are changed on the pool's pages and by REST."""

from typing import Any

from django.http import HttpRequest

from accounts.access import is_pool_admin
from audit.read_only_admin import ReadOnlyAdmin, register
from fleet.models import (
    Gpu,
    GpuTest,
    HealthChange,
    Lane,
    LaneLoan,
    LaneUse,
    Node,
    NodeAgent,
    Pool,
    PoolPolicy,
    ProjectBudget,
    ProjectShare,
    StateChange,
)


class PoolRecordAdmin(ReadOnlyAdmin):
    """To be read by pool admins."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_pool_admin(request.user)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_pool_admin(request.user)


register(
    {
        Node: ("name", "state", "address", "lost_since", "reported_at"),
        Gpu: ("node", "index", "accelerator", "uuid", "state", "health", "lost_since"),
        Pool: ("name", "match_labels", "order", "description"),
        Lane: ("label", "pool", "kind", "state", "run_id", "role", "held_since"),
        LaneUse: ("label", "pool", "project", "user", "run_id", "role", "since", "until", "price_per_hour"),
        LaneLoan: ("label", "pool", "lender_name", "project", "run_id", "role", "since", "until", "notice_at"),
        StateChange: ("at", "name", "new", "by", "reason"),
        HealthChange: ("at", "name", "health", "remedy"),
        GpuTest: ("gpu", "state", "requested_by", "created_at", "ended_at"),
        NodeAgent: ("id", "created_at", "reported_at"),
        ProjectBudget: ("project", "amount", "unit", "period", "when_spent", "warned_at", "spent_at"),
        ProjectShare: ("project", "pool", "guaranteed_lanes", "max_lanes", "weight"),
        PoolPolicy: ("pool", "half_life_hours", "reclaim_seconds"),
    },
    PoolRecordAdmin,
)
