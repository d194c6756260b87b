"""Lanes by role and state over time: bounded in number, exact at any length of the buckets."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from telemetry.timeline.bubbles import bubbles
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
        expected = bubbles(driver.run_id, start=start, end=start + 20)["by_role"].get("rollout", {})
        transaction.set_rollback(True)
    (role,) = states["roles"]
    for numbers in role["states"].values():
        assert len(numbers) == buckets
        assert all(-1e-3 <= number <= len(lives) for number in numbers)
    summed = {kind: sum(numbers) * states["bucket_seconds"] for kind, numbers in role["states"].items()}
    # Each number is rounded to a thousandth of a lane.
    assert summed == pytest.approx(expected, abs=20 * 0.0006)


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
