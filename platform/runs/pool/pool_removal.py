"""Removing a pool, which no run may need any more, and keeping a pool there for a run that is about to."""

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import Actor, require_pool_admin
from audit.record import record
from fleet.models import Pool
from fleet.pools.pool_membership import lock_membership
from fleet.pools.pool_services import retire_pool
from runs.models import Run
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.states import END_STATES

MAX_NAMED = 5
"""Runs that are named one by one; more are counted."""


class PoolInUse(Exception):
    """The pool cannot be removed; the message says why."""


@transaction.atomic
def remove_pool(*, user: Actor, pool: Pool) -> None:
    """Delete the pool; its lanes move to those that match them now.

    Raises `PermissionDenied`, and `PoolInUse` for the default pool and while runs of it have not ended: they wait
    there, or would, if they lost their driver.
    """
    admin = require_pool_admin(user)
    if pool.pk == DEFAULT_POOL:
        raise PoolInUse(f"the pool {DEFAULT_POOL} stays: it has the lanes that no other pool matches")
    lock_membership()
    # Waits for runs that are being created here, and then sees them.
    locked = Pool.objects.select_for_update().get(pk=pool.pk)
    live = Run.objects.filter(pool=locked.pk).exclude(state__in=END_STATES).order_by("created_at")
    if names := list(live.values_list("name", flat=True)):
        rest = len(names) - MAX_NAMED
        named = ", ".join(names[:MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")
        raise PoolInUse(f"the pool {pool.name} is needed by runs that have not ended: {named}; wait for them or cancel")
    moved = retire_pool(locked)
    record("pool.delete", pool, user=admin, num_moved=len(moved))


def require_pool(name: str, field: str) -> None:
    """Keep the pool there until the transaction ends. Raises `ValidationError` for `field` if it has been removed."""
    if name != DEFAULT_POOL and not Pool.objects.select_for_update(no_key=True).filter(pk=name).exists():
        raise ValidationError({field: f"the pool {name} is not there any more: choose another"})
