"""Columns of the staleness heat map: bounded in number, and no trajectory lost or counted twice."""

from collections.abc import Callable
from typing import Any

import pytest

from telemetry.curves.staleness_columns import staleness_columns

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db
NUM_BATCHES = 103


def column(batch: int, counts: dict[str, int]) -> dict[str, Any]:
    return {"first_batch": batch, "last_batch": batch, "num_batches": 1, "counts": counts}


@pytest.fixture
def long_run(driver: Any, event: Make) -> Any:
    """103 batches of four trajectories, of which every third batch has one that is stale."""
    events = (
        event(batch, "staleness", batch=batch, counts={0: 3, 1: 1} if batch % 3 == 0 else {0: 4})
        for batch in range(1, NUM_BATCHES + 1)
    )
    driver.send(*events)
    return driver


def test_few_batches_have_a_column_each(driver: Any, event: Make) -> None:
    driver.send(event(1, "staleness", batch=1, counts={0: 4}), event(2, "staleness", batch=2, counts={0: 1, 1: 3}))
    answer = staleness_columns(driver.run_id, max_columns=2)
    assert answer == {"columns": [column(1, {"0": 4}), column(2, {"0": 1, "1": 3})], "stream_seq": 2}


@pytest.mark.parametrize("max_columns", [1, 2, 10, 50, 102, 103, 2000])
def test_any_number_of_columns_holds_every_trajectory_once(long_run: Any, max_columns: int) -> None:
    columns = staleness_columns(long_run.run_id, max_columns=max_columns)["columns"]
    assert 0 < len(columns) <= max_columns
    covered = [range(one["first_batch"], one["last_batch"] + 1) for one in columns]
    assert [batch for batches in covered for batch in batches] == list(range(1, NUM_BATCHES + 1))
    assert [one["num_batches"] for one in columns] == [len(batches) for batches in covered]
    assert sum(one["counts"].get("1", 0) for one in columns) == NUM_BATCHES // 3
    assert sum(sum(one["counts"].values()) for one in columns) == 4 * NUM_BATCHES


def test_a_window_is_as_fine_as_it_is_narrow(long_run: Any) -> None:
    columns = staleness_columns(long_run.run_id, max_columns=10, from_batch=21, to_batch=30)["columns"]
    assert [one["first_batch"] for one in columns] == list(range(21, 31))
    assert columns[0] == column(21, {"0": 3, "1": 1})


def test_batches_behind_which_a_resume_went_back_are_left_out(driver: Any, event: Make, next_attempt: Any) -> None:
    driver.send(*(event(batch, "staleness", batch=batch, counts={0: 4}) for batch in (1, 2, 3)))
    newer = next_attempt(driver.run, 2)
    newer.send(
        event(1, "resumed", batch=1, policy_version=1, optimizer_step=1),
        event(2, "staleness", batch=2, counts={0: 1, 1: 3}),
    )
    columns = staleness_columns(driver.run_id, max_columns=100)["columns"]
    assert columns == [column(1, {"0": 4}), column(2, {"0": 1, "1": 3})]


def test_a_run_that_has_not_trained_has_no_columns(driver: Any) -> None:
    assert staleness_columns(driver.run_id, max_columns=10) == {"columns": [], "stream_seq": 0}
