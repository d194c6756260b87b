import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.engine.telemetry import spool as spool_module
from worker.engine.telemetry.spool import Spool


def line(seq: int) -> str:
    return json.dumps({"seq": seq, "text": "line\u2028inside \u0085"}, ensure_ascii=False)


def seqs(spool: Spool, max_events: int = 1000) -> list[int]:
    return [json.loads(text)["seq"] for text in spool.oldest(max_events=max_events, max_bytes=10**6)]


def test_numbers_have_no_gaps_and_lines_are_read_as_written() -> None:
    spool = Spool(first_seq=5)
    assert [spool.append(line) for _ in range(4)] == [5, 6, 7, 8]
    assert seqs(spool) == [5, 6, 7, 8]


def test_an_event_that_cannot_be_encoded_leaves_no_gap() -> None:
    spool = Spool()
    spool.append(line)
    with pytest.raises(ZeroDivisionError):
        spool.append(lambda seq: str(1 // 0))
    assert spool.append(line) == 2


def test_a_batch_is_bounded_by_bytes_but_never_empty() -> None:
    spool = Spool()
    for _ in range(3):
        spool.append(line)
    assert len(spool.oldest(max_events=10, max_bytes=1)) == 1


@contextmanager
def full_beyond(num_bytes: int) -> Iterator[None]:
    """Within it no file grows beyond that, as on a full disk; no longer, for what pytest writes is a file, too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_a_full_disk_does_not_take_is_kept_in_memory_and_in_order() -> None:
    spool, num_bytes = Spool(), len(line(1).encode()) + 1
    # The disk takes the first line, and half of the second.
    with full_beyond(num_bytes * 3 // 2):
        for _ in range(3):
            spool.append(line)
    spool.append(line)
    assert seqs(spool) == [1, 2, 3, 4]
    spool.acknowledge(3)
    assert seqs(spool) == [4]


def test_the_memory_for_a_full_disk_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    spool, num_bytes = Spool(), len(line(1).encode()) + 1
    monkeypatch.setattr(spool_module, "MAX_HELD_BYTES", num_bytes)
    with full_beyond(0):
        spool.append(line)
        with pytest.raises(OSError, match=r"File too large|No space left"):
            spool.append(line)
        assert seqs(spool) == [1]
        spool.acknowledge(1)
        assert spool.append(line) == 2


def test_acknowledging_what_was_never_sent_is_refused() -> None:
    spool = Spool()
    spool.append(line)
    with pytest.raises(ValueError, match="never sent"):
        spool.acknowledge(2)


def test_a_driver_that_is_killed_leaves_no_file(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from worker.engine.telemetry.spool import Spool\n"
        "spool = Spool()\n"
        "spool.append(lambda seq: 'x' * 10_000)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], env=os.environ | {"TMPDIR": str(tmp_path)}, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


@given(moves=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 7)), max_size=30))
def test_events_that_are_not_acknowledged_are_read_in_order(
    moves: list[tuple[int, int, int]],
) -> None:
    original, spool_module.ROTATE_BYTES = spool_module.ROTATE_BYTES, 100
    try:
        spool = Spool()
        last = acknowledged = 0
        for num_appended, num_acknowledged, max_events in moves:
            for _ in range(num_appended):
                last = spool.append(line)
            acknowledged = min(last, acknowledged + num_acknowledged)
            spool.acknowledge(acknowledged)
            assert seqs(spool, max_events) == list(range(acknowledged + 1, last + 1))[:max_events]
        spool.close()
    finally:
        spool_module.ROTATE_BYTES = original
