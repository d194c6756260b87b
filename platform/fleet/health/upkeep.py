"""The actions of pool admins on nodes, GPUs and lanes: cordon, drain, maintenance, resume.

    cordoned, draining  ── resume ──► active
    maintenance, faulty ── resume ──► awaiting test ── passed ──► active        (GPUs; a node's with the node)

A cordon on top of maintenance, of a fault or of a test makes no difference to how a GPU returns.

Invariant: nothing here changes who holds a lane. Runs keep their lanes; only later allocations are affected.
"""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.access import Actor, require_pool_admin
from accounts.models import User
from audit.record import record
from fleet.health.gpu_tests import request_test
from fleet.models import Gpu, GpuTest, Lane, Node, ServiceState, StateChange
from fleet.selectors import pools_of
from fleet.states.state_changes import change_state, change_states

MAX_REASON_CHARS = 200
CALENDAR = "maintenance calendar"
"""Who ends maintenance at its set time, in histories."""


class PoolAction(StrEnum):
    CORDON = "cordon"
    """Takes no new work; runs on it continue."""
    DRAIN = "drain"
    """The same, to be waited for: it is drained once the last run on it has ended."""
    MAINTENANCE = "maintenance"
    """Takes no new work while somebody works on it; its GPUs are tested afterwards."""
    RESUME = "resume"


_STATE_AFTER = {
    PoolAction.CORDON: ServiceState.CORDONED,
    PoolAction.DRAIN: ServiceState.DRAINING,
    PoolAction.MAINTENANCE: ServiceState.MAINTENANCE,
}
LANE_ACTIONS = (PoolAction.CORDON, PoolAction.RESUME)
_TESTED_AFTER = {
    ServiceState.MAINTENANCE.value: "maintenance",
    ServiceState.FAULTY.value: "a fault",
    ServiceState.AWAITING_TEST.value: "a test that was broken off",
}
"""States after which a GPU returns by a test only, in words."""


@transaction.atomic
def act(
    *, user: Actor, on: Node | Gpu | Lane, action: PoolAction, reason: str = "", until: datetime | None = None
) -> None:
    """Change the state of a node, GPU or lane, and refresh it. An action that changes nothing is not recorded.

    `until` is when maintenance ends by itself, or by when what is drained has to be empty. Raises `PermissionDenied`,
    `ValidationError` for a missing reason, a time that has passed, or an action that is not possible.
    """
    admin = require_pool_admin(user, _pools_concerned(on))
    if isinstance(on, Lane) and action not in LANE_ACTIONS:
        raise ValidationError({"action": f"`action` must be cordon or resume for a lane, got {action}"})
    said, end = _reason(action, reason), _until(action, until)
    if action is PoolAction.RESUME:
        if _return(on, by=admin.username):
            _record(admin, on, action, said)
    elif change := change_state(on, _STATE_AFTER[action], by=admin.username, reason=said, until=end):
        _record(admin, on, action, said, change)


@transaction.atomic
def act_on_all(
    *,
    user: Actor,
    nodes: Collection[int] = (),
    gpus: Collection[int] = (),
    lanes: Collection[int] = (),
    action: PoolAction,
    reason: str = "",
    until: datetime | None = None,
) -> set[int]:
    """Do the same on all of these, by id, or on none of them; returns the ids of the nodes concerned.

    Raises as `act` does, and `ValidationError` for ids that name nothing.
    """
    admin = require_pool_admin(user, pools_of(nodes=nodes, gpus=gpus, lanes=lanes))
    if lanes and action not in LANE_ACTIONS:
        raise ValidationError({"action": f"`action` must be cordon or resume for lanes, got {action}"})
    said, end = _reason(action, reason), _until(action, until)
    concerned: set[int] = set()
    # The same order in every call, by kind and by key: two calls at once wait for each other and never in a circle.
    for field, rows, ids in (
        ("nodes", Node.objects.all(), nodes),
        ("gpus", Gpu.objects.select_related("node"), gpus),
        ("lanes", Lane.objects.select_related("node"), lanes),
    ):
        wanted: QuerySet[Any] = rows.filter(pk__in=ids).order_by("pk")
        found: list[Node | Gpu | Lane] = list(wanted)
        if unknown := sorted(set(ids) - {row.pk for row in found}):
            raise ValidationError({field: f"`{field}` must be ids of the pool's {field}, got {unknown}"})
        if action is PoolAction.RESUME:
            # Each returns as its own history says.
            for row in found:
                if _return(row, by=admin.username):
                    _record(admin, row, action, said)
        else:
            for row, change in change_states(wanted, _STATE_AFTER[action], by=admin.username, reason=said, until=end):
                _record(admin, row, action, said, change)
        concerned |= {row.pk if isinstance(row, Node) else row.node_id for row in found}
    return concerned


@transaction.atomic
def ask_for_test(*, user: Actor, gpu: Gpu, reason: str) -> GpuTest:
    """Take a GPU out of service until a test has passed, and return that test, the open one if there is one; a run on
    its lane goes on before. Raises `PermissionDenied`, `ValidationError` for a missing reason."""
    admin = require_pool_admin(user, _pools_concerned(gpu))
    said = _checked_reason(reason)
    test = request_test(gpu, by=admin.username, reason=said)
    record("gpu.test", gpu, user=admin, reason=said, test=str(test.pk))
    return test


@transaction.atomic
def ask_for_tests(*, user: Actor, gpus: Collection[int], reason: str) -> list[GpuTest]:
    """Do the same to all of these, by id, or to none of them. Raises as `ask_for_test` does, and `ValidationError` for
    ids that name nothing."""
    require_pool_admin(user, pools_of(gpus=gpus))
    found = list(Gpu.objects.select_related("node").filter(pk__in=gpus).order_by("pk"))
    if unknown := sorted(set(gpus) - {gpu.pk for gpu in found}):
        raise ValidationError({"gpus": f"`gpus` must be ids of the pool's GPUs, got {unknown}"})
    return [ask_for_test(user=user, gpu=gpu, reason=reason) for gpu in found]


def end_maintenance() -> int:
    """End the maintenance whose time has come; returns how many nodes and GPUs that were."""
    due = {"state": ServiceState.MAINTENANCE, "state_until__lte": timezone.now()}
    rows: list[Node | Gpu] = [*Node.objects.filter(**due), *Gpu.objects.filter(**due)]
    return sum(_return(row, by=CALENDAR) for row in rows)


def _record(
    admin: User, on: Node | Gpu | Lane, action: PoolAction, reason: str, change: StateChange | None = None
) -> None:
    told: dict[str, Any] = {} if change is None else {"change": change.pk}
    record(f"{type(on).__name__.lower()}.{action}", on, user=admin, reason=reason, **told)


def _pools_concerned(on: Node | Gpu | Lane) -> set[str]:
    if isinstance(on, Node):
        return pools_of(nodes=[on.pk])
    return pools_of(gpus=[on.pk]) if isinstance(on, Gpu) else pools_of(lanes=[on.pk])


@transaction.atomic
def _return(on: Node | Gpu | Lane, *, by: str) -> bool:
    """Put it into service again, its GPUs after a test where they may have changed; false if it is in service."""
    if on.state == ServiceState.AWAITING_TEST:
        raise ValidationError({"action": "the GPU returns by itself once its test has passed"})
    tested_after = _tested_after(on)
    if isinstance(on, Gpu) and tested_after:
        request_test(on, by=by, reason=f"tested after {tested_after}")
        return True
    if isinstance(on, Node) and tested_after:
        for gpu in on.gpus.filter(state=ServiceState.ACTIVE):
            request_test(gpu, by=by, reason="tested after maintenance of its node")
    return change_state(on, ServiceState.ACTIVE, by=by) is not None


def _tested_after(on: Node | Gpu | Lane) -> str:
    """What happened to a node or GPU since it took work last, for which GPUs are tested; empty for nothing."""
    if isinstance(on, Lane):
        return ""
    of_node = {"gpu": None, "lane": None}
    changes = on.state_changes.filter(**of_node if isinstance(on, Node) else {})
    at_work = changes.filter(new=ServiceState.ACTIVE).values_list("pk", flat=True).first() or 0
    last = changes.filter(new__in=_TESTED_AFTER, pk__gt=at_work).values_list("new", flat=True).first()
    return _TESTED_AFTER[last] if last else ""


def _reason(action: PoolAction, reason: str) -> str:
    """The reason, which is required for every action except resume."""
    return "" if action is PoolAction.RESUME else _checked_reason(reason)


def _checked_reason(reason: str) -> str:
    said = reason.strip()
    if not 1 <= len(said) <= MAX_REASON_CHARS:
        raise ValidationError(
            {"reason": f"`reason` must have 1 to {MAX_REASON_CHARS} characters, got {len(said)}: other users read it"}
        )
    return said


def _until(action: PoolAction, until: datetime | None) -> datetime | None:
    if until is None:
        return None
    if action not in (PoolAction.MAINTENANCE, PoolAction.DRAIN):
        raise ValidationError({"until": f"`until` goes with maintenance and drain only, got it with {action}"})
    if until <= timezone.now():
        raise ValidationError({"until": f"`until` must lie in the future, got {until.isoformat()}"})
    return until
