"""The policy of each pool: read by whatever follows it, set by pool admins."""

from collections.abc import Mapping
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import Actor, require_pool_admin
from audit.record import record
from fleet.models import Pool, PoolPolicy
from live.publish import publish_pool

DAY_MINUTES = 24 * 60


class Bounds(NamedTuple):
    """What a setting may be: above or at `low`, up to `high`."""

    low: float
    high: float
    is_low_allowed: bool = True
    may_be_unset: bool = False

    def problem(self, name: str, value: float | None) -> str:
        """What is wrong with a value, as a sentence; empty for nothing."""
        if value is None:
            return "" if self.may_be_unset else f"`{name}` must be a number, got none"
        if self.low < value <= self.high or (self.is_low_allowed and value == self.low):
            return ""
        sign = "≥" if self.is_low_allowed else ">"
        unset = ", or null for never" if self.may_be_unset else ""
        return f"`{name}` must be {sign} {self.low:g} and ≤ {self.high:g}{unset}, got {value:g}"


SETTINGS: Mapping[str, Bounds] = {
    "half_life_hours": Bounds(0, 24 * 365, is_low_allowed=False),
    "reclaim_seconds": Bounds(0, DAY_MINUTES * 60),
    "idle_warning_minutes": Bounds(1, 30 * DAY_MINUTES),
    "idle_release_minutes": Bounds(2, 30 * DAY_MINUTES, may_be_unset=True),
}
"""By column of `PoolPolicy`. A year and a month are longer than anybody waits to see what a setting does."""


def policy_of(pool: str) -> PoolPolicy:
    """The pool's policy, or the default one, not stored."""
    return PoolPolicy.objects.filter(pool=pool).first() or PoolPolicy(pool_id=pool)


@transaction.atomic
def set_policy(*, user: Actor, pool: Pool, changes: Mapping[str, float | None]) -> PoolPolicy:
    """Set some columns of a pool's policy; the others stay. Raises `PermissionDenied`, `ValidationError` by field."""
    admin = require_pool_admin(user, {pool.pk})
    problems = {name: SETTINGS[name].problem(name, value) for name, value in changes.items()}
    if found := {name: [problem] for name, problem in problems.items() if problem}:
        raise ValidationError(found)
    policy = policy_of(pool.pk)
    for name, value in changes.items():
        setattr(policy, name, value)
    if policy.idle_release_minutes is not None and policy.idle_release_minutes <= policy.idle_warning_minutes:
        raise ValidationError(
            {
                "idle_release_minutes": f"`idle_release_minutes` must be > `idle_warning_minutes` "
                f"({policy.idle_warning_minutes}), got {policy.idle_release_minutes}: its holder is told first"
            }
        )
    _store(policy)
    record("pool.set_policy", pool, user=admin, changes=dict(changes))
    publish_pool(queue=True)
    return policy


def _store(policy: PoolPolicy) -> None:
    columns: Mapping[str, object] = {name: getattr(policy, name) for name in SETTINGS}
    PoolPolicy.objects.update_or_create(pool_id=policy.pool_id, defaults=columns)
