"""Whose turn it is, over one decision and over a simulated week."""

import heapq
import random
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.fair_share import Share, Waiting, decayed_lane_hours, entitlements, in_turn

NUM_LANES = 64
projects = st.sampled_from("abcd")
shares = st.dictionaries(projects, st.builds(Share, guaranteed=st.integers(0, 30), weight=st.floats(0, 4)))
queues = st.lists(st.tuples(projects, st.integers(1, 20), st.integers(0, 2), st.floats(0, 100)), max_size=12).map(
    lambda rows: [Waiting(index, *row) for index, row in enumerate(rows)]
)


def test_entitlements_are_guarantees_and_parts_of_the_rest() -> None:
    entitled = entitlements({"a": Share(guaranteed=16, weight=1), "b": Share(weight=3)}, NUM_LANES)
    assert entitled == {"a": 16 + 12, "b": 36}


@given(shares=shares, num_lanes=st.integers(1, 512))
def test_entitlements_never_exceed_the_pool(shares: dict[str, Share], num_lanes: int) -> None:
    entitled = entitlements(shares, num_lanes)
    assert sum(entitled.values()) <= num_lanes * (1 + 1e-9)
    if any(share.weight for share in shares.values()):
        assert sum(entitled.values()) == pytest.approx(num_lanes)


def test_use_counts_half_after_a_half_life() -> None:
    long_ago = decayed_lane_hours([("a", 4, 0.0, 1e-6)], now=24.0, half_life_hours=24.0)["a"]
    now = decayed_lane_hours([("a", 4, 24.0 - 1e-6, 24.0)], now=24.0, half_life_hours=24.0)["a"]
    assert long_ago == pytest.approx(now / 2, rel=1e-6)
    assert decayed_lane_hours([("a", 4, 30.0, 40.0)], now=24.0) == {}


@given(begin=st.floats(0, 50), middle=st.floats(0, 50), end=st.floats(0, 50))
def test_use_in_two_pieces_is_use_in_one(begin: float, middle: float, end: float) -> None:
    begin, middle, end = sorted((begin, middle, end))
    whole = decayed_lane_hours([("a", 2, begin, end)], now=60.0).get("a", 0.0)
    pieces = decayed_lane_hours([("a", 2, begin, middle), ("a", 2, middle, end)], now=60.0).get("a", 0.0)
    assert pieces == pytest.approx(whole)


def test_a_project_within_its_guarantee_comes_before_one_that_borrows() -> None:
    runs = [Waiting(1, "big", 8, 0, 0.0), Waiting(2, "owner", 8, 0, 9.0)]
    order = in_turn(
        runs, held={"big": 0}, used={"owner": 900.0}, shares={"owner": Share(guaranteed=8)}, num_lanes=NUM_LANES
    )
    assert [run.project for run in order] == ["owner", "big"]


def test_priority_decides_inside_a_project_and_not_between_them() -> None:
    runs = [Waiting(1, "a", 1, 2, 0.0), Waiting(2, "a", 1, 0, 5.0), Waiting(3, "b", 1, 2, 6.0)]
    order = in_turn(runs, held={}, used={"a": 10.0}, shares={}, num_lanes=NUM_LANES)
    assert [run.run for run in order] == [3, 2, 1]


def test_a_projects_limit_stops_its_further_runs_alone() -> None:
    runs = [Waiting(1, "a", 6, 0, 0.0), Waiting(2, "a", 6, 0, 1.0), Waiting(3, "b", 6, 0, 2.0)]
    order = in_turn(runs, held={"a": 2}, used={}, shares={"a": Share(limit=8)}, num_lanes=NUM_LANES)
    assert {run.run for run in order} == {1, 3}


@given(waiting=queues, shares=shares, used=st.dictionaries(projects, st.floats(0, 1000)))
def test_every_run_has_its_turn_where_nothing_is_limited(
    waiting: list[Waiting[str, int]], shares: dict[str, Share], used: dict[str, float]
) -> None:
    order = in_turn(waiting, held={}, used=used, shares=shares, num_lanes=NUM_LANES)
    assert sorted(run.run for run in order) == sorted(run.run for run in waiting)
    shuffled = in_turn(waiting[::-1], held={}, used=used, shares=shares, num_lanes=NUM_LANES)
    assert [run.project for run in shuffled] == [run.project for run in order]


@pytest.mark.parametrize("wrong", [{"guaranteed": -1}, {"weight": -0.5}, {"guaranteed": 9, "limit": 8}])
def test_a_share_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be ≥"):
        Share(**wrong)


SHARES = {
    "vision": Share(guaranteed=24, weight=1),
    "video": Share(guaranteed=8, weight=2),
    "students": Share(weight=1),
    "late": Share(guaranteed=8, weight=1),
}
SIZES = {"vision": (1, 8), "video": (8, 24), "students": (1, 2), "late": (4, 4)}
HOURS = {"vision": (0.5, 6.0), "video": (2.0, 12.0), "students": (0.1, 1.0), "late": (1.0, 3.0)}
WEEK_HOURS = 7 * 24.0


@pytest.mark.parametrize("seed", range(6))
def test_over_a_week_projects_get_what_they_are_entitled_to_and_nobody_starves(seed: int) -> None:
    lane_hours, longest_wait = simulated_week(seed)
    entitled = entitlements(SHARES, NUM_LANES)
    gotten = [lane_hours[project] / entitled[project] for project in SHARES]
    jain = sum(gotten) ** 2 / (len(gotten) * sum(share**2 for share in gotten))
    assert jain >= 0.95, {project: round(hours) for project, hours in lane_hours.items()}
    longest_run = max(longest for _, longest in HOURS.values())
    for project in SHARES:
        # A project's next run waits until its entitlement has made up for its last one, and for lanes to come free.
        largest = SIZES[project][1] * HOURS[project][1]
        assert longest_wait[project] <= largest / entitled[project] + longest_run, project


def simulated_week(seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Lane hours by project, and the longest time for which a project's next run waited: every project always has runs
    of its sizes and lengths waiting.

    As dispatch does it, the first run in turn that does not fit bars the way.
    """
    chance = random.Random(seed)
    now, numbers, free = 0.0, iter(range(10**6)), NUM_LANES
    waiting: list[Waiting[str, int]] = []
    running: list[tuple[float, int, str, int, float]] = []
    uses: list[tuple[str, float, float, float]] = []
    held: dict[str, int] = defaultdict(int)
    longest, last_start = defaultdict[str, float](float), defaultdict[str, float](float)
    while now < WEEK_HOURS:
        for project in SHARES:
            while sum(run.project == project for run in waiting) < 3:
                waiting.append(Waiting(next(numbers), project, chance.randint(*SIZES[project]), 1, now))
        used = decayed_lane_hours(uses + [(p, n, b, now) for _, _, p, n, b in running], now)
        for run in in_turn(waiting, held=held, used=used, shares=SHARES, num_lanes=NUM_LANES):
            if run.num_lanes > free:
                break
            waiting.remove(run)
            free -= run.num_lanes
            held[run.project] += run.num_lanes
            longest[run.project] = max(longest[run.project], now - last_start[run.project])
            last_start[run.project] = now
            end = now + chance.uniform(*HOURS[run.project])
            heapq.heappush(running, (end, next(numbers), run.project, run.num_lanes, now))
        now, _, project, num_lanes, begin = heapq.heappop(running)
        free += num_lanes
        held[project] -= num_lanes
        uses.append((project, num_lanes, begin, now))
    lane_hours: dict[str, float] = defaultdict(float)
    for project, number, begin, end in uses:
        lane_hours[project] += number * (min(end, WEEK_HOURS) - begin)
    return lane_hours, longest
