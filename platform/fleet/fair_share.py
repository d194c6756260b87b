"""Whose turn it is: fair share between projects, priority and age inside one. Pure.

    guaranteed lanes ──┐
    weights of the rest ┴─► entitlement ─► (within its guarantee?, decayed usage ÷ entitlement) ─► order of projects

Fairness comes before priority, so that nobody gains by calling everything urgent; priority decides among the runs of a
project, and between projects that have used as much. What is used counts half as much after each half-life (multifactor
fair share, as Slurm's `PriorityDecayHalfLife`), so a quiet week is not saved up for ever and a busy one is forgiven.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)
"""Names a project."""
R = TypeVar("R", bound=Hashable)
"""Names a run."""
DEFAULT_HALF_LIFE_HOURS = 24.0
"""A day: who trained all of yesterday makes room today, and next week nobody remembers."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a project may have of a pool, in lanes."""

    guaranteed: int = 0
    limit: int | None = None
    """The most lanes that it may hold, lanes borrowed from others' guarantee among them; `None` for no limit."""
    weight: float = 1.0
    """Its part, beside others' weights, of the lanes that nobody is guaranteed."""

    def __post_init__(self) -> None:
        if self.guaranteed < 0 or self.weight < 0:
            raise ValueError(f"`guaranteed` and `weight` must be ≥ 0, got {self.guaranteed} and {self.weight}")
        if self.limit is not None and self.limit < self.guaranteed:
            raise ValueError(f"`limit` must be ≥ `guaranteed` ({self.guaranteed}), got {self.limit}: raise it")


@dataclass(frozen=True, slots=True)
class Waiting(Generic[P, R]):
    """A run that waits for lanes."""

    run: R
    project: P
    num_lanes: int
    priority: int
    """The lower, the sooner, among the runs of its project."""
    since: float
    """When it began to wait, in seconds of any clock."""


def entitlements(shares: Mapping[P, Share], num_lanes: int) -> dict[P, float]:
    """The lanes that each project is entitled to in the long run: its guarantee, and its part of the rest. Where more
    is guaranteed than there is, guarantees shrink in proportion."""
    guaranteed = sum(share.guaranteed for share in shares.values())
    weights = sum(share.weight for share in shares.values())
    if guaranteed >= num_lanes:
        return {project: share.guaranteed * num_lanes / (guaranteed or 1) for project, share in shares.items()}
    rest = num_lanes - guaranteed
    return {
        project: share.guaranteed + (rest * share.weight / weights if weights else 0.0)
        for project, share in shares.items()
    }


def decayed_lane_hours(
    uses: Iterable[tuple[P, float, float, float]], now: float, half_life_hours: float = DEFAULT_HALF_LIFE_HOURS
) -> dict[P, float]:
    """Lane hours by project, each hour halved with every half-life that has passed since.

    Args:
        uses: (project, lanes, begin, end), in hours; an end after `now` counts until `now`.
        now: the present, in hours of the same clock.
        half_life_hours: after which use counts half.
    """
    rate = log(2) / half_life_hours
    total: dict[P, float] = {}
    for project, num_lanes, begin, end in uses:
        if begin >= now:
            continue
        # The integral of 2^(-(now - t) / half-life) over the use.
        hours = (2 ** (-(now - min(end, now)) / half_life_hours) - 2 ** (-(now - begin) / half_life_hours)) / rate
        total[project] = total.get(project, 0.0) + num_lanes * hours
    return total


def in_turn(
    waiting: Sequence[Waiting[P, R]],
    *,
    held: Mapping[P, int],
    used: Mapping[P, float],
    shares: Mapping[P, Share],
    num_lanes: int,
) -> list[Waiting[P, R]]:
    """The runs in the order in which they are to be served, without those that their project's limit stops.

    Args:
        waiting: all runs that wait.
        held: lanes that each project holds.
        used: decayed lane hours by project.
        shares: by project; one that is not listed has the default share.
        num_lanes: lanes of the pool.
    """
    order = ranked(waiting, held=held, used=used, shares=shares, num_lanes=num_lanes)
    return within_limits(order, held=held, shares=shares)[0]


def ranked(
    waiting: Sequence[Waiting[P, R]],
    *,
    held: Mapping[P, int],
    used: Mapping[P, float],
    shares: Mapping[P, Share],
    num_lanes: int,
) -> list[Waiting[P, R]]:
    """All runs in their order, those too that a limit stops; arguments as of `in_turn`.

    Runs that fit into what their project is guaranteed and does not hold come first, then the project that has used
    least of its entitlement; a project without any entitlement comes last. Each run that is placed in the order and
    that no limit stops counts as held for those behind it, so that one project's queue does not pass another's as a
    whole.
    """
    known = {project: shares.get(project, Share()) for project in {run.project for run in waiting} | shares.keys()}
    entitled = entitlements(known, num_lanes)
    holds = dict(held)
    queues: dict[P, list[Waiting[P, R]]] = {}
    for run in sorted(waiting, key=lambda run: (run.priority, run.since, str(run.run)), reverse=True):
        queues.setdefault(run.project, []).append(run)

    def rank(project: P) -> tuple[bool, float, int, float, str]:
        return _rank(queues[project][-1], known[project], entitled[project], holds, used)

    # Each turn changes the rank of one project alone.
    ranks = {project: rank(project) for project in queues}
    order: list[Waiting[P, R]] = []
    while ranks:
        queue = queues[min(ranks, key=ranks.__getitem__)]
        head = queue.pop()
        order.append(head)
        if _is_within(head, known[head.project], holds):
            holds[head.project] = holds.get(head.project, 0) + head.num_lanes
        if queue:
            ranks[head.project] = rank(head.project)
        else:
            del ranks[head.project]
    return order


def within_limits(
    order: Sequence[Waiting[P, R]], *, held: Mapping[P, int], shares: Mapping[P, Share]
) -> tuple[list[Waiting[P, R]], list[Waiting[P, R]]]:
    """The runs that may be served, and those that their project's limit stops, both in the order given. Each run of the
    former counts as held for those behind it."""
    holds = dict(held)
    served: list[Waiting[P, R]] = []
    stopped: list[Waiting[P, R]] = []
    for run in order:
        if _is_within(run, shares.get(run.project, Share()), holds):
            holds[run.project] = holds.get(run.project, 0) + run.num_lanes
            served.append(run)
        else:
            stopped.append(run)
    return served, stopped


def _is_within(run: Waiting[P, R], share: Share, held: Mapping[P, int]) -> bool:
    return share.limit is None or held.get(run.project, 0) + run.num_lanes <= share.limit


def _rank(
    run: Waiting[P, R], share: Share, entitled: float, held: Mapping[P, int], used: Mapping[P, float]
) -> tuple[bool, float, int, float, str]:
    """The lower, the sooner. Lanes held are hours to come: an hour of each is added to what was used."""
    holds = held.get(run.project, 0)
    is_beyond = holds + run.num_lanes > share.guaranteed
    spent = used.get(run.project, 0.0) + holds
    return is_beyond, spent / entitled if entitled else float("inf"), run.priority, run.since, str(run.run)
