"""The one exporter of a process."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.trace_collector import Collector
from traces import trace_export

NUM_THREADS = 16


@pytest.fixture
def threads_change_often() -> Iterator[None]:
    """As on a busy machine: in the middle of whatever one does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_the_first_who_ask_at_once_get_one_exporter(traced: Collector, threads_change_often: None) -> None:
    together = Barrier(NUM_THREADS)

    def ask(_: int) -> int:
        together.wait()
        return id(trace_export.tracing())

    with ThreadPoolExecutor(NUM_THREADS) as threads:
        assert len(set(threads.map(ask, range(NUM_THREADS)))) == 1
