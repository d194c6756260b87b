"""Who lends, and which lanes are asked back: pure decisions, whatever the pool looks like."""

from collections import Counter
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from fleet.allocation.lane_loans import lenders
from fleet.allocation.lanes_asked_back import LackingRun, LaneToReturn, asked_back
from fleet.fair_share import Share

A, B, C = (UUID(int=number) for number in range(1, 4))
HELD = st.dictionaries(st.sampled_from([A, B, C]), st.integers(0, 6))
SHARES = st.dictionaries(st.sampled_from([A, B, C]), st.builds(Share, guaranteed=st.integers(0, 6)))


@given(HELD, SHARES, st.integers(0, 6), st.integers(0, 20))
def test_nobody_lends_more_of_a_guarantee_than_is_unused(
    held: dict[UUID, int], shares: dict[UUID, Share], number: int, num_lanes: int
) -> None:
    found = lenders(A, number, num_lanes=num_lanes, held=held, shares=shares)
    assert len(found) == number
    for project, count in Counter(found).items():
        if project is not None:
            assert count <= shares[project].guaranteed - held.get(project, 0)


def test_a_projects_own_guarantee_comes_first_then_the_pools_then_the_least_used() -> None:
    shares = {A: Share(guaranteed=1), B: Share(guaranteed=3), C: Share(guaranteed=2)}
    found = lenders(A, 5, num_lanes=8, held={C: 1}, shares=shares)
    assert found == [A, None, None, B, B], "two of eight lanes are guaranteed to nobody"


RUNS = st.lists(
    st.builds(
        lambda project, gpus, cpus, is_entitled: LackingRun(
            run=uuid4(), project=project, wanted={"gpu": gpus, "cpu": cpus}, is_entitled=is_entitled
        ),
        st.sampled_from("pqr"),
        st.integers(0, 4),
        st.integers(0, 2),
        st.booleans(),
    ),
    max_size=5,
)
LANES = st.lists(
    st.builds(
        lambda kind, project, is_loan, since: LaneToReturn(
            lane=uuid4(), kind=kind, project=project, is_loan=is_loan, since=since
        ),
        st.sampled_from(["gpu", "cpu"]),
        st.sampled_from("pqr"),
        st.booleans(),
        st.floats(0, 100),
    ),
    max_size=12,
)
AVAILABLE = st.fixed_dictionaries({"gpu": st.integers(0, 4), "cpu": st.integers(0, 3)})
BEYOND = st.dictionaries(st.sampled_from("pqr"), st.integers(-3, 4))
Waiting = list[LackingRun[UUID, str, str]]
Lanes = list[LaneToReturn[UUID, str, str]]


@given(RUNS, LANES, AVAILABLE, BEYOND)
def test_as_few_lanes_are_asked_back_as_let_the_next_runs_begin(
    waiting: Waiting, lanes: Lanes, available: dict[str, int], beyond: dict[str, int]
) -> None:
    asked = asked_back(waiting, available=available, lanes=lanes, beyond=beyond)
    assert len({lane.lane for lane, _ in asked}) == len(asked), "each lane once"
    served = {run.run for _, run in asked}
    left = Counter(available)
    for run in waiting:
        for_run = [lane for lane, other in asked if other.run == run.run]
        before = Counter(left)
        left.update(lane.kind for lane in for_run)
        fits = all(left[kind] >= number for kind, number in run.wanted.items())
        if run.run in served:
            assert fits, "no lane is asked back for nothing"
            for kind in {lane.kind for lane in for_run}:
                assert left[kind] == run.wanted[kind] > before[kind], "and none that it does not lack"
        if not fits:
            assert not any(other.run == later.run for _, other in asked for later in waiting[waiting.index(run) :])
            break
        left.subtract(run.wanted)


@given(RUNS, LANES, AVAILABLE, BEYOND)
def test_only_the_entitled_get_lanes_that_are_not_lent_and_guarantees_hold(
    waiting: Waiting, lanes: Lanes, available: dict[str, int], beyond: dict[str, int]
) -> None:
    asked = asked_back(waiting, available=available, lanes=lanes, beyond=beyond)
    taken = [(lane, run) for lane, run in asked if not lane.is_loan]
    assert all(run.is_entitled and lane.project != run.project for lane, run in taken)
    assert all(
        number <= max(0, beyond.get(project, 0))
        for project, number in Counter(lane.project for lane, _ in taken).items()
    )


def test_the_newest_loans_go_first_and_lanes_beyond_a_guarantee_last() -> None:
    def lane(name: str, is_loan: bool, since: float) -> LaneToReturn[str, str, str]:
        return LaneToReturn(lane=name, kind="gpu", project="p", is_loan=is_loan, since=since)

    lanes = [lane("own", False, 9.0), lane("old", True, 1.0), lane("new", True, 5.0)]
    entitled = LackingRun(run="r", project="q", wanted={"gpu": 3}, is_entitled=True)
    found = asked_back([entitled], available={"gpu": 0}, lanes=lanes, beyond={"p": 1})
    assert [each.lane for each, _ in found] == ["new", "old", "own"]
    other = LackingRun(run="r", project="q", wanted={"gpu": 2}, is_entitled=False)
    found = asked_back([other], available={"gpu": 1}, lanes=lanes, beyond={"p": 1})
    assert [each.lane for each, _ in found] == ["new"]
