"""The schedule log is uploaded in parts, whose names sort in the order of their lines."""

import gzip
from typing import Any

import pytest

from worker.engine.control import schedule_logger
from worker.engine.control.schedule_logger import ScheduleLogger
from worker.scheduling.core.messages import LaneLost
from worker.scheduling.replay.schedule_log import Applied, parse_line


def lines_of(uploader: Any) -> list[Any]:
    contents = [gzip.decompress(uploader.files[path]).decode() for path in sorted(uploader.files)]
    return [parse_line(text) for content in contents for text in content.splitlines()]


def test_parts_sorted_by_name_hold_every_line_once_in_order(uploader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_logger, "MAX_LINES_PER_PART", 3)
    log = ScheduleLogger(uploader)
    lines = [Applied(at / 3, LaneLost(f"lane-{at}")) for at in range(32)]
    for line in lines[:20]:
        log.write(line)
    log.begin()
    for line in lines[20:]:
        log.write(line)
    log.flush()
    log.flush()
    assert lines_of(uploader) == lines
    assert len(uploader.files) == 7 + 4
