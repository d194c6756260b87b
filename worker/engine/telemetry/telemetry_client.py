"""The run's voice and ear: events out, commands in, on a thread of their own.

    controller ── emit ──► spool ──► poster thread ── POST batch ──► web
    controller ◄─ take_commands ── queue ◄── answer's commands ──────┘

The controller only ever touches the local spool and a queue. While the web is away the thread backs off and sends again
from the last acknowledged event; nothing is lost, and what the web already has it drops by number.
"""

import json
import queue
import threading
import time
from typing import Any

from worker.contracts.commands import RunCommand
from worker.contracts.events import Event
from worker.contracts.ingest import EVENTS_PATH, HEARTBEAT_SECONDS, IngestAnswer
from worker.engine.telemetry.spool import Spool
from worker.engine.telemetry.web_connection import (
    Answer,
    FencedError,
    WebAwayError,
    WebConnection,
    WebRefusedError,
    back_off_seconds,
)

MAX_EVENTS_PER_POST = 500
MAX_BYTES_PER_POST = 1024 * 1024
"""Below Django's 2.5 MB limit on a request's body."""
COALESCE_SECONDS = 0.4
"""Wait after a post, so that events travel in company; the page still feels live."""
RETRIED_STATUSES = frozenset({408, 429})


class TelemetryClient:
    """Emits events and receives commands. `emit`, `take_commands` and `check` are safe from any thread."""

    def __init__(self, base_url: str, *, run: str, attempt: int, token: str, spool: Spool) -> None:
        self._path = EVENTS_PATH.format(run=run, attempt=attempt)
        self._connection = WebConnection(base_url, token)
        self._spool = spool
        self._commands: queue.SimpleQueue[RunCommand] = queue.SimpleQueue()
        self._seen_commands: set[str] = set()
        self._failure: BaseException | None = None
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._posted = threading.Condition()
        self._num_failures = 0
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def num_pending(self) -> int:
        """Events that the web has not acknowledged yet."""
        return self._spool.num_pending

    def emit(self, event_type: type[Event], **fields: Any) -> int:
        """Number, stamp and spool one event; returns its number. Never waits for the web."""
        at = time.time()
        seq = self._spool.append(lambda seq: event_type(seq=seq, at=at, **fields).model_dump_json())
        self._wake.set()
        return seq

    def take_commands(self) -> list[RunCommand]:
        """Commands that arrived since the last call, each once, in order."""
        commands = []
        while not self._commands.empty():
            commands.append(self._commands.get())
        return commands

    def check(self) -> None:
        """Raise what ended the posting thread, if anything did: `FencedError`, `WebRefusedError` or a bug."""
        if self._failure is not None:
            raise self._failure

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until the web has acknowledged everything. False when time ran out or posting has ended."""
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
        """End the thread and close the spool; what is unacknowledged stays on disk."""
        self._closing.set()
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
                    self._wake.wait(HEARTBEAT_SECONDS - COALESCE_SECONDS)
                    self._wake.clear()
                    self._closing.wait(COALESCE_SECONDS)
        except Exception as error:
            # Handed to the controller, which alone decides how a run ends.
            self._failure = error
        finally:
            with self._posted:
                self._posted.notify_all()

    def _post_once(self) -> bool:
        """Post the oldest waiting events, or an empty heartbeat. True when more are waiting already."""
        lines = self._spool.oldest(max_events=MAX_EVENTS_PER_POST, max_bytes=MAX_BYTES_PER_POST)
        num_behind = self._spool.num_pending - len(lines)
        # Lines are JSON already: parsing them again only to print them again would cost the driver.
        body = f'{{"events":[{",".join(lines)}],"pending":{num_behind}}}'.encode()
        try:
            answer = self._connection.send("POST", self._path, body, {"Content-Type": "application/json"})
        except WebAwayError:
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
        for command in answer.commands:
            # An answer that was lost on its way makes the web send a command again: it must not run twice.
            if command.id not in self._seen_commands:
                self._seen_commands.add(command.id)
                self._commands.put(command)

    def _skip_to_expected(self, answer: Answer) -> None:
        """409: the web wants another number. It may have more than we know of, never less than it acknowledged."""
        expected = json.loads(answer.body).get("expected")
        oldest_waiting = self._spool.last_seq - self._spool.num_pending + 1
        if not isinstance(expected, int) or not oldest_waiting < expected <= self._spool.last_seq + 1:
            raise WebRefusedError(
                f"the web expects event {expected}, the spool holds {oldest_waiting} to {self._spool.last_seq}: "
                "the two have parted and this attempt cannot go on"
            )
        self._spool.acknowledge(expected - 1)
