"""Pools: parts of the installation's lanes, each with its own queue, shares and policy.

Invariant: each lane is in exactly one pool, which `fleet.pools.pool_membership` alone writes. The pool `default` always
exists, and takes the lanes that no other pool's labels match.
"""

from collections.abc import Mapping

from django.db import models
from django.utils import timezone

from worker.contracts.lanes import DEFAULT_POOL, MAX_POOL_NAME_CHARS

LAST = 32_767
"""The `order` of the default pool, the largest that the column holds."""


class Pool(models.Model):
    name = models.CharField(primary_key=True, max_length=MAX_POOL_NAME_CHARS)
    """As specs and shares call it; it never changes."""
    description = models.CharField(max_length=200, blank=True, default="")
    match_labels = models.JSONField(default=dict)
    """Names and values of labels, all of which a lane must have; empty for the default pool only."""
    order = models.PositiveSmallIntegerField(default=100)
    """A lane that several pools match is in the one with the lowest order, and of equal ones in the first by name."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["order", "name"]
        constraints = [
            models.CheckConstraint(
                name="default_pool_matches_all",
                condition=models.Q(name=DEFAULT_POOL, match_labels={}, order=LAST)
                | models.Q(~models.Q(name=DEFAULT_POOL), ~models.Q(match_labels={}), order__lt=LAST),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a lane with these labels belongs here, unless an earlier pool matches it too."""
        wanted: Mapping[str, str] = self.match_labels
        return wanted.items() <= labels.items()


def ensure_default_pool(**_: object) -> None:
    """Make the pool `default` where it is missing. Hears `post_migrate`, which also follows an emptied database."""
    Pool.objects.get_or_create(name=DEFAULT_POOL, defaults={"order": LAST})
