"""Two drivers, or one driver's two tries, at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from runs.transitions import move
from telemetry.ingest.ingest_errors import SequenceGap
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., dict[str, Any]]


def in_threads(*acts: Callable[[], Any]) -> list[Any]:
    """Run all at once, each with a connection of its own; results or exceptions, in order."""
    start = Barrier(len(acts))

    def one(act: Callable[[], Any]) -> Any:
        start.wait()
        try:
            return act()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(one, acts))


def numbered_lines(length: int) -> list[tuple[int, str]]:
    return [(number, f"line {number}") for number in range(1, length + 1)]


def test_the_same_batch_sent_twice_at_once_is_stored_once(driver: Any, event: Make) -> None:
    batch = [event(seq) for seq in range(1, 51)]
    answers = in_threads(*[lambda: driver.send(*batch)] * 4)
    assert [answer.acknowledged for answer in answers] == [50] * 4
    assert [(item["stream_seq"], item["body"]["message"]) for item in driver.items] == numbered_lines(50)


def test_overlapping_batches_at_once_leave_no_gap_and_no_double(driver: Any, event: Make) -> None:
    everything = [event(seq) for seq in range(1, 41)]
    windows = [everything[start : start + 16] for start in (0, 8, 16, 24)]
    waiting = list(windows)
    while waiting:
        results = in_threads(*[lambda window=window: driver.send(*window) for window in waiting])
        assert all(not isinstance(result, Exception) or isinstance(result, SequenceGap) for result in results)
        waiting = [window for window, result in zip(waiting, results, strict=True) if isinstance(result, SequenceGap)]
    assert [(item["stream_seq"], item["body"]["message"]) for item in driver.items] == numbered_lines(40)


def test_transitions_and_events_at_once_share_one_numbering(driver: Any, event: Make) -> None:
    def pause() -> None:
        move(driver.run_id, [RunState.RUNNING], RunState.PAUSED, reason="test", actor="alice")

    results = in_threads(lambda: driver.send(*[event(seq) for seq in range(1, 31)]), pause)
    assert not [result for result in results if isinstance(result, Exception)]
    assert [item["stream_seq"] for item in driver.items] == list(range(1, 32))
