"""Divides idle lanes among the runs that would borrow them, by what each gains. Pure.

    Offer of each run, role and device ─► the step with most gain per lane, again and again ─► Loan of each run

Invariants: no limit is exceeded; a run takes lanes of one role and device, the fewest that gain as much; every step
gains something; the same offers give the same loans.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

R = TypeVar("R", bound=Hashable)
"""Names a run."""
W = TypeVar("W")
"""What is offered, as the caller knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer(Generic[R, W]):
    """Lanes that a run could borrow in one role, of one device."""

    run: R
    what: W
    """The role and the device, and whatever else the caller needs of them."""
    gains: Mapping[int, float]
    """By the number of lanes: seconds gained, net of what switching costs."""
    limits: tuple[Hashable, ...] = ()
    """The limits that each of its lanes counts against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan(Generic[R, W]):
    """What a run is lent."""

    offer: Offer[R, W]
    num_lanes: int

    @property
    def gain(self) -> float:
        return self.offer.gains[self.num_lanes]


def share(offers: Sequence[Offer[R, W]], limits: Mapping[Hashable, int]) -> list[Loan[R, W]]:
    """The loans, in the order of `offers`. `limits`: the most lanes that may count against each."""
    left = dict(limits)
    lent: dict[int, int] = {}
    """By position of the offer: lanes lent so far."""
    while steps := list(_steps(offers, lent, left)):
        _, _, place, number = max(steps)
        place = -place
        for limit in offers[place].limits:
            left[limit] -= number - lent.get(place, 0)
        lent[place] = number
    return [Loan(offer=offers[place], num_lanes=number) for place, number in sorted(lent.items())]


def _steps(
    offers: Sequence[Offer[R, W]], lent: Mapping[int, int], left: Mapping[Hashable, int]
) -> Iterator[tuple[float, int, int, int]]:
    """(Seconds gained by each lane more, − their number, − position of the offer, lanes then) of every further step."""
    chosen = {offers[place].run: place for place in lent}
    for place, offer in enumerate(offers):
        if chosen.get(offer.run, place) != place:
            continue
        has = lent.get(place, 0)
        room = min((left[limit] for limit in offer.limits), default=max(offer.gains, default=0))
        gained = offer.gains[has] if has else 0.0
        for number, gain in offer.gains.items():
            if has < number <= has + room and gain > gained:
                yield (gain - gained) / (number - has), has - number, -place, number
