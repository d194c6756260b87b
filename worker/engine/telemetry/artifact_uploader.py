"""Uploads samples and adapters on a thread of its own, bounded in memory and in tries.

An upload is the files of one event, which is emitted only when they are stored, so that a page never refers to a
picture that does not exist yet. Small files go together in one request, as a tar, since a request costs the web more
than a picture does. Files that could not be stored are left out of the event and counted.
"""

import hashlib
import io
import tarfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from worker.contracts.ingest import ARTIFACT_PATH, ARTIFACTS_PATH, MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, SHA256_HEADER
from worker.ingest.web_connection import (
    Answer,
    FencedError,
    WebConnection,
    WebUnreachableError,
    back_off_seconds,
)

MAX_WAITING_UPLOADS = 64
"""The most uploads that wait, which are the samples of dozens of batches."""
MAX_WAITING_BYTES = 2**30
"""The most memory that waiting uploads hold: clips before encoding are large, and trajectories need memory too."""
MAX_TRIES = 22
"""The most tries of one request, which with the waits of `back_off_seconds` span about 80 s without the web."""


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """A file to upload."""

    path: str
    """The artifact path, below the run's."""
    read: Callable[[], bytes]
    """Returns the content; called on the upload thread, so that encoding a picture costs the controller no time."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A file that the web has stored."""

    path: str
    sha256: str
    num_bytes: int


@dataclass(frozen=True, slots=True)
class _Content:
    path: str
    data: bytes

    @property
    def receipt(self) -> Receipt:
        return Receipt(self.path, hashlib.sha256(self.data).hexdigest(), len(self.data))


@dataclass(frozen=True, slots=True)
class _Upload:
    files: Sequence[ArtifactFile]
    then: Callable[[list[Receipt]], None]
    may_drop: bool
    num_bytes_held: int
    """Memory that the files hold until they are read."""


class ArtifactUploader:
    """Uploads in the order of submission."""

    def __init__(self, base_url: str, *, run: str, attempt: int, token: str) -> None:
        self._run_id, self._attempt = run, attempt
        self._connection = WebConnection(base_url, token)
        self._uploads: deque[_Upload] = deque()
        self._changed = threading.Condition()
        self._is_busy = False
        self._closing = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="artifacts", daemon=True)
        self._num_read = 0
        """The number of files read, by which `drain` notices progress."""
        self._num_rewinds = 0
        self.num_failed = 0
        """The number of files that were given up."""
        self.num_dropped = 0
        """The number of uploads that were dropped because too many were waiting."""

    def start(self) -> None:
        """Start the upload thread."""
        self._thread.start()

    def folder(self, kind: str) -> str:
        """The artifact path of a kind of artifacts. Each rewind has its own, since the web refuses other content at a
        known path and the content may differ after a rewind."""
        return kind if self._num_rewinds == 0 else f"{kind}/rewind-{self._num_rewinds}"

    def rewind(self) -> None:
        """The attempt went back to a checkpoint: what is made from here on has folders of its own."""
        self._num_rewinds += 1

    def submit(
        self,
        files: Sequence[ArtifactFile],
        then: Callable[[list[Receipt]], None],
        *,
        may_drop: bool = True,
        num_bytes_held: int = 0,
    ) -> None:
        """Queue an upload, dropping the oldest ones that may be where too many or too large ones wait.

        Args:
            files: the files of one event.
            then: called on the upload thread with the receipts of the files that were stored.
            may_drop: whether the upload may be dropped while the web is unreachable: samples may, adapters may not.
            num_bytes_held: memory that the files hold until they are read.
        """
        with self._changed:
            while self._is_full(num_bytes_held) and self._drop_oldest():
                pass
            self._uploads.append(_Upload(files, then, may_drop, num_bytes_held))
            self._changed.notify_all()

    def _is_full(self, num_bytes_more: int) -> bool:
        held = sum(upload.num_bytes_held for upload in self._uploads)
        return len(self._uploads) >= MAX_WAITING_UPLOADS or held + num_bytes_more > MAX_WAITING_BYTES

    def _drop_oldest(self) -> bool:
        """Drop the oldest upload that may be dropped; False when there is none."""
        for upload in self._uploads:
            if upload.may_drop:
                self._uploads.remove(upload)
                self.num_dropped += 1
                return True
        return False

    def check(self) -> None:
        """Raise the exception that ended the upload thread, if it has ended: `FencedError` or a bug."""
        if self._failure is not None:
            raise self._failure

    def drain(self, stall_seconds: float) -> bool:
        """Wait until every upload is complete or given up. False when no file was read for `stall_seconds`, or the
        thread has ended."""
        num_seen, deadline = -1, 0.0
        with self._changed:
            while (self._uploads or self._is_busy) and self._failure is None:
                if self._num_read != num_seen:
                    num_seen, deadline = self._num_read, time.monotonic() + stall_seconds
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                self._changed.wait(remaining)
        return self._failure is None

    def close(self) -> None:
        """End the thread; uploads that still wait are lost."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join(timeout=5.0)
        self._connection.close()

    def _work(self) -> None:
        try:
            while (upload := self._next()) is not None:
                receipts: list[Receipt] = []
                for bundle in self._bundles(upload.files):
                    receipts += self._deliver(bundle)
                upload.then(receipts)
        except Exception as error:
            self._failure = error
        finally:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()

    def _next(self) -> _Upload | None:
        with self._changed:
            self._is_busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: bool(self._uploads) or self._closing.is_set())
            if self._closing.is_set():
                return None
            self._is_busy = True
            return self._uploads.popleft()

    def _bundles(self, files: Sequence[ArtifactFile]) -> Iterator[list[_Content]]:
        """The contents of the files in order, as many together as one request may carry; a larger file goes alone."""
        bundle: list[_Content] = []
        for file in files:
            content = _Content(file.path, file.read())
            with self._changed:
                self._num_read += 1
                self._changed.notify_all()
            num_bytes = sum(len(each.data) for each in bundle) + len(content.data)
            if bundle and (num_bytes > MAX_BUNDLE_BYTES or len(bundle) == MAX_BUNDLE_FILES):
                yield bundle
                bundle = []
            bundle.append(content)
        if bundle:
            yield bundle

    def _deliver(self, bundle: Sequence[_Content]) -> list[Receipt]:
        """Upload files that fit in one request; returns the receipts of those that were stored."""
        if len(bundle) > 1:
            path = ARTIFACTS_PATH.format(run=self._run_id, attempt=self._attempt)
            answer = self._send("POST", path, _tar(bundle))
            if answer is not None and answer.is_success:
                return [content.receipt for content in bundle]
            if answer is not None:
                # The web refused one of them, and the others should not be lost with it.
                return [receipt for content in bundle for receipt in self._deliver([content])]
        else:
            path = ARTIFACT_PATH.format(run=self._run_id, attempt=self._attempt, path=quote(bundle[0].path))
            answer = self._send("PUT", path, bundle[0].data)
            if answer is not None and answer.is_success:
                return [bundle[0].receipt]
        self.num_failed += len(bundle)
        return []

    def _send(self, method: str, path: str, body: bytes) -> Answer | None:
        """The web's final answer to an upload, a success or a refusal; `None` after `MAX_TRIES` without one.

        Raises:
            FencedError: when a newer attempt exists or the run has ended.
        """
        headers = {SHA256_HEADER: hashlib.sha256(body).hexdigest()}
        for num_tries in range(1, MAX_TRIES + 1):
            try:
                answer = self._connection.send(method, path, body, headers)
            except WebUnreachableError:
                answer = None
            if answer is not None and answer.status == 410:
                raise FencedError(f"a newer attempt exists or the run has ended: {answer.text}")
            if answer is not None and answer.status < 500 and answer.status not in (408, 429):
                return answer
            if self._closing.wait(back_off_seconds(num_tries)):
                break
        return None


def _tar(bundle: Sequence[_Content]) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for content in bundle:
            info = tarfile.TarInfo(content.path)
            info.size = len(content.data)
            tar.addfile(info, io.BytesIO(content.data))
    return archive.getvalue()
