"""The directory of this attempt's checkpoints: their names, when one is due, which old ones are removed, and what there
is to continue from."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

import fsspec

from worker.contracts.checkpoint_names import HELD, REPLACED, attempt_number, batch_number, checkpoint_name
from worker.contracts.ingest import RunOrigin
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


@dataclass(frozen=True, slots=True)
class _Written:
    uri: str
    seq: int
    """The number of the event that reports it."""


class CheckpointDirectory:
    """Names checkpoints below `root` (an fsspec URL) and keeps the newest `num_kept` of those written here, the one
    that the web knows as the newest, and those that runs were forked from.

    The web knows of a checkpoint once it has acknowledged its event, and resumes a run whose driver is lost from the
    newest that it knows: where it was away meanwhile, that may be an old one.
    """

    def __init__(self, root: str, spec: CheckpointSpec, origin: RunOrigin | None = None) -> None:
        self._root = root.rstrip("/")
        self._spec = spec
        self._origin = origin
        self._written: list[_Written] = []

    @property
    def latest(self) -> str | None:
        """The URI of the newest checkpoint written by this attempt."""
        return self._written[-1].uri if self._written else None

    def candidates(self, resume_from: str | None) -> list[str]:
        """The URIs of checkpoints to continue from, the preferred first: those written by this attempt, the newest
        first, then `resume_from`, which an earlier attempt has written, what lies before it, what that attempt wrote
        later and the web does not know, and last the origin of a forked run. What lies before the origin is another
        run's, and never what the user forked."""
        origin = [] if self._origin is None else [self._origin.uri]
        own = [] if resume_from is None or resume_from in origin else [resume_from]
        others = [each for uri in own for each in (*checkpoints_before(uri), *checkpoints_after(uri))]
        written = [each.uri for each in reversed(self._written)]
        return [*_with_replaced([*written, *own]), *others, *_with_replaced(origin)]

    def passed_over(self, uris: Iterable[str]) -> None:
        """Forget checkpoints that turned out to be damaged, so that they do not count among those kept."""
        damaged = set(uris)
        self._written = [each for each in self._written if each.uri not in damaged]

    def uri(self, batch: int) -> str:
        """The URI of the checkpoint after `batch` complete batches."""
        return f"{self._root}/{checkpoint_name(batch)}"

    def is_due(self, batch: int) -> bool:
        """Whether the spec's cadence has a checkpoint after `batch` complete batches."""
        every = self._spec.every_num_batches
        return every is not None and batch > 0 and batch % every == 0

    def written(self, uri: str, seq: int) -> None:
        """Record a complete checkpoint, which the event of this number reports."""
        self._written = [*(each for each in self._written if each.uri != uri), _Written(uri, seq)]

    def tidy(self, acknowledged_seq: int) -> None:
        """Remove what need not be kept, where the web has all events up to this number."""
        known = [each for each in self._written if each.seq <= acknowledged_seq][-1:]
        kept = [*known, *self._written[-self._spec.num_kept :]]
        for each in self._written:
            if each not in kept:
                self._remove(each.uri)
        self._written = [each for each in self._written if each in kept]

    def _remove(self, uri: str) -> None:
        filesystem, path = fsspec.core.url_to_fs(uri)
        try:
            if not filesystem.exists(path + HELD):
                filesystem.rm(path, recursive=True)
        except OSError as error:
            # One old checkpoint too many wastes disk space; it is no reason to end a run.
            logger.warning("could not remove the old checkpoint %s: %s", uri, error)


def checkpoints_before(uri: str) -> list[str]:
    """The checkpoints of fewer batches than the one at `uri`, which a run can continue from where that cannot be
    loaded, the newest first: of the same attempt, then of earlier ones."""
    attempt_uri, _, name = uri.rstrip("/").rpartition("/")
    run_uri, _, attempt = attempt_uri.rpartition("/")
    newest, number = batch_number(name), attempt_number(attempt)
    if newest is None:
        return []
    attempts = [attempt_uri]
    if number is not None:
        earlier = [(other, each) for each in _names(run_uri) if (other := attempt_number(each)) is not None]
        attempts += [f"{run_uri}/{each}" for other, each in sorted(earlier, reverse=True) if other < number]
    return [uri for folder in attempts for batch, uri in _in_folder(folder) if batch < newest]


def checkpoints_after(uri: str) -> list[str]:
    """The checkpoints of more batches than the one at `uri` by the same attempt, the newest first: written, and not
    reported before the driver was lost. What the web lacks of their batches it never gets, so they come last."""
    attempt_uri, _, name = uri.rstrip("/").rpartition("/")
    known = batch_number(name)
    return [] if known is None else [other for batch, other in _in_folder(attempt_uri) if batch > known]


def _in_folder(uri: str) -> list[tuple[int, str]]:
    """(Batches, URI) of the checkpoints in an attempt's folder, the newest first."""
    found = [(batch, each) for each in _names(uri) if (batch := batch_number(each)) is not None]
    return [(batch, f"{uri}/{each}") for batch, each in sorted(found, key=_newest_first)]


def _with_replaced(uris: Iterable[str]) -> list[str]:
    return [each for uri in uris for each in (uri, *_replaced(uri))]


def _replaced(uri: str) -> list[str]:
    """The predecessor of the checkpoint at `uri`, where a crash came while it was being replaced."""
    filesystem, path = fsspec.core.url_to_fs(uri + REPLACED)
    return [uri + REPLACED] if filesystem.exists(path) else []


def _newest_first(entry: tuple[int, str]) -> tuple[int, str]:
    # `batch-000003` before `batch-000003.replaced`, which is older.
    return -entry[0], entry[1]


def _names(uri: str) -> list[str]:
    """The names of what lies in a folder; none where there is no such folder."""
    filesystem, path = fsspec.core.url_to_fs(uri)
    try:
        return [entry.rstrip("/").rpartition("/")[2] for entry in filesystem.ls(path, detail=False)]
    except FileNotFoundError:
        return []
