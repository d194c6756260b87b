"""Reservations and backfill: whoever starts ahead of others delays none of them, over whole simulated queues."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.allocation.bands import Band, Outlook, spanning
from fleet.allocation.reservations import Admission, Demand, Holding, Profile, start_bands
from tests.slow_params import examples

POOL = {"gpu": 8, "cpu": 4}


def exactly(seconds: float) -> Band:
    return Band(seconds, seconds, seconds)


@dataclass(frozen=True)
class Job:
    """A run of a simulated queue, which holds its lanes for just `seconds`."""

    run: int
    lanes: dict[str, int]
    seconds: int
    is_forecast: bool = True

    @property
    def demand(self) -> Demand[int]:
        return Demand(self.run, self.lanes, exactly(self.seconds) if self.is_forecast else None)


lanes = st.fixed_dictionaries({"gpu": st.integers(0, 8), "cpu": st.integers(0, 4)}).filter(lambda of: any(of.values()))
jobs = st.lists(st.tuples(lanes, st.integers(1, 20)), min_size=1, max_size=12).map(
    lambda rows: [Job(number, *row) for number, row in enumerate(rows)]
)
Decide = Callable[[Sequence[Job], dict[str, int], list[Holding]], list[Job]]


def in_order(waiting: Sequence[Job], free: dict[str, int], _: list[Holding]) -> list[Job]:
    """Who starts without backfill: the first that does not fit blocks the others."""
    left, begun = Counter(free), []
    for job in waiting:
        if any(left[kind] < number for kind, number in job.lanes.items()):
            break
        left.subtract(job.lanes)
        begun.append(job)
    return begun


def with_backfill(waiting: Sequence[Job], free: dict[str, int], held: list[Holding]) -> list[Job]:
    admission: Admission[int] = Admission(free, held)
    begun = []
    for job in waiting:
        if admission.may_start(job.demand):
            admission.started(job.demand)
            begun.append(job)
        else:
            admission.waits(job.demand)
    return begun


def starts(queue: Sequence[Job], decide: Decide) -> dict[int, float]:
    """When each job starts, if who may is decided whenever some end."""
    now, waiting, ends = 0.0, list(queue), list[tuple[float, Job]]()
    found: dict[int, float] = {}
    while waiting:
        held = [Holding(job.lanes, exactly(end - now) if job.is_forecast else None) for end, job in ends if end > now]
        free = Counter(POOL)
        for holding in held:
            free.subtract(holding.resources)
        assert min(free.values()) >= 0, "lanes are given twice"
        for job in decide(waiting, dict(free), held):
            waiting.remove(job)
            ends.append((now + job.seconds, job))
            found[job.run] = now
        now = min((end for end, _ in ends if end > now), default=now)
    return found


@settings(max_examples=examples(150, 400))
@given(queue=jobs)
def test_with_backfill_nobody_starts_later_than_without_when_ends_keep_to_their_forecast(queue: list[Job]) -> None:
    without, with_it = starts(queue, in_order), starts(queue, with_backfill)
    assert all(with_it[job.run] <= without[job.run] for job in queue)


@settings(max_examples=examples(80, 200))
@given(queue=jobs)
def test_with_backfill_nobody_starts_later_than_without_when_no_end_is_known(queue: list[Job]) -> None:
    blind = [replace(job, is_forecast=False) for job in queue]
    without, with_it = starts(blind, in_order), starts(blind, with_backfill)
    assert all(with_it[job.run] <= without[job.run] for job in queue)


@settings(max_examples=examples(80, 200))
@given(queue=jobs)
def test_runs_start_when_the_forecast_says(queue: list[Job]) -> None:
    bands = start_bands(POOL, [], [job.demand for job in queue])
    begun = starts(queue, with_backfill)
    for job in queue:
        band = bands[job.run]
        assert begun[job.run] <= band.likely
        assert band.earliest == band.likely == band.latest
    # Where nobody starts sooner than forecast, nobody's slot is moved up either.
    assert begun[queue[0].run] == bands[queue[0].run].likely


def test_backfill_gains_what_waiting_in_order_wastes() -> None:
    queue = [Job(0, {"gpu": 6}, 10), Job(1, {"gpu": 8}, 10), Job(2, {"gpu": 2}, 10), Job(3, {"gpu": 2}, 11)]
    assert starts(queue, in_order) == {0: 0, 1: 10, 2: 20, 3: 20}
    assert starts(queue, with_backfill) == {0: 0, 1: 10, 2: 0, 3: 20}


def test_every_run_ahead_is_kept_from_delay_and_not_only_the_first() -> None:
    # EASY gives away the lanes that the head alone does not need: those of the run behind it.
    queue = [Job(0, {"gpu": 6}, 10), Job(1, {"gpu": 4}, 10), Job(2, {"gpu": 4}, 10), Job(3, {"gpu": 2}, 15)]
    assert starts(queue, with_backfill) == {0: 0, 1: 10, 2: 10, 3: 20}


HEAD = Demand("head", {"gpu": 7}, None)


@pytest.mark.parametrize(
    ("duration", "wanted", "expected"),
    [
        (Band(1, 2, 9), {"gpu": 2}, True),
        (Band(1, 2, 11), {"gpu": 2}, False),
        (None, {"gpu": 2}, False),
        (None, {"gpu": 1}, True),
        (None, {"cpu": 4}, True),
        (Band(1, 2, 9), {"gpu": 3}, False),
    ],
)
def test_a_run_passes_the_head_if_it_surely_ends_before_or_takes_what_the_head_does_not_need(
    duration: Band | None, wanted: dict[str, int], expected: bool
) -> None:
    free, held = {"gpu": 2, "cpu": 4}, [Holding({"gpu": 6}, Band(10, 20, 30))]
    admission: Admission[str] = Admission(free, held)
    assert not admission.may_start(HEAD)
    admission.waits(HEAD)
    assert admission.may_start(Demand("small", wanted, duration)) is expected
    assert admission.num_ahead == 1


def test_nothing_that_a_head_could_use_is_given_away_while_it_is_unknown_when_lanes_come_free() -> None:
    held = [Holding({"gpu": 3}, None), Holding({"gpu": 3}, None)]
    admission: Admission[str] = Admission({"gpu": 2, "cpu": 1}, held)
    head = Demand("head", {"gpu": 5}, exactly(1))
    admission.waits(head)
    assert not admission.may_start(Demand("short", {"gpu": 1}, exactly(0.1)))
    assert admission.may_start(Demand("other kind", {"cpu": 1}, None))
    assert start_bands({"gpu": 2}, held, [head, Demand("behind", {"gpu": 2}, exactly(1))]) == {}


def test_a_start_is_a_band_as_wide_as_the_ends_that_it_waits_for() -> None:
    held = [Holding({"gpu": 8}, Band(10, 20, 40))]
    first, second = Demand("first", {"gpu": 8}, Band(5, 6, 7)), Demand("second", {"gpu": 8}, exactly(1))
    assert start_bands({"gpu": 0}, held, [first, second]) == {"first": Band(10, 20, 40), "second": Band(15, 26, 47)}


def test_what_does_not_exist_is_never_free() -> None:
    assert start_bands({"gpu": 8}, [], [Demand("a", {"tpu": 1}, exactly(1))]) == {}
    assert Profile({"gpu": 8}, [], Outlook.LIKELY).earliest(Demand("a", {"gpu": 9}, None)) is None


def test_bands_rise_and_span() -> None:
    with pytest.raises(ValueError, match="must rise"):
        Band(2, 1, 3)
    with pytest.raises(ValueError, match="finite"):
        Band(0, 1, float("inf"))
    assert spanning([Band(1, 2, 3), Band(2, 4, 9)]) == Band(1, 3, 9)
    assert spanning([]) is None
    assert Band(1, 2, 3) + Band(1, 1, 1) == Band(2, 3, 4)
