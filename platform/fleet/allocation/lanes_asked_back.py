"""Which lanes are asked back for the runs that wait. Pure.

    runs that wait, in turn ─► lack lanes? ─► loans, the newest first ─► lanes beyond others' guarantee, if entitled

Invariants: no more lanes are asked back than a run lacks, and none unless the run can begin with them; only a run
within its project's guarantee gets lanes that are not on loan, and no project is brought below its own.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
"""Names a kind of lane."""
P = TypeVar("P", bound=Hashable)
"""Names a project."""
L = TypeVar("L")
"""A lane, as the caller knows it."""
R = TypeVar("R")
"""A run, as the caller knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LackingRun(Generic[R, P, K]):
    """A run that waits, with the lanes that it asks for."""

    run: R
    project: P
    wanted: Mapping[K, int]
    is_entitled: bool
    """Whether it fits into what its project is guaranteed and does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneToReturn(Generic[L, P, K]):
    """A lane that its holder can do without."""

    lane: L
    kind: K
    project: P
    """The project that it counts for."""
    is_loan: bool
    """Whether it is borrowed; otherwise its run began with it and keeps enough without it."""
    since: float
    """When it was given, in seconds of any clock."""


def asked_back(
    waiting: Iterable[LackingRun[R, P, K]],
    *,
    available: Mapping[K, int],
    lanes: Sequence[LaneToReturn[L, P, K]],
    beyond: Mapping[P, int],
) -> list[tuple[LaneToReturn[L, P, K], LackingRun[R, P, K]]]:
    """The lanes to ask back, each with the run that it is for.

    Args:
        waiting: the runs that wait, in turn. One that cannot be served stops those behind it, which are not read.
        available: lanes that are free or were asked back already.
        lanes: lanes that can be asked back; of those that are not loans, the ones to go first come first.
        beyond: by project, the lanes that it holds beyond its guarantee.
    """
    left, can_go = (
        dict(available),
        sorted(lanes, key=lambda lane: (not lane.is_loan, -lane.since if lane.is_loan else 0)),
    )
    excess = dict(beyond)
    found: list[tuple[LaneToReturn[L, P, K], LackingRun[R, P, K]]] = []
    for run in waiting:
        chosen = _chosen(run, left, can_go, excess)
        if chosen is None:
            break
        for lane in chosen:
            can_go.remove(lane)
            left[lane.kind] = left.get(lane.kind, 0) + 1
            excess[lane.project] = excess.get(lane.project, 0) - (not lane.is_loan)
        for kind, number in run.wanted.items():
            left[kind] -= number
        found += [(lane, run) for lane in chosen]
    return found


def _chosen(
    run: LackingRun[R, P, K],
    left: Mapping[K, int],
    lanes: Sequence[LaneToReturn[L, P, K]],
    beyond: Mapping[P, int],
) -> list[LaneToReturn[L, P, K]] | None:
    """The lanes that the run lacks; `None` where they cannot be had."""
    lacks = {kind: number - left.get(kind, 0) for kind, number in run.wanted.items()}
    excess, chosen = dict(beyond), []
    for lane in lanes:
        if lacks.get(lane.kind, 0) <= 0:
            continue
        if not lane.is_loan:
            if not run.is_entitled or lane.project == run.project or excess.get(lane.project, 0) <= 0:
                continue
            excess[lane.project] -= 1
        chosen.append(lane)
        lacks[lane.kind] -= 1
    return None if any(number > 0 for number in lacks.values()) else chosen
