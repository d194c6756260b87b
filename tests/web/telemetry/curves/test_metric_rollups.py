"""Rollups say exactly what the points in their buckets say, whatever comes in whatever portions."""

import math
from collections import defaultdict
from collections.abc import Callable
from statistics import fmean
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from telemetry.curves.curves import curves
from telemetry.curves.metric_rollups import BITS_PER_LEVEL, LEVELS, SMALLEST
from telemetry.models import AttemptStream, MetricPoint, MetricRollup, StreamItem

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db

values = st.floats(-1e6, 1e6, allow_nan=False)
report_lists = st.lists(
    st.one_of(
        st.tuples(st.just("metrics"), st.integers(1, 40), st.dictionaries(st.sampled_from("ab"), values, min_size=1)),
        st.tuples(st.just("resumed"), st.integers(0, 40), st.just({})),
    ),
    max_size=30,
)


def events_of(reports: list[tuple[str, int, dict[str, float]]]) -> list[dict[str, Any]]:
    """Events in order: metrics of a batch, at four optimizer steps each, and resumes."""
    events = []
    for seq, (kind, batch, reported) in enumerate(reports, start=1):
        body: dict[str, Any] = {"batch": batch, "optimizer_step": 4 * batch}
        body |= {"values": reported} if kind == "metrics" else {"policy_version": batch}
        events.append({"seq": seq, "at": float(seq), "type": kind, **body})
    return events


def expected_points(reports: list[tuple[str, int, dict[str, float]]]) -> list[tuple[str, int, float]]:
    """(key, batch, value) of what still counts, by hand."""
    kept: list[tuple[str, int, float]] = []
    for kind, batch, reported in reports:
        if kind == "resumed":
            kept = [point for point in kept if point[1] <= batch]
        else:
            kept += [(key, batch, 0.0 if abs(value) < SMALLEST else value) for key, value in reported.items()]
    return kept


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reports=report_lists, portion=st.integers(1, 9))
@example(reports=[("metrics", 1, {"a": 0.0}), ("metrics", 1, {"a": 5e-324})], portion=1)
@example(reports=[("metrics", 1, {"a": 5e-324}), ("metrics", 2, {"a": 0.0}), ("resumed", 1, {})], portion=3)
def test_every_rollup_is_what_its_points_say(
    driver: Any, reports: list[tuple[str, int, dict[str, float]]], portion: int
) -> None:
    for model in (StreamItem, AttemptStream, MetricPoint, MetricRollup):
        model.objects.all().delete()
    events = events_of(reports)
    for first in range(0, len(events), portion):
        driver.send(*events[first : first + portion])
    points = expected_points(reports)
    assert sorted(MetricPoint.objects.values_list("key", "batch", "value")) == sorted(points)
    by_bucket: defaultdict[tuple[str, int, int], list[tuple[int, float]]] = defaultdict(list)
    for key, batch, value in points:
        for level in LEVELS:
            by_bucket[key, level, (4 * batch) >> (BITS_PER_LEVEL * level)].append((batch, value))
    rollups = {(row.key, row.level, row.bucket): row for row in MetricRollup.objects.all()}
    assert rollups.keys() == by_bucket.keys()
    for name, inside in by_bucket.items():
        row, reported = rollups[name], [value for _, value in inside]
        assert (row.count, row.min, row.max) == (len(reported), min(reported), max(reported))
        assert math.isclose(row.mean, fmean(reported), rel_tol=1e-9, abs_tol=1e-9 * max(map(abs, reported)))
        batches = [batch for batch, _ in inside]
        assert (row.first_step, row.last_step, row.last_batch) == (4 * min(batches), 4 * max(batches), max(batches))


def test_attempts_have_rollups_of_their_own(driver: Any, event: Make, metrics: Make, next_attempt: Any) -> None:
    driver.send(metrics(1, 1, loss=1.0), metrics(2, 2, loss=2.0))
    newer = next_attempt(driver.run, 2)
    newer.send(event(1, "resumed", batch=1, policy_version=1, optimizer_step=4), metrics(2, 2, loss=3.0))
    coarsest = MetricRollup.objects.filter(level=LEVELS[-1]).order_by("attempt")
    assert list(coarsest.values_list("attempt", "mean", "count")) == [(1, 1.0, 1), (2, 3.0, 1)]


@pytest.mark.parametrize("max_points", [2, 7, 50])
def test_a_long_curve_keeps_its_extremes_its_ends_and_its_mean(driver: Any, max_points: int) -> None:
    num_steps = 3000
    reported = [math.sin(step / 50) for step in range(num_steps)]
    reported[1234], reported[2222] = 9.0, -7.0
    driver.send(
        *(
            {
                "seq": seq,
                "at": float(seq),
                "type": "metrics",
                "batch": seq,
                "optimizer_step": seq,
                "values": {"x": value},
            }
            for seq, value in enumerate(reported, start=1)
        )
    )
    series = curves(driver.run_id, max_points=max_points)["series"]["x"]
    assert len(series["value"]) == max_points
    assert (max(series["max"]), min(series["min"])) == (9.0, -7.0)
    assert (series["batch"][-1], series["optimizer_step"][-1], series["at"][-1]) == (num_steps,) * 3
    assert series["batch"] == sorted(series["batch"])
    # Buckets hold nearly the same number of points each, so that the mean of means is near the mean.
    assert abs(fmean(series["value"]) - fmean(reported)) < 0.35 / max_points + 0.01


def test_sparse_and_dense_metrics_are_each_read_as_finely_as_they_can_be(driver: Any, event: Make) -> None:
    driver.send(
        *(
            event(
                step,
                "metrics",
                batch=step,
                optimizer_step=step,
                values={"dense": 1.0, **({"sparse": float(step)} if step % 100 == 0 else {})},
            )
            for step in range(1, 1001)
        )
    )
    found = curves(driver.run_id, max_points=20)
    assert found["series"]["sparse"]["value"] == [100.0 * number for number in range(1, 11)], "exact: they are few"
    assert len(found["series"]["dense"]["value"]) == 20
    assert found["stream_seq"] == 1000


def test_a_run_without_metrics_has_no_curves(driver: Any, event: Make) -> None:
    driver.send(event(1))
    assert curves(driver.run_id) == {"series": {}, "keys": [], "stream_seq": 1}
