"""Writes by pool admins to pools: making, changing, retiring; and what a change would move, before it is made.

Invariant: who changes pools holds the lock of `fleet.pools.pool_membership` before any other, so that two changes wait
for each other and never in a circle.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import Actor, require_pool_admin
from audit.record import record
from fleet.models import Gpu, Lane, Node, Pool
from fleet.models.pools import LAST
from fleet.pools.annotate import checked_labels
from fleet.pools.pool_membership import Labels, LaneMove, assign_pools, lock_membership, moves
from worker.contracts.lanes import DEFAULT_POOL, MAX_POOL_NAME_CHARS, POOL_NAME_PATTERN

MAX_DESCRIPTION_CHARS = 200


@transaction.atomic
def create_pool(
    *, user: Actor, name: str, match_labels: Mapping[str, str], description: str = "", order: int = 100
) -> Pool:
    """Make a pool, and move the lanes there that it matches. Raises `PermissionDenied`, `ValidationError` by field."""
    admin = require_pool_admin(user)
    lock_membership()
    if Pool.objects.filter(pk=name).exists():
        raise ValidationError({"name": f"`name` must be new, got {name}: that pool is there already"})
    pool = Pool(
        name=_checked_name(name),
        match_labels=_checked_match(match_labels),
        description=_checked_description(description),
        order=_checked_order(order),
    )
    pool.save(force_insert=True)
    moved = assign_pools()
    record("pool.create", pool, user=admin, match_labels=pool.match_labels, order=pool.order, num_moved=len(moved))
    return pool


@transaction.atomic
def change_pool(
    *,
    user: Actor,
    pool: Pool,
    match_labels: Mapping[str, str] | None = None,
    description: str | None = None,
    order: int | None = None,
) -> None:
    """Write what is given and leave the rest, then move the lanes that it concerns. `pool` is refreshed.

    Raises `PermissionDenied`, `ValidationError` by field: the default pool has no labels and no order of its own.
    """
    admin = require_pool_admin(user)
    lock_membership()
    if pool.pk == DEFAULT_POOL and (match_labels is not None or order is not None):
        field = "order" if match_labels is None else "match_labels"
        raise ValidationError({field: f"`{field}` must be left out for {DEFAULT_POOL}: it has what no other matches"})
    changes: dict[str, Any] = {}
    if match_labels is not None:
        changes["match_labels"] = _checked_match(match_labels)
    if description is not None:
        changes["description"] = _checked_description(description)
    if order is not None:
        changes["order"] = _checked_order(order)
    Pool.objects.filter(pk=pool.pk).update(**changes)
    pool.refresh_from_db()
    moved = assign_pools()
    record("pool.change", pool, user=admin, **changes, num_moved=len(moved))


def retire_pool(pool: Pool) -> list[LaneMove]:
    """Move the pool's lanes to those that match them now, and delete it with its shares and policy. The caller holds
    `lock_membership`, and has made sure that no run needs the pool."""
    moved = assign_pools(without=pool.pk)
    Pool.objects.filter(pk=pool.pk).delete()
    return moved


def moves_after(
    *,
    user: Actor,
    nodes: Mapping[int, Labels] | None = None,
    gpus: Mapping[int, Labels] | None = None,
    pool: Pool | None = None,
) -> list[LaneMove]:
    """The lanes that would move if nodes and GPUs, by id, had these labels, and if `pool` were as given, which need not
    be saved. Nothing is written. Raises `PermissionDenied`, `ValidationError` by field."""
    require_pool_admin(user)
    changed: dict[Node | Gpu, Labels] = {}
    for field, found, wanted in (
        ("nodes", Node.objects.in_bulk(list(nodes or ())), nodes or {}),
        ("gpus", Gpu.objects.in_bulk(list(gpus or ())), gpus or {}),
    ):
        if unknown := sorted(wanted.keys() - found.keys()):
            raise ValidationError({field: f"`{field}` must be ids of the pool's {field}, got {unknown}"})
        changed |= {found[key]: checked_labels(labels) for key, labels in wanted.items()}
    pools = list(Pool.objects.all())
    if pool is not None:
        if _checked_name(pool.name) == DEFAULT_POOL:
            raise ValidationError({"name": f"`name` must not be {DEFAULT_POOL}, which has what no other pool matches"})
        pool.match_labels, pool.order = _checked_match(pool.match_labels), _checked_order(pool.order)
        pools = sorted([*(one for one in pools if one != pool), pool], key=lambda one: (one.order, one.name))
    return moves(Lane.objects.all(), pools, changed)


def _checked_name(name: str) -> str:
    if len(name) > MAX_POOL_NAME_CHARS or not re.fullmatch(POOL_NAME_PATTERN, name):
        raise ValidationError(
            {
                "name": f"`name` must have 1 to {MAX_POOL_NAME_CHARS} small letters, digits and `-`, with a letter or "
                f"digit at both ends, got {name[:80]!r}"
            }
        )
    return name


def _checked_match(labels: Mapping[str, str]) -> dict[str, str]:
    if not labels:
        raise ValidationError(
            {"match_labels": f"`match_labels` must have ≥ 1 label, got none: {DEFAULT_POOL} has the lanes without one"}
        )
    return checked_labels(labels, "match_labels")


def _checked_description(description: str) -> str:
    said = description.strip()
    if len(said) > MAX_DESCRIPTION_CHARS:
        raise ValidationError(
            {"description": f"`description` must have ≤ {MAX_DESCRIPTION_CHARS} characters, got {len(said)}"}
        )
    return said


def _checked_order(order: int) -> int:
    if not 0 <= order < LAST:
        raise ValidationError({"order": f"`order` must lie between 0 and {LAST - 1}, got {order}"})
    return order
