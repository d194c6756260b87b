"""Elastic bounds hold the lanes that a run begins with, and say so where they do not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from worker.contracts.names import LaneRole, Priority
from worker.contracts.run_spec import RunSpec

counts = st.integers(1, 9)


def spec(**sections: Any) -> RunSpec:
    document = {
        "prompts": {"inline": ["a"]},
        "rewards": [{"name": "shape_match"}],
        "batch": {"num_prompts_per_batch": 1},
        **sections,
    }
    return RunSpec.model_validate(document)


def test_without_bounds_a_run_keeps_the_lanes_it_began_with() -> None:
    made = spec(lanes={"num_rollout": 3, "num_trainer": 2})
    assert [made.elastic.bounds(role, 3) for role in LaneRole] == [(3, 3)] * 3


@given(num=counts, low=st.none() | counts, high=st.none() | counts, role=st.sampled_from(LaneRole))
def test_bounds_are_accepted_exactly_where_they_hold_the_lanes(
    num: int, low: int | None, high: int | None, role: LaneRole
) -> None:
    document = {"lanes": {f"num_{role}": num}, "elastic": {f"min_{role}": low, f"max_{role}": high}}
    if (low or num) <= num <= (high or num):
        assert spec(**document).elastic.bounds(role, num) == (low or num, high or num)
    else:
        with pytest.raises(
            ValidationError, match=rf"`elastic.(min|max)_{role}` must be . `lanes.num_{role}` \({num}\)"
        ):
            spec(**document)


def test_priorities_rank_from_high_to_low_and_a_run_is_normal_by_default() -> None:
    assert [priority.rank for priority in (Priority.HIGH, Priority.NORMAL, Priority.LOW)] == [0, 1, 2]
    assert spec().priority is Priority.NORMAL
