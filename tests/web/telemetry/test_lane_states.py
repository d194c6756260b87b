"""Lanes by role and state over time: bounded in number, exact at any length of the buckets."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from telemetry.models import LaneStateRollup
from telemetry.timeline.bubbles import bubbles
from telemetry.timeline.lane_state_rollups import BASE_SECONDS, MAX_STRETCH_SECONDS, grid_over, stored_states
from telemetry.timeline.lane_states import lane_states

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db
KINDS = ["generate", "train", "decode", "lent_generate"]


def test_a_bucket_has_the_mean_number_of_lanes_in_each_state(driver: Any, spans: Make) -> None:
    driver.send(
        spans(1, ("rollout-0", "generate", 0, 10)),
        spans(2, ("rollout-1", "generate", 0, 4), ("rollout-1", "idle", 4, 10, "drain")),
        spans(3, ("trainer-0", "train", 5, 10)),
    )
    assert lane_states(driver.run_id, buckets=5) == {
        "start": 0.0,
        "bucket_seconds": 2.0,
        "num_buckets": 5,
        "roles": [
            {
                "role": "rollout",
                "num_lanes": 2,
                "states": {"generate": [2.0, 2.0, 1.0, 1.0, 1.0], "idle": [0.0, 0.0, 1.0, 1.0, 1.0]},
            },
            {"role": "trainer", "num_lanes": 1, "states": {"train": [0.0, 0.0, 0.5, 1.0, 1.0]}},
        ],
        "stream_seq": 3,
    }


def test_a_lane_counts_in_the_role_that_it_was_placed_in(driver: Any, event: Make, spans: Make) -> None:
    placed = {"lane": "rollout-0", "role": "trainer", "node": "n", "device": "0", "pid": 1, "uuids": []}
    driver.send(event(1, "lanes", lanes=[placed], algebra=driver.run.algebra), spans(2, ("rollout-0", "train", 0, 10)))
    assert [one["role"] for one in lane_states(driver.run_id)["roles"]] == ["trainer"]


@given(
    lives=st.lists(st.lists(st.floats(0.01, 50), min_size=1, max_size=8), min_size=1, max_size=5),
    start=st.floats(0, 60),
    buckets=st.integers(1, 40),
    data=st.data(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
def test_states_sum_to_the_lane_time_of_any_window(
    driver: Any, spans: Make, lives: list[list[float]], start: float, buckets: int, data: st.DataObject
) -> None:
    rows = []
    for number, durations in enumerate(lives):
        at = 0.0
        for seconds in durations:
            rows.append((f"rollout-{number}", data.draw(st.sampled_from(KINDS)), at, at + seconds))
            at += seconds
    with transaction.atomic():
        driver.send(spans(1, *rows))
        states = lane_states(driver.run_id, start=start, end=start + 20, buckets=buckets)
        first, seconds, number = states["start"], states["bucket_seconds"], states["num_buckets"]
        past = first + seconds * number
        expected = bubbles(driver.run_id, start=first, end=past)["by_role"].get("rollout", {})
        transaction.set_rollback(True)
    assert number <= buckets
    assert first <= start and past >= start + 20 - 1e-9
    (role,) = states["roles"]
    for numbers in role["states"].values():
        assert len(numbers) == number
        assert all(-1e-3 <= lanes <= len(lives) for lanes in numbers)
    summed = {kind: sum(numbers) * seconds for kind, numbers in role["states"].items()}
    # Each number is rounded to a thousandth of a lane.
    assert summed == pytest.approx(expected, abs=(past - first) * 0.0006)


@given(
    parts=st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.floats(0, 4000), st.floats(0.001, 900)), max_size=6), max_size=4
    ),
    start=st.floats(0, 3000),
    length=st.floats(100, 4000),
    buckets=st.integers(1, 60),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
def test_stored_buckets_are_what_their_spans_sum_to_however_they_came(
    driver: Any,
    spans: Make,
    parts: list[list[tuple[int, float, float]]],
    start: float,
    length: float,
    buckets: int,
) -> None:
    grid = grid_over(start, start + length, buckets)
    assume(grid is not None)
    assert grid is not None
    with transaction.atomic():
        for seq, rows in enumerate(filter(None, parts), start=1):
            driver.send(spans(seq, *((f"rollout-{lane}", KINDS[lane], at, at + long) for lane, at, long in rows)))
        stored = stored_states(driver.run_id, grid)
        transaction.set_rollback(True)
    for bucket in range(grid.number):
        first = grid.start + bucket * grid.seconds
        inside: dict[str, float] = defaultdict(float)
        for lane, at, long in (row for rows in parts for row in rows):
            inside[KINDS[lane]] += max(0.0, min(at + long, first + grid.seconds) - max(at, first))
        found = {kind: seconds[bucket] for (_, kind), seconds in stored.items()}
        assert found == pytest.approx({kind: inside[kind] for kind in found}, abs=1e-6)
        assert sum(found.values()) == pytest.approx(sum(inside.values()), abs=1e-6)


@given(start=st.floats(0, 2e9), length=st.floats(0.001, 1e8), buckets=st.integers(1, 2000))
def test_a_grid_covers_its_window_with_at_most_as_many_buckets_as_asked_for(
    start: float, length: float, buckets: int
) -> None:
    grid = grid_over(start, start + length, buckets)
    if grid is None:
        assert length / buckets < BASE_SECONDS
        return
    assert grid.number <= buckets
    assert grid.start <= start and grid.start + grid.number * grid.seconds >= start + length
    # A stored bucket is at most as long as asked for up to the longest, and the window touches one more than it holds.
    stored = grid.seconds / grid.merged
    assert grid.seconds <= 2 * (length + 2 * stored) / buckets + stored


def test_a_lane_counts_in_the_role_that_it_had_then(driver: Any, event: Make, spans: Make) -> None:
    def placed(seq: int, role: str) -> dict[str, Any]:
        lane = {"lane": "rollout-0", "role": role, "node": "n", "device": "0", "pid": 1, "uuids": []}
        return event(seq, "lanes", lanes=[lane], algebra=driver.run.algebra)

    driver.send(placed(1, "rollout"), spans(2, ("rollout-0", "generate", 0, 512)))
    driver.send(placed(3, "trainer"), spans(4, ("rollout-0", "train", 512, 1024)))
    stored, summed = lane_states(driver.run_id, buckets=2), lane_states(driver.run_id, start=511, end=513, buckets=2)
    for answer in (stored, summed):
        roles = {one["role"]: one["states"] for one in answer["roles"]}
        assert roles == {"rollout": {"generate": [1.0, 0.0]}, "trainer": {"train": [0.0, 1.0]}}


def test_a_span_that_never_seems_to_end_fills_no_more_than_a_day_of_buckets(driver: Any, spans: Make) -> None:
    driver.send(spans(1, ("rollout-0", "generate", 0, 1e9)))
    assert LaneStateRollup.objects.filter(level=0).count() == MAX_STRETCH_SECONDS / BASE_SECONDS


def test_64_lanes_come_in_one_row_a_role(driver: Any, spans: Make) -> None:
    lanes = [*(f"rollout-{number}" for number in range(48)), *(f"trainer-{number}" for number in range(16))]
    driver.send(spans(1, *((lane, "generate" if "rollout" in lane else "train", 0, 100) for lane in lanes)))
    roles = lane_states(driver.run_id, buckets=50)["roles"]
    assert [(one["role"], one["num_lanes"]) for one in roles] == [("rollout", 48), ("trainer", 16)]
    assert [one["states"] for one in roles] == [{"generate": [48.0] * 50}, {"train": [16.0] * 50}]


def test_a_run_without_spans_has_no_states(driver: Any) -> None:
    empty = lane_states(driver.run_id)
    assert (empty["roles"], empty["num_buckets"]) == ([], 0)
    assert lane_states(driver.run_id, start=20.0, end=10.0)["num_buckets"] == 0
