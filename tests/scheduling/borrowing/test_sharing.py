"""Idle lanes divided among runs: within every limit, to those who gain most, and none for nothing."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from worker.scheduling.borrowing.sharing import Loan, Offer, share

KINDS = ("gpu", "cpu")
GAINS = st.dictionaries(st.integers(1, 6), st.floats(-50, 100), max_size=5)
OFFERS = st.lists(
    st.builds(
        lambda run, kind, gains, number: Offer(run=run, what=number, gains=gains, limits=(kind, f"of {run}")),
        st.sampled_from("abcd"),
        st.sampled_from(KINDS),
        GAINS,
        st.integers(),
    ),
    max_size=8,
)
LIMITS = st.fixed_dictionaries({name: st.integers(0, 8) for name in (*KINDS, *(f"of {run}" for run in "abcd"))})


@given(OFFERS, LIMITS)
def test_no_limit_is_exceeded_and_a_run_borrows_one_thing_that_gains(
    offers: list[Offer[str, int]], limits: dict[object, int]
) -> None:
    loans = share(offers, limits)
    used = Counter[object]()
    for loan in loans:
        assert loan.num_lanes in loan.offer.gains
        assert loan.gain > 0
        for limit in loan.offer.limits:
            used[limit] += loan.num_lanes
    assert all(used[limit] <= limits[limit] for limit in used)
    assert len({loan.offer.run for loan in loans}) == len(loans)
    assert loans == share(offers, limits)


@given(OFFERS, LIMITS)
def test_no_lane_stays_idle_that_would_gain_something(offers: list[Offer[str, int]], limits: dict[object, int]) -> None:
    loans = share(offers, limits)
    left = Counter(limits)
    for loan in loans:
        left.subtract(dict.fromkeys(loan.offer.limits, loan.num_lanes))
    borrowers = {loan.offer.run for loan in loans}
    for offer in offers:
        if offer.run not in borrowers:
            room = min(left[limit] for limit in offer.limits)
            assert not any(number <= room and gain > 0 for number, gain in offer.gains.items())


def lanes(loans: list[Loan[str, str]]) -> dict[str, int]:
    return {loan.offer.run: loan.num_lanes for loan in loans}


def offer(run: str, gains: dict[int, float], what: str = "rollout") -> Offer[str, str]:
    return Offer(run=run, what=what, gains=gains, limits=("gpu",))


def test_lanes_go_where_each_gains_most() -> None:
    both = [offer("a", {1: 10.0, 2: 12.0}), offer("b", {1: 8.0, 2: 15.0})]
    assert lanes(share(both, {"gpu": 2})) == {"a": 1, "b": 1}
    assert lanes(share(both, {"gpu": 3})) == {"a": 1, "b": 2}
    assert lanes(share(both, {"gpu": 9})) == {"a": 2, "b": 2}


def test_two_lanes_are_lent_together_where_one_alone_gains_nothing() -> None:
    assert lanes(share([offer("a", {1: -5.0, 2: 30.0}), offer("b", {1: 10.0})], {"gpu": 2})) == {"a": 2}


def test_the_fewest_lanes_are_lent_that_gain_as_much() -> None:
    assert lanes(share([offer("a", {1: 4.0, 2: 8.0, 3: 8.0})], {"gpu": 3})) == {"a": 2}
