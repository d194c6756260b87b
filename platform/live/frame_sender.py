"""Sends frames to the channel layer, at most `MAX_FRAMES_PER_SECOND` for each group, from one thread of the process.

`live.publish` puts messages in; sockets of any process get them out. The thread has an event loop of its own, because
the channel layer keeps one connection per loop. Invariant: `put` never blocks and never raises, whatever the broker
does. Messages that could not be sent are counted and logged; readers find their content in the database.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

logger = logging.getLogger(__name__)

Message = dict[str, Any]
Merge = Callable[[Sequence[Message]], Message]
"""Merges the messages of a group into one frame."""
Send = Callable[[str, Message], Awaitable[None]]

MAX_FRAMES_PER_SECOND = 20
MAX_WAITING_MESSAGES = 2000
"""Most messages that wait in one group while the broker is slow; beyond it the oldest are dropped and counted."""
SEND_TIMEOUT_SECONDS = 2.0
LOG_EVERY_SECONDS = 10.0


@dataclass
class _Group:
    """The waiting messages of one group. Used by the frame thread only."""

    merge: Merge
    interval_seconds: float
    waiting: list[Message] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    last_sent: float = float("-inf")


class FrameSender:
    """Batches messages per group into frames and sends them in order, off the caller's thread."""

    def __init__(self, send: Send, *, max_frames_per_second: float = MAX_FRAMES_PER_SECOND) -> None:
        self._send = send
        self._max_frames_per_second = max_frames_per_second
        self._groups: dict[str, _Group] = {}
        self._start_lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._last_logged = float("-inf")
        self.num_frames_sent = 0
        self.num_messages_lost = 0

    def put(self, group: str, message: Message, merge: Merge, *, max_frames_per_second: float | None = None) -> None:
        """Queue `message` (plain JSON values) for `group`; returns immediately. A group may have a lower bound on its
        frames a second than the sender."""
        interval_seconds = 1 / (max_frames_per_second or self._max_frames_per_second)
        self._running_loop().call_soon_threadsafe(self._enqueue, group, message, merge, interval_seconds)

    def flush(self, timeout_seconds: float = 5.0) -> bool:
        """Wait until all messages put before this call are sent or dropped; False if that took too long."""
        loop = self._running_loop()
        done: Future[None] = asyncio.run_coroutine_threadsafe(self._drained(), loop)
        try:
            done.result(timeout_seconds)
        except TimeoutError:
            done.cancel()
            return False
        return True

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._start_lock:
            # A forked child (Celery) inherits the loop object but not its thread.
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                self._groups = {}
                threading.Thread(target=self._loop.run_forever, name="live-frames", daemon=True).start()
            return self._loop

    def _enqueue(self, group: str, message: Message, merge: Merge, interval_seconds: float) -> None:
        state = self._groups.setdefault(group, _Group(merge, interval_seconds))
        state.waiting.append(message)
        surplus = len(state.waiting) - MAX_WAITING_MESSAGES
        if surplus > 0:
            del state.waiting[:surplus]
            self._lost(surplus, group, f"more than {MAX_WAITING_MESSAGES} messages wait")
        if state.task is None:
            state.task = asyncio.get_running_loop().create_task(self._send_group(group, state))

    async def _send_group(self, group: str, state: _Group) -> None:
        """Send frames until no message waits, then remove the group."""
        while True:
            await asyncio.sleep(max(0.0, state.last_sent + state.interval_seconds - time.monotonic()))
            if not state.waiting:
                break
            messages, state.waiting = state.waiting, []
            state.last_sent = time.monotonic()
            try:
                await asyncio.wait_for(self._send(group, state.merge(messages)), SEND_TIMEOUT_SECONDS)
                self.num_frames_sent += 1
            except Exception as error:  # whatever a broker that is away may raise: the data is in the database
                self._lost(len(messages), group, f"{type(error).__name__}: {error}")
        del self._groups[group]

    async def _drained(self) -> None:
        while self._groups:
            await asyncio.sleep(1 / self._max_frames_per_second / 4)

    def _lost(self, count: int, group: str, why: str) -> None:
        self.num_messages_lost += count
        if time.monotonic() - self._last_logged >= LOG_EVERY_SECONDS:
            self._last_logged = time.monotonic()
            logger.warning(
                "%d messages in all did not reach the live sockets (last: %s, %s); pages catch up from the database",
                self.num_messages_lost,
                group,
                why,
            )
