"""The numbering of everything that happens to a run: telemetry's events and the web's transitions.

Invariant: numbers are assigned under the stream row's lock and become visible in order, because the lock is held until
the transaction ends. Every writer takes this lock first, so that no deadlock is possible.
"""

from uuid import UUID

from django.db import transaction

from runs.models import RunStream


def lock_stream(run_id: UUID) -> RunStream:
    """The run's stream row, locked until the transaction ends. Raises `RunStream.DoesNotExist` for a deleted run."""
    return RunStream.objects.select_for_update().get(run_id=run_id)


@transaction.atomic
def next_stream_seqs(run_id: UUID, count: int) -> range:
    """The next `count` numbers, ascending from 1 without gaps.

    Call it inside the transaction that stores the numbered rows; numbers of a rolled-back transaction are assigned
    again.
    """
    stream = lock_stream(run_id)
    first = stream.last_stream_seq + 1
    stream.last_stream_seq += count
    stream.save(update_fields=["last_stream_seq"])
    return range(first, first + count)
