from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from worker.contracts.commands import CommandKind, RunCommand
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole, Placement
from worker.contracts.resizing import Resize, RoleChange, resize_problems

names = st.sampled_from([f"lane-{number}" for number in range(6)])
roles_of_runs = st.dictionaries(names, st.sampled_from(LaneRole))
resizes = st.builds(
    Resize,
    add=st.lists(
        st.builds(LaneGrant, lane=st.sampled_from(["lane-1", "new-1", "new-2"]), role=..., node=st.just("local")),
        max_size=2,
        unique_by=lambda grant: grant.lane,
    ).map(tuple),
    release=st.lists(names, max_size=3).map(tuple),
    change=st.lists(st.builds(RoleChange, lane=names, role=...), max_size=3).map(tuple),
)


@given(resize=resizes, roles=roles_of_runs, placement=st.sampled_from([Placement.COLOCATED, Placement.DISAGGREGATED]))
def test_a_resize_without_problems_leaves_a_run_that_can_work_and_loses_no_lane(
    resize: Resize, roles: dict[str, LaneRole], placement: Placement
) -> None:
    if any(resize_problems(resize, roles, placement)):
        return
    after = resize.roles_after(roles)
    counts = Counter(after.values())
    assert counts[LaneRole.TRAINER] and counts[LaneRole.REWARD]
    assert bool(counts[LaneRole.ROLLOUT]) is (placement is not Placement.COLOCATED)
    assert len(after) == len(roles) + len(resize.add) - len(resize.release)
    changed = {lane for lane, role in after.items() if roles.get(lane) is not role}
    assert changed == {change.lane for change in resize.change} | {grant.lane for grant in resize.add}


def test_a_lane_that_is_another_already_is_not_added() -> None:
    roles = {"rollout-0": LaneRole.ROLLOUT, "trainer-0": LaneRole.TRAINER, "reward-0": LaneRole.REWARD}
    again = Resize(add=(LaneGrant(lane="rollout-0", role=LaneRole.ROLLOUT, node="local"),))
    (problem,) = resize_problems(again, roles, Placement.DISAGGREGATED)
    assert problem == "`rollout-0` must be new to the run, got a lane that it has"


def test_only_the_command_to_resize_carries_a_resize() -> None:
    assert RunCommand(id="1", kind=CommandKind.RESIZE, resize=Resize(release=("rollout-0",))).resize is not None
    with pytest.raises(ValidationError, match="must be given for the kind `resize` alone, got none for resize"):
        RunCommand(id="1", kind=CommandKind.RESIZE)
    with pytest.raises(ValidationError, match="got one for pause"):
        RunCommand(id="1", kind=CommandKind.PAUSE, resize=Resize())
