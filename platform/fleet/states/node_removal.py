"""Takes a node that is gone for good out of the pool, with its GPUs and lanes.

Invariant: what was used, changed and paid stays on record; a machine that comes back is a new node.
"""

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import Actor, require_pool_admin
from audit.record import record
from fleet.models import Node
from fleet.selectors import pools_of
from fleet.signals import announce_lanes


@transaction.atomic
def remove_node(*, user: Actor, node: Node) -> None:
    """Remove a node that is lost and of which no lane is held. Raises `PermissionDenied`, `ValidationError`."""
    admin = require_pool_admin(user, pools_of(nodes=[node.pk]))
    row = Node.objects.select_for_update().get(pk=node.pk)
    if row.lost_since is None:
        raise ValidationError(f"the node {row.name} must be lost to be removed, Ray reaches it: stop Ray there first")
    if num_held := sum(lane.held_since is not None for lane in row.lanes.select_for_update(of=("self",))):
        raise ValidationError(f"the node {row.name} must be free to be removed, {num_held} of its lanes are held: wait")
    record("node.remove", row, user=admin, num_gpus=row.gpus.count(), num_lanes=row.lanes.count())
    row.gpus.all().delete()
    row.delete()
    # Runs that waited for lanes of it may fit the pool as it is now.
    announce_lanes()
