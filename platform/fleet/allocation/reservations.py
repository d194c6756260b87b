"""When waiting runs start, and which may start ahead of others without delaying them. Pure.

    free lanes, ends of holders ─► Profile (free lanes over time) ─► each run in turn takes its earliest slot
                                                                      slot = now ─► it may start

This is conservative backfill (Mu'alem and Feitelson 2001, "Utilization, predictability, workloads, and user runtime
estimates in scheduling the IBM SP2 with backfilling"): every run ahead has a reservation, not only the first, so that a
run that starts ahead of others delays none of them, as long as ends keep to their forecast.

Invariant: a slot never takes from what a run ahead was given. A run that cannot be placed, because lanes that it needs
are held for an unknown time, keeps all lanes that it wants of every kind, as far as there are any, from when those
ahead of it have started: whoever ends first, it is not delayed. Resources are lanes by kind, and whatever else is
counted, such as what is left of a project's limit.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from fleet.allocation.bands import Band, Outlook

R = TypeVar("R", bound=Hashable)
"""Names a run."""
Resources = Mapping[str, int]
"""Number of units by resource, such as lanes by kind."""
NOW = 0.0
FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class Holding:
    """What is held now, and when it comes free, in seconds from now; `None` where that is unknown."""

    resources: Resources
    end: Band | None


@dataclass(frozen=True, slots=True)
class Demand(Generic[R]):
    """A waiting run: what it needs, and how long it is going to hold it; `None` where that is unknown."""

    run: R
    resources: Resources
    duration: Band | None

    def seconds(self, outlook: Outlook) -> float:
        return FOREVER if self.duration is None else self.duration.at(outlook)

    @property
    def longest(self) -> float:
        return self.seconds(Outlook.LATEST)


class Profile:
    """Free resources over time, as one outlook has it."""

    def __init__(self, free: Resources, holdings: Sequence[Holding], outlook: Outlook) -> None:
        self._outlook = outlook
        self._all_started = NOW
        """When the last of those that were given something starts."""
        known = {*free, *(name for holding in holdings for name in holding.resources)}
        self._column = {name: column for column, name in enumerate(sorted(known))}
        ends = [(holding.end.at(outlook), holding.resources) for holding in holdings if holding.end is not None]
        self._times: npt.NDArray[np.float64] = np.unique([NOW, *(end for end, _ in ends)])
        self._free: npt.NDArray[np.int64] = np.zeros((len(self._times), len(self._column)), dtype=np.int64)
        self._free += self._vector(free)
        for end, resources in ends:
            self._free[np.searchsorted(self._times, end) :] += self._vector(resources)

    def earliest(self, demand: Demand[R]) -> float | None:
        """The first time from which the demand fits for as long as it may last; `None` if there is none."""
        if any(number and name not in self._column for name, number in demand.resources.items()):
            return None
        fits = (self._free >= self._vector(demand.resources)).all(axis=1)
        # For each segment, the time at which it stops fitting: the beginning of the next one that does not.
        positions = np.where(fits, len(self._times), np.arange(len(self._times)))
        next_short = np.minimum.accumulate(positions[::-1])[::-1]
        until = np.append(self._times, FOREVER)[next_short]
        found = np.flatnonzero(fits & (until >= self._times + demand.longest))
        return float(self._times[found[0]]) if len(found) else None

    def take(self, demand: Demand[R], start: float) -> None:
        """Give the demand its resources from `start` on, for as long as this outlook expects it to hold them."""
        self._all_started = max(self._all_started, start)
        self._subtract(self._vector(demand.resources), start, start + demand.seconds(self._outlook))

    def keep(self, demand: Demand[R]) -> None:
        """Keep what a run wants that cannot be placed, as far as there is any, from when all those ahead have started:
        in the queue's order it would not start sooner."""
        free = self._free[self._boundary(self._all_started) :]
        free -= np.minimum(np.maximum(free, 0), self._vector(demand.resources))

    def has_any(self, demand: Demand[R]) -> bool:
        """Whether the demand fits now, for however short a time."""
        known = all(name in self._column for name, number in demand.resources.items() if number)
        return known and bool((self._free[0] >= self._vector(demand.resources)).all())

    def _subtract(self, vector: npt.NDArray[np.int64], start: float, end: float) -> None:
        first = self._boundary(start)
        last = len(self._times) if end == FOREVER else self._boundary(end)
        self._free[first:last] -= vector

    def _boundary(self, at: float) -> int:
        """The position of the segment that begins at `at`, which is made if there is none."""
        position = int(np.searchsorted(self._times, at))
        if position == len(self._times) or self._times[position] != at:
            self._times = np.insert(self._times, position, at)
            self._free = np.insert(self._free, position, self._free[position - 1], axis=0)
        return position

    def _vector(self, resources: Resources) -> npt.NDArray[np.int64]:
        vector = np.zeros(len(self._column), dtype=np.int64)
        for name, number in resources.items():
            if name in self._column:
                vector[self._column[name]] = number
        return vector


def start_bands(free: Resources, holdings: Sequence[Holding], queue: Sequence[Demand[R]]) -> dict[R, Band]:
    """When each run of the queue starts, in seconds from now, if nobody else joins it and its order stays; runs of
    which that is unknown are left out.

    The queue is placed once for each outlook. Starts of outlooks are put in order, since a run that ends later can, by
    the order in which others then fit, let a third one start sooner.
    """
    by_outlook = [_starts(Profile(free, holdings, outlook), queue) for outlook in Outlook]
    found: dict[R, Band] = {}
    for demand in queue:
        starts = [starts[demand.run] for starts in by_outlook if demand.run in starts]
        if len(starts) == len(by_outlook):
            found[demand.run] = Band(*sorted(starts))
    return found


def _starts(profile: Profile, queue: Sequence[Demand[R]]) -> dict[R, float]:
    found: dict[R, float] = {}
    for demand in queue:
        start = profile.earliest(demand)
        if start is None:
            profile.keep(demand)
        else:
            profile.take(demand, start)
            found[demand.run] = start
    return found


class Admission(Generic[R]):
    """Who may start now, asked in the order of the queue: a run that may not is given its reservation, which those
    behind it may not delay in any outlook."""

    def __init__(self, free: Resources, holdings: Sequence[Holding]) -> None:
        self._profiles = [Profile(free, holdings, outlook) for outlook in Outlook]
        self.num_ahead = 0
        """Runs that were asked for and may not start."""

    def may_start(self, demand: Demand[R]) -> bool:
        """Whether the run fits now and delays none of those asked for before it. Follow with `started` or `waits`."""
        if not self._profiles[0].has_any(demand):
            return False
        return all(profile.earliest(demand) == NOW for profile in self._profiles)

    def started(self, demand: Demand[R]) -> None:
        for profile in self._profiles:
            profile.take(demand, NOW)

    def waits(self, demand: Demand[R]) -> None:
        self.num_ahead += 1
        for profile in self._profiles:
            start = profile.earliest(demand)
            if start is None:
                profile.keep(demand)
            else:
                profile.take(demand, start)
