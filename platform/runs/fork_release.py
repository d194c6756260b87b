"""Lets go of the checkpoints that forks began from, once no fork needs them.

    a fork's own first checkpoint ─┐
    a fork is deleted ─────────────┴─► task ─► another fork waits for it? ─► no: hold it no longer
                                                                                   └─► remove it, if its run keeps only
                                                                                       newer ones

Invariant: a checkpoint is let go under the lock of its run's stream, under which forks hold it, so that none that is
being made loses what it was just promised.
"""

from uuid import UUID

from django.db import transaction
from django.db.models import F

from runs.checkpoint_files import let_go, remove_superseded
from runs.enqueue import enqueue_on_commit
from runs.forks import waiting_forks
from runs.models import Run, RunStream
from runs.stream import lock_stream
from worker.contracts.task_names import RELEASE_CHECKPOINT


def release_before_first_checkpoint(fork_id: UUID) -> None:
    """To be called before a run's own checkpoint is recorded: if it is a fork's first, its origin is released."""
    waits = Run.objects.filter(pk=fork_id, resume_from=F("forked_from"), parent__isnull=False).exclude(forked_from="")
    for parent_id, uri in waits.values_list("parent_id", "forked_from"):
        enqueue_on_commit(RELEASE_CHECKPOINT, str(parent_id), uri)


def release_of_deleted(fork: Run) -> None:
    """To be called in the transaction that deletes a run."""
    if fork.forked_from and fork.parent_id is not None:
        enqueue_on_commit(RELEASE_CHECKPOINT, str(fork.parent_id), fork.forked_from)


def release_checkpoint(run_id: UUID, uri: str) -> bool:
    """Let the checkpoint of a run go unless a fork still has to begin from it; returns whether it was."""
    try:
        with transaction.atomic():
            lock_stream(run_id)
            run = Run.objects.get(pk=run_id)
            if waiting_forks(run).filter(forked_from=uri).exists():
                return False
            let_go(uri)
    except RunStream.DoesNotExist:
        return False  # deleted, and its files with it
    if run.resume_from != uri:
        remove_superseded(uri, run.run_spec.checkpoint.num_kept)
    return True
