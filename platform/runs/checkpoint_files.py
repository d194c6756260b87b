"""A run's files outside the database: its checkpoints. Samples and adapters are `gallery`'s."""

from collections.abc import Collection
from uuid import UUID

import fsspec
from django.conf import settings

from runs.models import Run
from worker.contracts.checkpoint_names import HELD, attempt_name, batch_number


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
        except (FileNotFoundError, ValueError, ImportError):
            # The last two: an URI that no store understands.
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


def let_go(uri: str) -> None:
    """Hold a checkpoint no longer; one that is not held stays as it is."""
    filesystem, path = fsspec.core.url_to_fs(uri)
    if filesystem.exists(path + HELD):
        filesystem.rm(path + HELD)


def remove_superseded(uri: str, num_kept: int) -> bool:
    """Remove a checkpoint that its driver passed over because it was held: one with `num_kept` newer ones beside it.
    Returns whether it was removed; one that is held again stays."""
    filesystem, path = fsspec.core.url_to_fs(uri)
    folder, _, name = path.rstrip("/").rpartition("/")
    own = batch_number(name)
    if own is None or not filesystem.exists(path):
        return False
    names = [one.rstrip("/").rpartition("/")[2] for one in filesystem.ls(folder, detail=False)]
    batches = {batch for one in names if (batch := batch_number(one)) is not None}
    if sum(batch > own for batch in batches) < num_kept or filesystem.exists(path + HELD):
        return False
    filesystem.rm(path, recursive=True)
    return True


def delete_checkpoints(run_id: UUID) -> None:
    """Delete the checkpoints of a deleted run, if it has any. Raises `RunStillExists`."""
    if Run.objects.filter(pk=run_id).exists():
        raise RunStillExists(f"run {run_id} still exists: delete it first")
    filesystem, path = fsspec.core.url_to_fs(_run_url(run_id))
    if filesystem.exists(path):
        filesystem.rm(path, recursive=True)


def _run_url(run_id: UUID) -> str:
    return f"{settings.TANDEM_CHECKPOINTS.rstrip('/')}/{run_id}"
