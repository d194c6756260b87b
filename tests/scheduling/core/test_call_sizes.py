"""Calls of several fragments: short fragments share a call, long ones and those of deterministic runs do not."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from tests.scheduling.random_executor import RandomExecutor, answer
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import algebra_of
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.sections import SamplingSpec
from worker.scheduling.core.costs import Cost, CostKind, CostTable
from worker.scheduling.core.messages import Generate, LaneJoined, LaneLost
from worker.scheduling.core.scheduler import Scheduler

NINE_SHORT = algebra_of(groups_per_minibatch=9, fragments=(1, 2), num_trajectories_per_call=8)
"""Nine fragments of two; a call may have four."""


def generating(
    seconds: float | None, *, algebra: BatchAlgebra = NINE_SHORT, num_rollout: int = 1, **switches: Any
) -> Scheduler:
    """A scheduler whose rollout lanes have joined; `seconds` is the known cost of a trajectory."""
    lanes = [f"g{index}" for index in range(num_rollout)]
    prior = {} if seconds is None else {(lane, CostKind.GENERATE): Cost(0.0, seconds) for lane in lanes}
    return started(algebra, lanes, LaneRole.ROLLOUT, prior, **switches)


def started(
    algebra: BatchAlgebra, lanes: Sequence[str], role: LaneRole, prior: CostTable, **switches: Any
) -> Scheduler:
    """A scheduler of one batch whose `lanes` have joined in one role."""
    settings = Settings(algebra=algebra, version_of_batch_0=0, num_batches=1, **switches)
    scheduler = settings.scheduler(prior=prior)
    for lane in lanes:
        scheduler.apply(LaneJoined(lane, role, 0), 0.0)
    return scheduler


def sizes_of_calls(scheduler: Scheduler, seconds: float) -> list[int]:
    """The number of fragments of each call, if lanes take `seconds` for each fragment and answer in turn."""
    sizes, under_way = list[int](), list[Generate]()
    for at in count():
        under_way += [action for action in scheduler.next_actions(float(at)) if isinstance(action, Generate)]
        if not under_way:
            return sizes
        call = under_way.pop(0)
        sizes.append(len(call.fragments))
        scheduler.apply(answer(call), at + seconds * len(call.fragments))
    raise AssertionError("unreachable")


def test_a_single_lane_takes_short_fragments_in_even_calls() -> None:
    assert sizes_of_calls(generating(0.01), 0.02) == [3, 3, 3]


def test_a_call_holds_no_more_trajectories_than_the_algebra_allows() -> None:
    few = NINE_SHORT.model_copy(update={"num_trajectories_per_call": 5})
    assert max(sizes_of_calls(generating(0.01, algebra=few), 0.02)) == 2


def test_a_single_lanes_larger_calls_come_last() -> None:
    many = NINE_SHORT.model_copy(update={"num_trajectories_per_call": 12})
    assert sizes_of_calls(generating(0.01, algebra=many), 0.02) == [4, 5]


def test_long_fragments_are_generated_one_by_one() -> None:
    assert sizes_of_calls(generating(1.0), 2.0) == [1] * 9


def test_a_deterministic_run_generates_one_fragment_a_call() -> None:
    assert sizes_of_calls(generating(0.01, deterministic=True), 0.02) == [1] * 9


def test_a_lane_of_unknown_cost_begins_with_one_fragment() -> None:
    sizes = sizes_of_calls(generating(None), 0.02)
    assert sizes[0] == 1 and max(sizes) == 4 and sum(sizes) == 9


def test_several_lanes_take_half_of_their_share_at_most() -> None:
    sizes = sizes_of_calls(generating(0.01, num_rollout=2), 0.02)
    assert sizes == [2, 1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("most", "seconds", "expected"),
    [
        (4, (0.01, 0.01), ([3, 2], [3, 1])),
        (4, (0.01, 0.03), ([4, 3], [2])),
        (4, (0.01, None), ([2, 1], [1, 1])),
        (6, (0.01, 0.01), ([5], [4])),
        # Calls of 2 s: a share of 5 fragments of 0.36 s fits into one, and one of 0.42 s is cut in two.
        (6, (0.18, 0.18), ([5], [4])),
        (6, (0.21, 0.21), ([3, 2], [3, 1])),
    ],
    ids=str,
)
def test_lanes_that_wait_for_the_last_fragment_take_their_share_in_few_calls(
    most: int, seconds: tuple[float | None, ...], expected: tuple[list[int], ...]
) -> None:
    lanes = ("t0", "t1")
    known = {lane: each for lane, each in zip(lanes, seconds, strict=True) if each is not None}
    prior = {(lane, CostKind.GENERATE): Cost(0.0, each) for lane, each in known.items()}
    algebra = NINE_SHORT.model_copy(update={"num_trajectories_per_call": 2 * most})
    scheduler = started(algebra, lanes, LaneRole.TRAINER, prior, placement=Placement.COLOCATED)
    sizes: dict[str, list[int]] = {lane: [] for lane in lanes}
    ends: list[tuple[float, Generate]] = []
    at = 0.0
    while True:
        actions = list(scheduler.next_actions(at))
        for action in actions:
            if isinstance(action, Generate):
                sizes[action.lane].append(len(action.fragments))
                ends.append((at + 2 * known.get(action.lane, 0.02) * len(action.fragments), action))
            else:
                scheduler.apply(answer(action), at)
        if not actions:
            if not ends:
                break
            at, call = ends.pop(ends.index(min(ends, key=lambda end: end[0])))
            scheduler.apply(answer(call), at)
    assert tuple(sizes[lane][: len(each)] for lane, each in zip(lanes, expected, strict=True)) == expected
    assert sum(map(sum, sizes.values())) == 9


def test_all_fragments_of_a_lost_lanes_call_are_generated_again() -> None:
    scheduler = generating(0.01)
    (call,) = [action for action in scheduler.next_actions(0.0) if isinstance(action, Generate)]
    assert len(call.fragments) == 3
    scheduler.apply(LaneLost("g0"), 1.0)
    scheduler.apply(LaneJoined("g0", LaneRole.ROLLOUT, 0), 2.0)
    (again,) = [action for action in scheduler.next_actions(2.0) if isinstance(action, Generate)]
    assert again.fragments == call.fragments


def test_the_seconds_of_a_call_are_shared_out_over_its_fragments() -> None:
    scheduler = generating(0.01)
    (call,) = [action for action in scheduler.next_actions(0.0) if isinstance(action, Generate)]
    scheduler.apply(answer(call), 0.3)
    assert scheduler.state.costs.seconds("g0", CostKind.GENERATE, 2) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("side", "num_frames", "expected"), [(32, 1, 96), (256, 1, 1), (64, 4, 6), (512, 1, 1)], ids=str
)
def test_calls_of_several_fragments_have_the_pixels_of_one_small_picture(
    side: int, num_frames: int, expected: int
) -> None:
    sampling = SamplingSpec(height=side, width=side, num_frames=num_frames)
    assert BatchAlgebra.resolve(BatchSpec(), sampling).num_trajectories_per_call == expected


@pytest.mark.parametrize(
    "switches",
    [{}, {"max_staleness": 1}, {"placement": Placement.COLOCATED, "num_rollout": 0}, {"tag": TrainerAssist.GREEDY}],
    ids=str,
)
def test_shared_calls_occur_in_random_runs_of_every_placement(switches: dict[str, Any]) -> None:
    algebra = algebra_of(groups_per_minibatch=8, fragments=(2, 2), num_trajectories_per_call=8)
    runs = [RandomExecutor(Settings(algebra=algebra, **switches), seed).run() for seed in range(10)]
    assert sum(run.checker.num_shared_calls for run in runs) > 0
