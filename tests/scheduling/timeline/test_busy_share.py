"""One definition of how busy lanes are."""

import pytest

from worker.contracts.spans import SpanKind
from worker.scheduling.timeline.busy_share import WORK, busy_share, idle_share


def test_a_pause_is_neither_busy_nor_idle() -> None:
    spent = {SpanKind.TRAIN: 30.0, SpanKind.IDLE: 10.0, SpanKind.PAUSE: 60.0}
    assert (busy_share(spent), idle_share(spent)) == (0.75, 0.25)
    assert busy_share({"pause": 60.0}) == idle_share({"pause": 60.0}) == 0.0


def test_lent_generation_is_work_and_a_resize_idling() -> None:
    spent = {"lent_generate": 6.0, "switch": 1.0, "idle:resize": 3.0}
    assert (busy_share(spent), idle_share(spent)) == pytest.approx((0.7, 0.3))


def test_what_no_span_covers_is_neither() -> None:
    assert busy_share({"train": 1.0, "unaccounted": 3.0}) == 0.25
    assert idle_share({"train": 1.0, "unaccounted": 3.0}) == 0.0


def test_every_kind_of_span_is_work_but_two() -> None:
    assert set(SpanKind) - WORK == {SpanKind.IDLE, SpanKind.PAUSE}
