"""Spans wait in a bounded queue: whoever adds one never waits, and what is lost is counted."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from traces.span_queue import SpanQueue


class Counts(Counter[str]):
    def add(self, outcome: str, number: int) -> None:
        self[outcome] += number


def made(send: Any, counts: Counts, *, size: int = 100) -> SpanQueue:
    return SpanQueue(send, counts.add, size=size, batch_size=10, delay_seconds=0.01)


def until(what: Any) -> None:
    end = time.monotonic() + 5
    while not what() and time.monotonic() < end:
        time.sleep(0.005)
    assert what()


def test_spans_are_sent_in_batches_and_counted() -> None:
    batches: list[Sequence[Any]] = []
    counts = Counts()

    def take(batch: Sequence[Any]) -> bool:
        batches.append(batch)
        return True

    queue = made(take, counts)
    for number in range(25):
        queue.put(number)  # type: ignore[arg-type]
    assert queue.flush(5)
    assert [number for batch in batches for number in batch] == list(range(25))
    assert max(map(len, batches)) <= 10
    assert counts == {"sent": 25}


def test_a_collector_that_is_away_costs_spans_and_no_time() -> None:
    away, counts = threading.Event(), Counts()

    def hang(batch: Sequence[Any]) -> bool:
        away.wait(5)
        return False

    queue = made(hang, counts, size=20)
    began = time.perf_counter()
    for number in range(1000):
        queue.put(number)  # type: ignore[arg-type]
    assert time.perf_counter() - began < 0.5
    away.set()
    until(lambda: counts["dropped"] == 1000)
    assert counts["sent"] == 0


def test_a_sender_that_raises_loses_its_batch_alone() -> None:
    counts = Counts()
    failing = iter([True, False])

    def send(batch: Sequence[Any]) -> bool:
        if next(failing, False):
            raise ConnectionError("refused")
        return True

    queue = made(send, counts)
    queue.put(0)  # type: ignore[arg-type]
    until(lambda: counts["dropped"] == 1)
    queue.put(1)  # type: ignore[arg-type]
    assert queue.flush(5)
    assert counts == {"dropped": 1, "sent": 1}
