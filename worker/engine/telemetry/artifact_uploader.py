"""Uploads of samples and adapters, on a thread of their own, bounded in memory and in tries.

A parcel is some files that belong to one event: once they are uploaded the event is emitted, so a page never shows a
picture that is not there yet. Files that could not be delivered are left out of the event and counted.
"""

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from worker.contracts.ingest import ARTIFACT_PATH, SHA256_HEADER
from worker.engine.telemetry.web_connection import FencedError, WebAwayError, WebConnection, back_off_seconds

MAX_WAITING_PARCELS = 64
MAX_WAITING_BYTES = 2**30
"""Of what waits to be encoded: clips hold memory that the run's trajectories need too."""
MAX_TRIES = 12
"""With the back-off of `http.back_off_seconds` a file outlives about 80 s without the web."""


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """`read` gives the bytes on the upload thread, so that encoding a picture costs the controller nothing."""

    path: str
    read: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Receipt:
    """A file that the web has stored."""

    path: str
    sha256: str
    num_bytes: int


@dataclass(frozen=True, slots=True)
class _Parcel:
    files: Sequence[ArtifactFile]
    then: Callable[[list[Receipt]], None]
    may_drop: bool
    num_bytes_held: int


class ArtifactUploader:
    """Uploads parcels in order. `num_failed` counts files given up, `num_dropped` parcels that found no room."""

    def __init__(self, base_url: str, *, run: str, attempt: int, token: str) -> None:
        self._run_id, self._attempt = run, attempt
        self._connection = WebConnection(base_url, token)
        self._parcels: deque[_Parcel] = deque()
        self._changed = threading.Condition()
        self._is_busy = False
        self._closing = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="artifacts", daemon=True)
        self._num_read = 0
        self.num_failed = 0
        self.num_dropped = 0

    def start(self) -> None:
        self._thread.start()

    def submit(
        self,
        files: Sequence[ArtifactFile],
        then: Callable[[list[Receipt]], None],
        *,
        may_drop: bool = True,
        num_bytes_held: int = 0,
    ) -> None:
        """Queue a parcel; `then` gets the receipts of the files stored, on the upload thread.

        While the web is away for long the oldest parcels that `may_drop` (samples, never adapters) make room, by number
        and by the memory that their files hold until they are read.
        """
        with self._changed:
            while self._is_crowded(num_bytes_held) and self._make_room():
                pass
            self._parcels.append(_Parcel(files, then, may_drop, num_bytes_held))
            self._changed.notify_all()

    def _is_crowded(self, num_bytes_more: int) -> bool:
        held = sum(parcel.num_bytes_held for parcel in self._parcels)
        return len(self._parcels) >= MAX_WAITING_PARCELS or held + num_bytes_more > MAX_WAITING_BYTES

    def _make_room(self) -> bool:
        """Drop the oldest parcel that may be; False when there is none."""
        for parcel in self._parcels:
            if parcel.may_drop:
                self._parcels.remove(parcel)
                self.num_dropped += 1
                return True
        return False

    def check(self) -> None:
        """Raise what ended the upload thread, if anything did."""
        if self._failure is not None:
            raise self._failure

    def drain(self, stall_seconds: float) -> bool:
        """Wait until every parcel is dealt with. False when no file was dealt with for so long, or the thread has
        ended."""
        num_seen, deadline = -1, 0.0
        with self._changed:
            while (self._parcels or self._is_busy) and self._failure is None:
                if self._num_read != num_seen:
                    num_seen, deadline = self._num_read, time.monotonic() + stall_seconds
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                self._changed.wait(remaining)
        return self._failure is None

    def close(self) -> None:
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join(timeout=5.0)
        self._connection.close()

    def _work(self) -> None:
        try:
            while (parcel := self._next()) is not None:
                receipts = [receipt for file in parcel.files if (receipt := self._deliver(file)) is not None]
                parcel.then(receipts)
        except Exception as error:
            self._failure = error
        finally:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()

    def _next(self) -> _Parcel | None:
        with self._changed:
            self._is_busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: bool(self._parcels) or self._closing.is_set())
            if self._closing.is_set():
                return None
            self._is_busy = True
            return self._parcels.popleft()

    def _deliver(self, file: ArtifactFile) -> Receipt | None:
        """PUT one file, with bounded tries; `None` when it was given up, and counted."""
        content = file.read()
        with self._changed:
            self._num_read += 1
            self._changed.notify_all()
        digest = hashlib.sha256(content).hexdigest()
        path = ARTIFACT_PATH.format(run=self._run_id, attempt=self._attempt, path=quote(file.path))
        for num_tries in range(1, MAX_TRIES + 1):
            try:
                answer = self._connection.send("PUT", path, content, {SHA256_HEADER: digest})
            except WebAwayError:
                answer = None
            if answer is not None and answer.is_success:
                return Receipt(file.path, digest, len(content))
            if answer is not None and answer.status == 410:
                raise FencedError(f"a newer attempt exists or the run has ended: {answer.text}")
            is_final = answer is not None and answer.status < 500 and answer.status not in (408, 429)
            if is_final or self._closing.wait(back_off_seconds(num_tries)):
                break
        self.num_failed += 1
        return None
