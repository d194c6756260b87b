"""How long a lane may stand still in its first call of a kind: what the plan says of one, and no flat half hour."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import SpecMaker
from tests.engine.control.watched_lanes import Watched
from tests.engine.driving import bootstrap_answer
from worker.contracts.lanes import LaneWork
from worker.engine.control.unplanned_limits import LEAST_SECONDS, encoding_limit
from worker.engine.control.watch_limits import (
    COMPILING_SECONDS,
    FIRST_LIMIT_SECONDS,
    LEAST_FIRST_SECONDS,
    LEAST_LIMIT_SECONDS,
    PLANNED_CALLS,
    WatchLimits,
)
from worker.engine.devices.collective_timeout import COLLECTIVE_TIMEOUT
from worker.scheduling.core.costs import GANG, Cost, CostKind, dump_costs
from worker.scheduling.planning.workload import Workload

PLANNED = {
    ("a", CostKind.GENERATE): Cost(1.0, 20.0),
    ("b", CostKind.GENERATE): Cost(1.0, 10.0),
    ("a", CostKind.PULL): Cost(0.5),
    ("a", CostKind.LEND): Cost(40.0),
    ("a", CostKind.RECLAIM): Cost(10.0),
    (GANG, CostKind.COMMIT): Cost(60.0),
}


@pytest.fixture
def planned(client: Any, make_spec: SpecMaker, tmp_path: Path) -> Watched:
    """Of a run with a plan; a fragment holds four trajectories."""
    return Watched(client, bootstrap_answer(make_spec(), "model", tmp_path, prior_costs=dump_costs(PLANNED)))


@pytest.mark.parametrize(
    ("lane", "work", "planned_seconds"),
    [
        ("a", LaneWork.GENERATE, 81.0),
        ("b", LaneWork.GENERATE, 41.0),
        # A lane that has joined since: the longest of those that were planned.
        ("c", LaneWork.GENERATE, 81.0),
        ("a", LaneWork.SWITCH, 40.0),
        # Of all ranks together.
        ("a", LaneWork.COMMIT, 60.0),
    ],
)
def test_work_that_was_planned_has_a_multiple_of_its_planned_seconds(
    planned: Watched, lane: str, work: LaneWork, planned_seconds: float
) -> None:
    planned.lanes.call(lane, work)
    planned.wait(PLANNED_CALLS * planned_seconds - 5)
    assert not planned.hung
    planned.wait(10)
    assert f"one was planned to take {planned_seconds:.1f} s" in planned.hung[lane]


def test_short_planned_work_has_time_for_what_only_a_first_call_does(planned: Watched) -> None:
    planned.lanes.call("a", LaneWork.PULL)
    planned.wait(LEAST_FIRST_SECONDS - 5)
    assert not planned.hung
    planned.wait(10)
    assert set(planned.hung) == {"a"} and LEAST_FIRST_SECONDS < FIRST_LIMIT_SECONDS


def test_what_was_measured_decides_over_what_was_planned(planned: Watched) -> None:
    planned.measure("a", LaneWork.COMMIT, 1.0)
    planned.lanes.call("a", LaneWork.COMMIT)
    planned.wait(LEAST_LIMIT_SECONDS + 5)
    assert "its like took at most 1.0 s" in planned.hung["a"]


@pytest.mark.parametrize("storing", [LaneWork.CHECKPOINT, LaneWork.RESTORE, LaneWork.EXPORT])
def test_what_a_checkpoint_holds_decides_how_long_it_may_take(
    make_spec: SpecMaker, tmp_path: Path, storing: LaneWork
) -> None:
    """A model of twelve billion weights has its half hour and more, an adapter not."""

    def limit(**changes: Any) -> float:
        return WatchLimits.of(bootstrap_answer(make_spec(**changes), "model", tmp_path)).first_of("a", storing)

    # 16 bytes of state and 2 of weights of each of 11.9e9, at 100 MB/s; of rank 4 almost none.
    flux = {"path": "black-forest-labs/FLUX.1-dev", "family": "flux", "dtype": "bf16"}
    whole = limit(base_model=flux, tuning="full", deepspeed={"config": "zero2"})
    assert whole - LEAST_SECONDS == pytest.approx(18 * 11.9e9 / 100e6, rel=0.01)
    assert limit(base_model=flux, lora={"rank": 4, "alpha": 8.0}) - LEAST_SECONDS < 10


def test_each_prompt_of_a_request_has_its_time_on_a_slow_core_as_long_as_it_may_be(make_spec: SpecMaker) -> None:
    def seconds_of_a_text(path: str, family: str) -> float:
        work = Workload.of(make_spec(base_model={"path": path, "family": family, "dtype": "bf16"}))
        one, two = (encoding_limit(work, number, from_hub=False) for number in (1, 2))
        return two - one

    # T5-XXL and CLIP-L over 512 tokens; Qwen2.5-VL over the 512 that a prompt may have, unpadded.
    assert seconds_of_a_text("black-forest-labs/FLUX.1-dev", "flux") == pytest.approx(2 * 4.89e9 * 512 / 10e9)
    assert seconds_of_a_text("Qwen/Qwen-Image", "qwen_image") == pytest.approx(2 * 8.29e9 * 512 / 10e9)


def test_what_a_lane_loads_decides_how_long_it_may_stand_still(make_spec: SpecMaker, tmp_path: Path) -> None:
    flux = {"path": "black-forest-labs/FLUX.1-dev", "family": "flux", "dtype": "bf16"}

    def limit(path: Path | str, **changes: Any) -> float:
        return WatchLimits.of(bootstrap_answer(make_spec(**changes), str(path), tmp_path)).least_of(LaneWork.LOAD)

    # 11.9 + 4.89 + 0.08 billion parameters of two bytes, at 25 MB/s, and at 10 MB/s from the hub.
    of_folder, of_hub = limit(tmp_path, base_model=flux), limit("black-forest-labs/FLUX.1-dev", base_model=flux)
    assert of_folder - LEAST_SECONDS == pytest.approx(33.7e9 / 25e6, rel=0.01)
    assert of_hub - of_folder == pytest.approx(33.7e9 / 10e6, rel=0.01)
    tiny = limit(tmp_path)
    assert tiny < LEAST_SECONDS + 1
    # Two networks of 986 million parameters in fp32 files weigh more than a tiny model.
    assert limit(tmp_path, rewards=[{"name": "pick_score"}, {"name": "hps_v2"}]) > tiny + 2 * 986e6 * 4 / 10e6


def test_blocks_are_compiled_in_a_first_call_beside_what_was_planned(make_spec: SpecMaker, tmp_path: Path) -> None:
    spec = make_spec(performance={"compilation": "inductor"})
    limits = WatchLimits.of(bootstrap_answer(spec, "model", tmp_path, prior_costs=dump_costs(PLANNED)))
    assert limits.first_of("a", LaneWork.GENERATE) == PLANNED_CALLS * 81.0 + COMPILING_SECONDS
    assert limits.first_of("a", LaneWork.PULL) == LEAST_FIRST_SECONDS


def test_the_driver_sees_a_hang_before_torch_ends_the_ranks_that_wait(
    client: Any, make_spec: SpecMaker, tmp_path: Path
) -> None:
    """Torch's end says nothing of what the others wait in, and takes a rank that compiles for one that hangs."""
    half_an_hour = dump_costs({("a", CostKind.ACCUMULATE): Cost(0.0, 1800.0)})
    limits = WatchLimits.of(bootstrap_answer(make_spec(), "model", tmp_path, prior_costs=half_an_hour))
    longest = max(replace(limits, compiles=True).first_of("a", work) for work in LaneWork)
    assert longest > PLANNED_CALLS * 1800 > FIRST_LIMIT_SECONDS
    assert timedelta(seconds=longest) < COLLECTIVE_TIMEOUT
