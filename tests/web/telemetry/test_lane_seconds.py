"""Seconds of a unit of work by lane: which lane, and which trainer rank, is slower than its peers."""

from collections.abc import Callable
from typing import Any

import pytest

from telemetry.timeline.lane_seconds import WorkSeconds, lane_seconds
from worker.contracts.lanes import LaneInfo
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost, dump_costs

pytestmark = pytest.mark.django_db
Make = Callable[..., dict[str, Any]]
TRAIN = CostKind.ACCUMULATE


@pytest.fixture
def placed(event: Make, make_spec: Callable[..., RunSpec]) -> Callable[..., dict[str, Any]]:
    """`placed(seq, lane, …)`: these lanes, all on one model of card."""

    def make(seq: int, *lanes: str) -> dict[str, Any]:
        infos = [LaneInfo(lane=lane, role=lane.partition("-")[0], node="n", device="H100", pid=1) for lane in lanes]
        algebra = make_spec().algebra.model_dump(mode="json")
        return event(seq, "lanes", lanes=[info.model_dump(mode="json") for info in infos], algebra=algebra)

    return make


@pytest.fixture
def costs(event: Make) -> Callable[..., dict[str, Any]]:
    """`costs(seq, {(lane, kind): seconds of a unit}, units=4, error=0.01)`, measured in `seq` batches."""

    def make(
        seq: int, seconds: dict[tuple[str, CostKind], float], units: int = 4, error: float = 0.01
    ) -> dict[str, Any]:
        table = {key: MeasuredCost(Cost(0.0, each), units, units, error) for key, each in seconds.items()}
        return event(seq, "costs", batch=seq, costs=[cost.model_dump(mode="json") for cost in dump_costs(table)])

    return make


def of_lane(driver: Any, lane: str) -> WorkSeconds:
    return next(row for row in lane_seconds(driver.run_id)["seconds"] if row["lane"] == lane)


def test_each_rank_has_its_seconds_of_a_micro_batch_and_the_slow_one_is_marked(
    driver: Any, placed: Make, costs: Make
) -> None:
    ranks = {"trainer-0": 1.0, "trainer-1": 1.02, "trainer-2": 2.0}
    driver.send(placed(1, *ranks), costs(2, {(lane, TRAIN): each for lane, each in ranks.items()}))
    answer = lane_seconds(driver.run_id)
    assert answer["num_batches"] == 2
    assert {row["lane"]: row["seconds"] for row in answer["seconds"]} == ranks
    assert [row["lane"] for row in answer["seconds"] if row["is_slow"]] == ["trainer-2"]
    slow = of_lane(driver, "trainer-2")
    assert (slow["work"], slow["num_units"], slow["num_peers"]) == ("accumulate", 4, 3)
    assert slow["times_peers"] == pytest.approx(2.0 / 1.02)


def test_of_two_ranks_both_have_their_seconds_and_none_is_judged(driver: Any, placed: Make, costs: Make) -> None:
    driver.send(placed(1, "trainer-0", "trainer-1"), costs(2, {("trainer-0", TRAIN): 1.0, ("trainer-1", TRAIN): 3.0}))
    slower = of_lane(driver, "trainer-1")
    assert (slower["seconds"], slower["times_peers"], slower["num_peers"], slower["is_slow"]) == (3.0, None, 0, False)


def test_ranks_in_step_have_the_seconds_of_their_gang(driver: Any, placed: Make, costs: Make) -> None:
    driver.send(placed(1, "trainer-0", "trainer-1"), costs(2, {(GANG, TRAIN): 1.5}))
    assert [(row["lane"], row["seconds"]) for row in lane_seconds(driver.run_id)["seconds"]] == [(GANG, 1.5)]


def test_a_lane_that_has_left_is_no_longer_listed(driver: Any, placed: Make, costs: Make) -> None:
    both = {("rollout-0", CostKind.GENERATE): 1.0, ("rollout-1", CostKind.GENERATE): 1.0}
    driver.send(placed(1, "rollout-0", "rollout-1"), costs(2, both), placed(3, "rollout-1"))
    assert [row["lane"] for row in lane_seconds(driver.run_id)["seconds"]] == ["rollout-1"]


def test_a_run_that_has_measured_nothing_has_no_seconds(driver: Any) -> None:
    assert lane_seconds(driver.run_id) == {"num_batches": 0, "seconds": []}
