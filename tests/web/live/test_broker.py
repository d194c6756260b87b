"""The broker's client, when many requests come at the start of the web."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from live import broker as clients

NUM_THREADS = 16


@pytest.fixture
def threads_change_often() -> Iterator[None]:
    """As on a busy machine: in the middle of whatever one does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_the_first_who_ask_at_once_get_one_client(embedded_servers: None, threads_change_often: None) -> None:
    """A second one closed its connections as it was collected, under whoever worked by them: the web answered 500."""
    for _ in range(20):
        clients._made.cache_clear()
        together = Barrier(NUM_THREADS)

        def ask(_: int, together: Barrier = together) -> object:
            together.wait()
            return clients.broker()

        with ThreadPoolExecutor(NUM_THREADS) as threads:
            assert len(set(map(id, list(threads.map(ask, range(NUM_THREADS)))))) == 1
    assert clients.broker().ping()
