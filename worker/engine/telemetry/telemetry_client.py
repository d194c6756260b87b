"""The run's connection to the web's ingest: events are posted and commands received on a thread of its own.

    controller ── emit ──► spool ──► posting thread ── POST events ──► web
    controller ◄─ take_commands ── queue ◄── commands in the answer ──┘

The controller only touches the local spool and a queue. While the web is unreachable the thread backs off, then sends
again from the last acknowledged event: no event is lost, and the web drops repeated ones by their number.
"""

import json
import queue
import threading
import time
from typing import Any

from worker.contracts.any_event import Event
from worker.contracts.commands import RunCommand
from worker.contracts.ingest import EVENTS_PATH, HEARTBEAT_SECONDS, IngestAnswer
from worker.engine.telemetry.spool import Spool
from worker.ingest.web_connection import (
    Answer,
    FencedError,
    WebConnection,
    WebRefusedError,
    WebUnreachableError,
    back_off_seconds,
)

MAX_EVENTS_PER_POST = 500
"""The most events of one post, which the web stores in one transaction."""
MAX_BYTES_PER_POST = 1024 * 1024
"""The most bytes of one post, below Django's limit of 2.5 MB on a request's body."""
COALESCE_SECONDS = 0.9
"""The wait between an event and its post while somebody watches the run, so that one post carries many events: a post
costs the web some 20 ms, and pages still look live. While nobody does, the wait is `HEARTBEAT_SECONDS`."""
RETRIED_STATUSES = frozenset({408, 429})
"""Statuses below 500 that are worth another try: request time-out and too many requests."""


class TelemetryClient:
    """Emits events and receives commands. `emit`, `take_commands` and `check` are safe from any thread."""

    def __init__(self, base_url: str, *, run: str, attempt: int, token: str, spool: Spool) -> None:
        self._path = EVENTS_PATH.format(run=run, attempt=attempt)
        self._connection = WebConnection(base_url, token)
        self._spool = spool
        self._commands: queue.SimpleQueue[RunCommand] = queue.SimpleQueue()
        self._seen_commands: set[str] = set()
        self._failure: BaseException | None = None
        self._coalesce_seconds = HEARTBEAT_SECONDS
        """The longest wait between an event and its post."""
        self._wake = threading.Event()
        self._hurry = threading.Event()
        """Set where events must not wait for others: there will be none."""
        self._closing = threading.Event()
        self._posted = threading.Condition()
        self._num_failures = 0
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        """Start the posting thread."""
        self._thread.start()

    def emit(self, event_type: type[Event], **fields: Any) -> int:
        """Append one event with the next number and the present time to the spool, without waiting for the web.

        Returns:
            The event's number.
        """
        at = time.time()
        seq = self._spool.append(lambda seq: event_type(seq=seq, at=at, **fields).model_dump_json())
        self._wake.set()
        return seq

    @property
    def acknowledged_seq(self) -> int:
        """The number up to which the web has every event."""
        return self._spool.acknowledged_seq

    def take_commands(self) -> list[RunCommand]:
        """The commands that arrived since the last call, each once, in order."""
        commands = []
        while not self._commands.empty():
            commands.append(self._commands.get())
        return commands

    def check(self) -> None:
        """Raise the exception that ended the posting thread, if it has ended: `FencedError`, `WebRefusedError` or a
        bug."""
        if self._failure is not None:
            raise self._failure

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until the web has acknowledged every event. False when time ran out or the thread has ended."""
        self._hurry.set()
        self._wake.set()
        deadline = time.monotonic() + timeout_seconds
        with self._posted:
            while self._spool.num_pending and self._failure is None:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                self._posted.wait(min(remaining, 0.2))
        return not self._spool.num_pending

    def close(self) -> None:
        """End the thread and close the spool; events that are not acknowledged stay on disk."""
        self._closing.set()
        self._hurry.set()
        self._wake.set()
        self._thread.join(timeout=5.0)
        self._connection.close()
        self._spool.close()

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                is_behind = self._post_once()
                if self._num_failures:
                    self._closing.wait(back_off_seconds(self._num_failures))
                elif not is_behind:
                    self._wake.wait(HEARTBEAT_SECONDS - self._coalesce_seconds)
                    self._wake.clear()
                    self._hurry.wait(self._coalesce_seconds)
                    self._hurry.clear()
        except Exception as error:
            # Raised in the controller's thread by `check`, since only the controller ends a run.
            self._failure = error
        finally:
            with self._posted:
                self._posted.notify_all()

    def _post_once(self) -> bool:
        """Post the oldest waiting events, or none as a heartbeat. True when more are waiting."""
        lines = self._spool.oldest(max_events=MAX_EVENTS_PER_POST, max_bytes=MAX_BYTES_PER_POST)
        num_behind = self._spool.num_pending - len(lines)
        # The lines are JSON already: parsing them only to serialize them again would waste the driver's time.
        body = f'{{"events":[{",".join(lines)}],"pending":{num_behind}}}'.encode()
        try:
            answer = self._connection.send("POST", self._path, body, {"Content-Type": "application/json"})
        except WebUnreachableError:
            self._num_failures += 1
            return False
        if answer.is_success:
            self._accept(IngestAnswer.model_validate_json(answer.body))
        elif answer.status >= 500 or answer.status in RETRIED_STATUSES:
            self._num_failures += 1
        elif answer.status == 409:
            self._skip_to_expected(answer)
        elif answer.status == 410:
            raise FencedError(f"a newer attempt exists or the run has ended: {answer.text}")
        else:
            raise WebRefusedError(f"the web refuses this run's events ({answer.status}): {answer.text}")
        with self._posted:
            self._posted.notify_all()
        return num_behind > 0 and not self._num_failures

    def _accept(self, answer: IngestAnswer) -> None:
        self._num_failures = 0
        self._spool.acknowledge(answer.acknowledged)
        self._coalesce_seconds = COALESCE_SECONDS if answer.is_watched else HEARTBEAT_SECONDS
        for command in answer.commands:
            # The web repeats a command when its answer was lost, but a command must not be carried out twice.
            if command.id not in self._seen_commands:
                self._seen_commands.add(command.id)
                self._commands.put(command)

    def _skip_to_expected(self, answer: Answer) -> None:
        """Handle status 409: the web expects another number. It may have stored events whose acknowledgement was lost,
        but it never lacks one that it acknowledged."""
        expected = json.loads(answer.body).get("expected")
        oldest_waiting = self._spool.last_seq - self._spool.num_pending + 1
        if not isinstance(expected, int) or not oldest_waiting < expected <= self._spool.last_seq + 1:
            raise WebRefusedError(
                f"the web expects event {expected}, the spool holds {oldest_waiting} to {self._spool.last_seq}: "
                "events are missing, so this attempt cannot continue"
            )
        self._spool.acknowledge(expected - 1)
