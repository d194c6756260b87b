"""A run's files outside the database: its checkpoints. Samples and adapters are `gallery`'s."""

from uuid import UUID

import fsspec
from django.conf import settings

from runs.models import Run
from worker.contracts.checkpoint_names import attempt_name


class RunStillExists(Exception):
    """Files are deleted after their run, never before."""


def checkpoints_url(run_id: UUID, attempt: int) -> str:
    """Where an attempt writes its checkpoints: below its own number, so that a fenced-off driver overwrites nothing."""
    return f"{_run_url(run_id)}/{attempt_name(attempt)}"


def delete_checkpoints(run_id: UUID) -> None:
    """Delete the checkpoints of a deleted run, if it has any. Raises `RunStillExists`."""
    if Run.objects.filter(pk=run_id).exists():
        raise RunStillExists(f"run {run_id} still exists: delete it first")
    filesystem, path = fsspec.core.url_to_fs(_run_url(run_id))
    if filesystem.exists(path):
        filesystem.rm(path, recursive=True)


def _run_url(run_id: UUID) -> str:
    return f"{settings.TANDEM_CHECKPOINTS.rstrip('/')}/{run_id}"
