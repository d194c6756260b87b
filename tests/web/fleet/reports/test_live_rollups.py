"""The last hours of a GPU: what is summed up of a minute, what is kept, and what a report costs."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from fleet.models import Gpu, GpuMinute, GpuReadings
from fleet.reports.live_history import live_history
from fleet.reports.live_rollups import KEPT, QUANTITIES, summed_up
from tests.web.fleet.node_posts import alive, card, post_node

BEGIN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock(db: None) -> Iterator[Any]:
    """Sets the time at which reports come."""
    with patch("fleet.reports.report_intake.timezone.now") as now:
        yield lambda seconds: setattr(now, "return_value", BEGIN + timedelta(seconds=seconds))


def report_at(clock: Any, seconds: float, *, throttle_reasons: tuple[str, ...] = (), **live: Any) -> None:
    clock(seconds)
    post_node(alive("gpu0"), card("GPU-a", 0, live=live, throttle_reasons=throttle_reasons))


def test_a_minute_has_the_lowest_the_mean_and_the_highest_reading(clock: Any) -> None:
    for second, share in ((1, 0.2), (20, 0.5), (59, 0.8)):
        report_at(clock, second, utilisation=share, power=300.0)
    assert not GpuMinute.objects.exists(), "the minute is under way"
    report_at(clock, 61, utilisation=1.0)
    minute = GpuMinute.objects.get()
    assert (minute.begin, minute.num_readings) == (BEGIN, 3)
    assert minute.values == {"utilisation": [0.2, 0.5, 0.8], "power": [300.0, 300.0, 300.0]}


def test_what_holds_the_clocks_back_is_counted_by_reason(clock: Any) -> None:
    for second, reasons in ((0, ()), (3, ("heat",)), (6, ("heat", "power cap")), (9, ()), (61, ())):
        report_at(clock, second, throttle_reasons=reasons, sm_clock=1980.0)
    history = live_history(Gpu.objects.get())
    assert history.throttled == {"heat": [0.5], "power cap": [0.25]}
    assert history.at == [BEGIN.timestamp()]


def test_minutes_without_a_report_are_left_out_and_missing_values_are_empty(clock: Any) -> None:
    report_at(clock, 0, utilisation=0.5)
    report_at(clock, 300, power=200.0)
    report_at(clock, 360)
    report_at(clock, 420)
    history = live_history(Gpu.objects.get())
    assert [at - BEGIN.timestamp() for at in history.at] == [0, 300, 360]
    assert list(history.values["utilisation"].mean) == [0.5, None, None]
    assert list(history.values["power"].high) == [None, 200.0, None]
    assert "temperature" not in history.values
    assert live_history(Gpu.objects.get(), since=BEGIN + timedelta(minutes=6)).at == [BEGIN.timestamp() + 360]


def test_old_minutes_go(clock: Any) -> None:
    report_at(clock, 0, utilisation=0.5)
    report_at(clock, 60, utilisation=0.5)
    late = KEPT.total_seconds() + 30
    report_at(clock, late, utilisation=0.5)
    assert [minute.begin for minute in GpuMinute.objects.all()] == [BEGIN + timedelta(minutes=1)], "the one before went"
    report_at(clock, late + 90, utilisation=0.5)
    assert [minute.begin for minute in GpuMinute.objects.all()] == [BEGIN + KEPT]


def test_a_clock_that_is_set_back_stops_no_report(clock: Any) -> None:
    for seconds in (0, 61, 5, 62, 125):
        report_at(clock, seconds, utilisation=0.5)
    assert GpuMinute.objects.count() == 2


def test_a_report_costs_one_row_and_a_minute_is_summed_up_once(clock: Any) -> None:
    report_at(clock, 0, utilisation=0.5)
    counts = []
    for seconds in (3, 6, 61, 64):
        with CaptureQueriesContext(connection) as queries:
            report_at(clock, seconds, utilisation=0.5)
        written = [query["sql"] for query in queries if not query["sql"].startswith("SELECT")]
        counts.append(
            (sum("gpureadings" in sql for sql in written), sum("gpuminute" in sql for sql in written)),
        )
    assert counts == [(1, 0), (1, 0), (2, 2), (1, 0)]
    assert GpuReadings.objects.count() == 2, "those of the minute under way"


def test_a_gpu_that_is_gone_when_its_minute_ends_is_left_out(clock: Any) -> None:
    report_at(clock, 0, utilisation=0.5)
    Gpu.objects.all().delete()
    report_at(clock, 61, utilisation=0.5)
    assert not GpuMinute.objects.exists()


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 3), st.floats(0, 1)), min_size=1, max_size=30))
def test_every_reading_counts_in_one_minute_of_its_gpu(readings: list[tuple[int, int, float]]) -> None:
    rows = [
        GpuReadings(at=BEGIN + timedelta(seconds=at), values={str(gpu): [share, *[None] * (len(QUANTITIES) - 1), []]})
        for at, gpu, share in readings
    ]
    minutes = summed_up(rows)
    assert sum(minute.num_readings for minute in minutes) == len(readings)
    assert len({(minute.gpu_id, minute.begin) for minute in minutes}) == len(minutes)
    for minute in minutes:
        own = [
            share
            for at, gpu, share in readings
            if gpu == minute.gpu_id and BEGIN + timedelta(seconds=at // 60 * 60) == minute.begin
        ]
        low, mean, high = minute.values["utilisation"]
        assert (low, high, set(minute.values)) == (min(own), max(own), {"utilisation"})
        assert mean == pytest.approx(sum(own) / len(own), rel=1e-4)


def test_the_quantities_are_fields_of_the_report() -> None:
    assert set(QUANTITIES) <= set(type(card("GPU-a", 0).live).model_fields)
