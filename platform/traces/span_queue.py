"""Ended spans on their way to the collector.

    any thread ─► put: a bounded queue ─► one thread: batches ─► OTLP over HTTP

Invariant: `put` never waits. What does not fit, and what the collector does not take, is dropped and counted.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING

from traces.span_counts import DROPPED, SENT

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

logger = logging.getLogger(__name__)

Send = Callable[[Sequence["ReadableSpan"]], bool]
"""Sends spans, and tells whether the collector took them."""
Count = Callable[[str, int], None]


class SpanQueue:
    """Its thread starts with the first span."""

    def __init__(self, send: Send, count: Count, *, size: int, batch_size: int, delay_seconds: float) -> None:
        """
        Args:
            send: called by the thread alone.
            count: told the outcome and number of spans, by the thread alone.
            size: the most spans that wait.
            batch_size: the most spans that are sent at once.
            delay_seconds: how long spans are gathered before they are sent.
        """
        self._send, self._count = send, count
        self._batch_size, self._delay_seconds = batch_size, delay_seconds
        self._waiting: Queue[ReadableSpan] = Queue(size)
        self._num_overflowed = 0
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()

    def put(self, span: "ReadableSpan") -> None:
        if self._thread is None:
            self._start()
        try:
            self._waiting.put_nowait(span)
        except Full:
            # A lost update of two threads at once costs a count, a lock would cost every caller.
            self._num_overflowed += 1

    def flush(self, timeout_seconds: float) -> bool:
        """Send what waits now; whether all was tried in time."""
        if self._thread is None:
            return True
        self._closing.set()
        try:
            with (tried := self._waiting.all_tasks_done):
                return tried.wait_for(lambda: not self._waiting.unfinished_tasks, timeout_seconds)
        finally:
            self._closing.clear()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="traces", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            batch = self._gather()
            if batch:
                self._tell(SENT if self._taken(batch) else DROPPED, len(batch))
            overflowed, self._num_overflowed = self._num_overflowed, 0
            if overflowed:
                self._tell(DROPPED, overflowed)
            for _ in batch:
                self._waiting.task_done()

    def _gather(self) -> list["ReadableSpan"]:
        """The spans of one batch; empty after a delay without any."""
        batch: list[ReadableSpan] = []
        end = time.monotonic() + self._delay_seconds
        while len(batch) < self._batch_size:
            left = end - time.monotonic()
            is_hurried = self._closing.is_set()
            if left <= 0 and batch:
                break
            try:
                # In short waits, so that a flush is noticed.
                batch.append(self._waiting.get(timeout=0.001 if is_hurried else max(0.001, min(left, 0.1))))
            except Empty:
                if is_hurried or left <= 0:
                    break
        return batch

    def _taken(self, batch: list["ReadableSpan"]) -> bool:
        try:
            return self._send(batch)
        except Exception:
            # Whatever a collector answers, the work that the spans tell of goes on.
            logger.exception("%d spans could not be sent", len(batch))
            return False

    def _tell(self, outcome: str, number: int) -> None:
        try:
            self._count(outcome, number)
        except Exception:
            logger.exception("%d spans that were %s could not be counted", number, outcome)
