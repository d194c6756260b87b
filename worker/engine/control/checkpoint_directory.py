"""Where this attempt's checkpoints lie, when one is due, and which old ones go."""

import logging
from dataclasses import dataclass

import fsspec

from worker.contracts.sections import CheckpointSpec

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPosition:
    """How far a run has come: what a checkpoint stores beside the weights. The next batch is number `batch`."""

    batch: int = 0
    policy_version: int = 0
    optimizer_step: int = 0
    next_batch_version: int | None = None
    """What the next batch had begun on, where that is older than `policy_version`."""

    def version_at(self, batch: int) -> int:
        """The version that `batch`, the next one or a later, is trained on: each batch before it adds one."""
        return self.policy_version + batch - self.batch


class CheckpointDirectory:
    """Names checkpoints below `root` (an fsspec URL) and keeps the newest `num_kept` of those written here."""

    def __init__(self, root: str, spec: CheckpointSpec) -> None:
        self._root = root.rstrip("/")
        self._spec = spec
        self._written: list[str] = []

    @property
    def latest(self) -> str | None:
        return self._written[-1] if self._written else None

    def uri(self, batch: int) -> str:
        return f"{self._root}/batch-{batch:06d}"

    def is_due(self, batch: int) -> bool:
        """Whether the cadence wants a checkpoint after `batch` complete batches."""
        every = self._spec.every_num_batches
        return every is not None and batch > 0 and batch % every == 0

    def written(self, uri: str) -> None:
        """Note a complete checkpoint and remove those it replaces."""
        self._written = [*(known for known in self._written if known != uri), uri]
        while len(self._written) > self._spec.num_kept:
            self._remove(self._written.pop(0))

    def _remove(self, uri: str) -> None:
        filesystem, path = fsspec.core.url_to_fs(uri)
        try:
            filesystem.rm(path, recursive=True)
        except OSError as error:
            # An old checkpoint too many wastes room; it is no reason to end a run.
            logger.warning("could not remove the old checkpoint %s: %s", uri, error)
