"""Loans: which trainer lanes generate in which bubble, for how many fragments.

    lendable lanes of the initial state, a choice of `search` ──► loans of one bubble ──► LendingPlan ──► `forecast`

A lending plan names, for each of the first bubbles, the loans of that bubble. Invariant: a lane is in at most one loan
of a bubble. Times are in seconds from the beginning of the forecast.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from worker.scheduling.forecast.initial_state import LendableLane

NEVER = float("inf")
"""The time of an event that does not happen within the forecast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """A trainer lane lent in one bubble."""

    lane: str
    lent_at: float
    """When the loan is decided."""
    earliest_return: float
    """When the lane can start its switch back at the earliest."""
    earliest_start: float
    """When the lane can begin its first fragment."""
    busy_since: float
    """When the action that occupies the lane until `earliest_start` begins."""
    fragment_seconds: float
    """Seconds in which the lane generates a fragment."""
    reclaim_seconds: float
    """Seconds of the switch back to training; 0 for a lane that is switching back already."""
    num_fragments: int
    """The number of fragments that the lane may begin."""


@dataclass(frozen=True, slots=True)
class BubbleLoans:
    """The loans of one bubble."""

    loans: tuple[Loan, ...]
    recalled_at: float = NEVER
    """When training work is ready, so that lent lanes begin no further fragment."""


LendingPlan = tuple[BubbleLoans, ...]
"""The loans of each of the first bubbles; the first entry is for the bubble that is open now."""


def loans_now(
    lendable_lanes: Sequence[LendableLane], granted: Sequence[LendableLane], num_fragments: int
) -> tuple[Loan, ...]:
    """The loans of the open bubble: lanes that are lent already, with their present allowance, then the `granted` ones
    in order, with `num_fragments` each."""
    names = {lane.name for lane in granted}
    lent = [(lane, lane.fragments_left) for lane in lendable_lanes if lane.is_lent and lane.name not in names]
    return tuple(
        Loan(
            lane=lane.name,
            lent_at=0.0,
            earliest_return=lane.earliest_return if lane.is_lent else lane.lend_seconds,
            earliest_start=lane.earliest_start,
            busy_since=(
                lane.busy_since
                if lane.earliest_start == lane.earliest_return
                else lane.earliest_start - lane.pull_seconds
            ),
            fragment_seconds=lane.fragment_seconds,
            reclaim_seconds=0.0 if lane.is_returning else lane.reclaim_seconds,
            num_fragments=allowance,
        )
        for lane, allowance in lent + [(lane, num_fragments) for lane in granted]
    )


def loans_at(at: float, lendable_lanes: Sequence[LendableLane], num_fragments: int) -> tuple[Loan, ...]:
    """The loans of a later bubble, decided at `at`: these lanes, none of them lent by then, `num_fragments` each."""
    return tuple(
        Loan(
            lane=lane.name,
            lent_at=at,
            earliest_return=at + lane.lend_seconds,
            earliest_start=at + lane.lend_seconds + lane.pull_seconds,
            busy_since=at + lane.lend_seconds,
            fragment_seconds=lane.fragment_seconds,
            reclaim_seconds=lane.reclaim_seconds,
            num_fragments=num_fragments,
        )
        for lane in lendable_lanes
    )
