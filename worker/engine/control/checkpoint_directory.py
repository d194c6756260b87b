"""The directory of this attempt's checkpoints: their names, when one is due, and which old ones are removed."""

import logging
from dataclasses import dataclass

import fsspec

from worker.contracts.sections import CheckpointSpec

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPosition:
    """The progress of a run, which a checkpoint stores beside the weights."""

    batch: int = 0
    """The number of batches trained, which is also the index of the next one."""
    policy_version: int = 0
    """The version of the trained weights."""
    optimizer_step: int = 0
    """The number of optimizer steps taken."""
    next_batch_version: int | None = None
    """The version that the next batch is generated with, where that is older than `policy_version`."""

    def version_at(self, batch: int) -> int:
        """The trainer's version when it starts on `batch`, the next one or a later: each batch before it adds one."""
        return self.policy_version + batch - self.batch


class CheckpointDirectory:
    """Names checkpoints below `root` (an fsspec URL) and keeps the newest `num_kept` of those written here."""

    def __init__(self, root: str, spec: CheckpointSpec) -> None:
        self._root = root.rstrip("/")
        self._spec = spec
        self._written: list[str] = []

    @property
    def latest(self) -> str | None:
        """The URI of the newest checkpoint written by this attempt."""
        return self._written[-1] if self._written else None

    def uri(self, batch: int) -> str:
        """The URI of the checkpoint after `batch` complete batches."""
        return f"{self._root}/batch-{batch:06d}"

    def is_due(self, batch: int) -> bool:
        """Whether the spec's cadence has a checkpoint after `batch` complete batches."""
        every = self._spec.every_num_batches
        return every is not None and batch > 0 and batch % every == 0

    def written(self, uri: str) -> None:
        """Record a complete checkpoint, and remove the oldest where there are more than `num_kept`."""
        self._written = [*(known for known in self._written if known != uri), uri]
        while len(self._written) > self._spec.num_kept:
            self._remove(self._written.pop(0))

    def _remove(self, uri: str) -> None:
        filesystem, path = fsspec.core.url_to_fs(uri)
        try:
            filesystem.rm(path, recursive=True)
        except OSError as error:
            # One old checkpoint too many wastes disk space; it is no reason to end a run.
            logger.warning("could not remove the old checkpoint %s: %s", uri, error)
