"""The nearest smaller size of a request for lanes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.lane_demand import shrunk
from worker.contracts.names import LaneRole

wanted = st.fixed_dictionaries({role: st.integers(0, 40) for role in LaneRole}).filter(lambda of: any(of.values()))


@given(wanted=wanted, data=st.data())
def test_a_smaller_size_keeps_every_role_and_goes_beyond_none(wanted: dict[LaneRole, int], data: st.DataObject) -> None:
    fewest = sum(number > 0 for number in wanted.values())
    num_lanes = data.draw(st.integers(fewest, sum(wanted.values())))
    found = shrunk(wanted, num_lanes)
    assert sum(found.values()) == num_lanes
    assert all(min(number, 1) <= found[role] <= number for role, number in wanted.items())


def test_the_proportion_is_kept_as_far_as_whole_lanes_go() -> None:
    assert list(shrunk({LaneRole.ROLLOUT: 6, LaneRole.TRAINER: 3}, 6).values()) == [4, 2]
    assert list(shrunk({LaneRole.ROLLOUT: 60, LaneRole.TRAINER: 1, LaneRole.REWARD: 1}, 6).values()) == [4, 1, 1]


def test_sizes_without_a_lane_for_each_role_are_refused() -> None:
    with pytest.raises(ValueError, match="between 2 and 9"):
        shrunk({LaneRole.ROLLOUT: 6, LaneRole.TRAINER: 3}, 1)
