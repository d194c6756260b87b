"""Pool admins put waiting runs at another place of the queue, with a reason that everybody reads.

Invariant: a place is a number of runs that are served first. It falls as those start or leave, never rises, holds over
restarts, and is void once the run has lanes. A limit of the project stops a run wherever it is put.
"""

from enum import StrEnum
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.access import Actor, require_pool_admin
from audit.record import record
from runs.enqueue import enqueue_on_commit
from runs.models import QueuePlace, Run
from runs.queue.queue_changes import publish_queue
from runs.run_queue import current_queue
from worker.contracts.task_names import DISPATCH_RUNS

MAX_REASON_CHARS = 200


class Direction(StrEnum):
    """Where a waiting run is moved."""

    FRONT = "front"
    UP = "up"
    DOWN = "down"


_WORDS = {
    Direction.FRONT: "moved to the front",
    Direction.UP: "moved up",
    Direction.DOWN: "moved down",
}


@transaction.atomic
def move_in_queue(*, user: Actor, run: Run, direction: Direction, reason: str) -> QueuePlace:
    """Move a waiting run. Raises `PermissionDenied`, `ValidationError`."""
    admin = require_pool_admin(user, {run.pool})
    said = reason.strip()
    if not 1 <= len(said) <= MAX_REASON_CHARS:
        raise ValidationError(
            {"reason": f"`reason` must have 1 to {MAX_REASON_CHARS} characters, got {len(said)}: others read it"}
        )
    order = _order_after(run, direction)
    values = {
        "attempt": run.attempt,
        "words": _WORDS[direction],
        "reason": said,
        "moved_by": admin.username,
        "moved_at": timezone.now(),
    }
    place, _ = QueuePlace.objects.update_or_create(run=run, defaults=values)
    # Every place counts from this order on, so that those given before keep theirs beside it.
    for other in QueuePlace.objects.filter(run__in=order):
        other.behind = [str(key) for key in order[: order.index(other.run_id)]]
        other.save(update_fields=["behind"])
    record("run.move_in_queue", run, user=admin, project_id=run.project_id, direction=direction.value, reason=said)
    _tell()
    return place


def _order_after(run: Run, direction: Direction) -> list[UUID]:
    """The queue's order once the run is moved."""
    queue = current_queue(run.pool)
    order, in_turn = [one.pk for one in queue.order], {one.pk for one in queue.in_turn}
    if run.pk not in order:
        raise ValidationError({"direction": f"the run must wait in the queue to be moved, it is {run.state}"})
    position = order.index(run.pk)
    if direction is Direction.DOWN:
        passed = next((at for at in range(position + 1, len(order)) if order[at] in in_turn), None)
    elif direction is Direction.UP:
        passed = next((at for at in reversed(range(position)) if order[at] in in_turn), None)
    else:
        passed = 0 if position else None
    if passed is None:
        end = "last" if direction is Direction.DOWN else "first"
        raise ValidationError({"direction": f"the run is the {end} one already"})
    order.insert(passed, order.pop(position))
    return order


@transaction.atomic
def undo_move(*, user: Actor, run: Run) -> None:
    """Let the run have the place again that fair share gives it. Raises `PermissionDenied`."""
    admin = require_pool_admin(user, {run.pool})
    if QueuePlace.objects.filter(run=run).delete()[0]:
        for other in QueuePlace.objects.filter(behind__contains=str(run.pk)):
            other.behind.remove(str(run.pk))
            other.save(update_fields=["behind"])
        record("run.undo_move", run, user=admin, project_id=run.project_id)
        _tell()


def _tell() -> None:
    enqueue_on_commit(DISPATCH_RUNS)
    publish_queue()
