"""The one numbering of all that happens to a run: telemetry's events and the web's own transitions.

Invariant: numbers are given under the stream row's lock and become visible in order, because the lock is kept until
the transaction ends. Whoever changes a run takes this lock first, so that nobody waits for anybody in a circle.
"""

from uuid import UUID

from django.db import transaction

from runs.models import RunStream


def lock_stream(run_id: UUID) -> RunStream:
    """The run's stream row, locked until the transaction ends. Raises `RunStream.DoesNotExist` for a deleted run."""
    return RunStream.objects.select_for_update().get(run_id=run_id)


@transaction.atomic
def next_stream_seqs(run_id: UUID, count: int) -> range:
    """The next `count` numbers, ascending and without gaps; they count from 1.

    Call it inside the transaction that stores what the numbers are for: rolled back, they are given again.
    """
    stream = lock_stream(run_id)
    first = stream.last_stream_seq + 1
    stream.last_stream_seq += count
    stream.save(update_fields=["last_stream_seq"])
    return range(first, first + count)
