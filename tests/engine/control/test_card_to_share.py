"""Which card a reward lane shares, among lanes on one node and on others."""

import pytest

from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ClusterLanes, LaneHandle
from worker.engine.control.shared_cards import card_to_share


def lane(name: str, role: LaneRole, node: str = "a", gpus: tuple[int, ...] = (0,)) -> LaneGrant:
    return LaneGrant(lane=name, role=role, node=node, gpus=gpus)


REWARD = lane("reward-0", LaneRole.REWARD, gpus=())
TRAINER = lane("trainer-0", LaneRole.TRAINER)
FIRST, SECOND = lane("rollout-0", LaneRole.ROLLOUT), lane("rollout-1", LaneRole.ROLLOUT)
ELSEWHERE = lane("rollout-2", LaneRole.ROLLOUT, node="b")
ON_CPU = lane("rollout-3", LaneRole.ROLLOUT, gpus=())


def shared(*grants: LaneGrant, taken: tuple[str, ...] = ()) -> str | None:
    card = card_to_share(REWARD, grants, taken)
    return None if card is None else card.lane


def test_a_lane_that_generates_comes_before_one_that_trains() -> None:
    assert shared(TRAINER, FIRST) == "rollout-0"
    assert shared(TRAINER) == "trainer-0"


def test_a_card_of_another_node_and_a_cpu_are_not_shared() -> None:
    assert shared(ELSEWHERE, ON_CPU) is None


@pytest.mark.parametrize(
    ("taken", "expected"), [((), "rollout-0"), (("rollout-0",), "rollout-1"), (("rollout-0", "rollout-1"), None)]
)
def test_no_card_is_shared_by_two(taken: tuple[str, ...], expected: str | None) -> None:
    assert shared(FIRST, SECOND, ELSEWHERE, taken=taken) == expected


def test_a_lane_of_the_runs_own_comes_before_a_borrowed_one() -> None:
    assert shared(FIRST.model_copy(update={"is_borrowed": True}), SECOND) == "rollout-1"


@pytest.mark.parametrize(("shares", "expected"), [("rollout-0", 4), ("rollout-1", 1), (None, 1)])
def test_a_reward_lane_knows_how_wide_the_lane_is_whose_card_it_shares(shares: str | None, expected: int) -> None:
    wide = lane("rollout-0", LaneRole.ROLLOUT, gpus=(0, 1, 2, 3))
    lanes = ClusterLanes([REWARD, wide, SECOND], DriverClock(), shares_cards=True)
    lanes._handles = {
        name: LaneHandle(None, None, shares=shares if name == REWARD.lane else None)
        for name in ("reward-0", "rollout-0", "rollout-1")
    }
    assert lanes.num_gpus_beside("reward-0") == expected
    assert lanes.num_gpus("reward-0") == 1, "it computes on the first of them"
