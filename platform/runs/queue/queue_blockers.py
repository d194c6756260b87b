"""What keeps a waiting run from starting, typed, so that a page can say it and offer what helps.

    its project's budget and limit ─► the pool's size ─► lanes that take no work ─► lanes that others hold
                                              ─► lanes kept for runs ahead ─► nothing: it is being started

Invariant: a waiting run has at least one blocker. Lanes of a kind are whole and interchangeable, so that fragmentation
blocks nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fleet.models import LaneKind
from runs.wait_reasons import LanesOfPool

Lanes = Mapping[LaneKind, int]


class BlockerKind(StrEnum):
    QUOTA = "quota"
    """Its project holds as many lanes as it may."""
    BUDGET = "budget"
    """Its project has spent what it may."""
    POOL_TOO_SMALL = "pool_too_small"
    """The pool has too few lanes of a kind, even with all of them in service."""
    OUT_OF_SERVICE = "out_of_service"
    """Lanes that it needs are cordoned, drained, maintained, tested, faulty or lost."""
    LANES_HELD = "lanes_held"
    """Others hold lanes that it needs."""
    RUNS_AHEAD = "runs_ahead"
    """It would fit, and would delay runs ahead of it."""
    STARTING = "starting"
    """Its lanes are free: its plan is being made, or another dispatcher is about to start it."""


@dataclass(frozen=True, slots=True)
class Blocker:
    kind: BlockerKind
    lane_kind: str = ""
    """The kind of lane that it is about; empty where it is about no kind."""
    missing: int = 0
    """Lanes of that kind that are missing."""
    text: str = ""
    """The same in words."""


def blockers(
    wanted: Lanes, pool: LanesOfPool, *, num_ahead: int, limit: int | None = None, budget: str = ""
) -> tuple[Blocker, ...]:
    """What blocks a run that wants these lanes.

    Args:
        wanted: by kind.
        pool: where it waits.
        num_ahead: runs that are served before it.
        limit: lanes that its project may hold, if that is what stops it.
        budget: that its project's budget is spent, as a clause, if it is.
    """
    if budget:
        return (Blocker(BlockerKind.BUDGET, text=budget),)
    if limit is not None:
        text = f"its project may hold {_lanes(limit)}, and does, or would with this run"
        return (Blocker(BlockerKind.QUOTA, text=text),)
    found = [blocker for kind, number in wanted.items() for blocker in _of_kind(kind, number, pool)]
    if found:
        return tuple(found)
    if num_ahead:
        them = "the run" if num_ahead == 1 else f"the {num_ahead} runs"
        return (Blocker(BlockerKind.RUNS_AHEAD, text=f"the free lanes are kept for {them} ahead of it"),)
    return (Blocker(BlockerKind.STARTING, text="its lanes are free: it is about to start"),)


def _of_kind(kind: LaneKind, number: int, pool: LanesOfPool) -> list[Blocker]:
    in_service, out = pool.in_service.get(kind, 0), pool.out_of_service.get(kind, 0)
    missing = number - pool.free.get(kind, 0)
    if number > in_service + out:
        text = f"the pool has {_lanes(in_service + out, kind)}, the run needs {number}"
        return [Blocker(BlockerKind.POOL_TOO_SMALL, kind.value, number - in_service - out, text)]
    if missing <= 0:
        return []
    found = []
    if number <= in_service:
        text = f"{_lanes(missing, kind)} more must come free"
        found.append(Blocker(BlockerKind.LANES_HELD, kind.value, missing, text))
    if out:
        text = f"{_lanes(out, kind)} of the pool {'takes' if out == 1 else 'take'} no work: {pool.why_out_of_service}"
        found.append(Blocker(BlockerKind.OUT_OF_SERVICE, kind.value, min(out, missing), text))
    return found


def _lanes(number: int, kind: LaneKind | None = None) -> str:
    return f"{number} {f'{kind.upper()} ' if kind else ''}lane{'s' * (number != 1)}"
