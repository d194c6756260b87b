"""A run's files outside the database: its checkpoints. Samples and adapters are `gallery`'s."""

from collections.abc import Collection
from uuid import UUID

import fsspec
from django.conf import settings

from runs.models import Run
from worker.contracts.checkpoint_names import HELD, attempt_name


class RunStillExists(Exception):
    """Files are deleted after their run, never before."""


class CheckpointGone(Exception):
    """The checkpoint's files were removed, or cannot be read now."""


def checkpoints_url(run_id: UUID, attempt: int) -> str:
    """Where an attempt writes its checkpoints: below its own number, so that a fenced-off driver overwrites nothing."""
    return f"{_run_url(run_id)}/{attempt_name(attempt)}"


def stored(uris: Collection[str]) -> set[str] | None:
    """Those of these checkpoints whose files are there; None where the store does not answer. Each attempt's folder is
    listed once."""
    found: set[str] = set()
    for folder in {uri.rpartition("/")[0] for uri in uris}:
        try:
            filesystem, path = fsspec.core.url_to_fs(folder)
            names = filesystem.ls(path, detail=False)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        found |= {f"{folder}/{name.rstrip('/').rpartition('/')[2]}" for name in names}
    return found & set(uris)


def hold(uri: str) -> None:
    """Keep a checkpoint from being removed by its run's driver. Raises `CheckpointGone`."""
    try:
        filesystem, path = fsspec.core.url_to_fs(uri)
        if filesystem.exists(path):
            filesystem.pipe_file(path + HELD, b"")
        # Asked after the file is there: the driver may have been removing the checkpoint meanwhile.
        is_there = filesystem.exists(path)
    except OSError as error:
        raise CheckpointGone(f"the checkpoint store does not answer: {error}") from error
    if not is_there:
        raise CheckpointGone("its files were removed")


def delete_checkpoints(run_id: UUID) -> None:
    """Delete the checkpoints of a deleted run, if it has any. Raises `RunStillExists`."""
    if Run.objects.filter(pk=run_id).exists():
        raise RunStillExists(f"run {run_id} still exists: delete it first")
    filesystem, path = fsspec.core.url_to_fs(_run_url(run_id))
    if filesystem.exists(path):
        filesystem.rm(path, recursive=True)


def _run_url(run_id: UUID) -> str:
    return f"{settings.TANDEM_CHECKPOINTS.rstrip('/')}/{run_id}"
