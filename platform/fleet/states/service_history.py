"""When nodes, GPUs and lanes took no work, and in which state they were: told backwards from what they are now.

    now ◄─ changes, newest to oldest ◄─ the state before the first change in the window

Invariant: `StateChange` rows and the rows they are of agree, so that what has not changed since the begin of a window
was then as it is now.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from fleet.models import Gpu, Lane, Node, ServiceState, StateChange
from fleet.models.service_states import FOUND, LOST
from fleet.states.standing import PoolState


class Place(NamedTuple):
    """A node, a GPU or a lane."""

    kind: str
    id: int


class Moment(NamedTuple):
    """From `at` on, in Unix seconds, a place is in this state; `None` where it takes work."""

    at: float
    state: PoolState | None


Story = Sequence[Moment]
"""Moments in order of time; the first is at the begin of the window."""


def stories(
    since: datetime, nodes: Iterable[Node], gpus: Iterable[Gpu], lanes: Iterable[Lane]
) -> Mapping[Place, Story]:
    """What the places were from `since` on; those that took work all the time are left out."""
    changes: defaultdict[Place, list[StateChange]] = defaultdict(list)
    for change in StateChange.objects.filter(at__gte=since).order_by("at", "pk"):
        changes[_place_of(change)].append(change)
    rows: dict[Place, Node | Gpu | Lane] = {Place("node", node.pk): node for node in nodes}
    rows |= {Place("gpu", gpu.pk): gpu for gpu in gpus} | {Place("lane", lane.pk): lane for lane in lanes}
    found = {
        place: _story(since, row, [change for change in changes.get(place, []) if _is_of(change, row)])
        for place, row in rows.items()
    }
    return {place: story for place, story in found.items() if any(moment.state for moment in story)}


def together(told: Sequence[Story]) -> Story:
    """The story of a lane, of those of its node, of its GPUs and of itself, in this order: what is lost counts first,
    then what was decided first of them."""
    if len(told) <= 1:
        return told[0] if told else []
    changes = [(moment.at, number, moment.state) for number, story in enumerate(told) for moment in story]
    now: list[PoolState | None] = [None] * len(told)
    moments: list[Moment] = []
    for at, number, state in sorted(changes, key=lambda change: change[:2]):
        now[number] = state
        decided = [one for one in now if one is not None]
        whole = PoolState.LOST if PoolState.LOST in decided else decided[0] if decided else None
        if moments and moments[-1].at == at:
            moments.pop()
        if not moments or moments[-1].state is not whole:
            moments.append(Moment(at, whole))
    return moments


def _is_of(change: StateChange, row: Node | Gpu | Lane) -> bool:
    """Changes of GPUs and lanes that do not exist any more have lost all but their node and their name."""
    return not isinstance(row, Node) or change.name == row.name


def _place_of(change: StateChange) -> Place:
    if change.gpu_id is not None:
        return Place("gpu", change.gpu_id)
    if change.lane_id is not None:
        return Place("lane", change.lane_id)
    return Place("node", change.node_id or 0)


def _story(since: datetime, row: Node | Gpu | Lane, changes: Sequence[StateChange]) -> Story:
    lost_since = getattr(row, "lost_since", None)
    decisions = [change for change in changes if change.new not in (LOST, FOUND)]
    losses = [change for change in changes if change.new in (LOST, FOUND)]
    state = decisions[0].old if decisions else row.state
    is_lost = losses[0].new == FOUND if losses else lost_since is not None
    moments = [Moment(since.timestamp(), _state(state, is_lost))]
    for change in changes:
        if change.new in (LOST, FOUND):
            is_lost = change.new == LOST
        else:
            state = change.new
        moments.append(Moment(change.at.timestamp(), _state(state, is_lost)))
    return moments


def _state(state: str, is_lost: bool) -> PoolState | None:
    return PoolState.LOST if is_lost else None if state == ServiceState.ACTIVE else PoolState(state)
