"""Locks free lanes for an allocation, all of them or none.

    chosen outside the transaction ─► `locked_lanes`: just these
    chosen within it               ─► `lock_best`: those that suit best of the ones that nobody else is taking

Invariant: a lane that another transaction has locked is passed over, never waited for, so that two allocations cannot
wait for each other.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from fleet.allocation.free_lanes import described
from fleet.allocation.lane_choice import ChosenLanes, FreeLane, LaneDemand, choose_lanes
from fleet.models import Lane, LaneKind
from fleet.selectors import free_in_order, free_of_keys
from worker.contracts.names import LaneRole

LockedLanes = Mapping[LaneRole, list[Lane]]
"""Lanes that are locked until the transaction ends, by role, in the order of the choice."""


def free_lanes_of(kinds: Iterable[LaneKind], *, pool: str) -> list[FreeLane]:
    """The free lanes of these kinds in the pool."""
    return [lane for kind in sorted(set(kinds)) for lane in described(free_in_order(kind, pool=pool))]


def locked_lanes(chosen: ChosenLanes, *, pool: str) -> LockedLanes | None:
    """Just the lanes that were chosen, locked; None if one is not free in the pool any more, or another transaction
    takes it."""
    rows = _lock(chosen, pool)
    return _by_role(chosen, rows) if len(rows) == chosen.number else None


def lock_best(
    kinds: Collection[LaneKind],
    demand_of: Callable[[Mapping[str, int]], LaneDemand | None],
    *,
    pool: str,
    near: Collection[str] = (),
    without: Collection[int] = (),
) -> LockedLanes | None:
    """The lanes that suit a demand best, locked; None if those that nobody else is taking do not suffice.

    Args:
        kinds, pool: of the lanes to choose from.
        demand_of: the demand, given the number of free lanes by device; None if these do not suffice.
        near: names of nodes on which the holder has lanes already.
        without: keys of lanes to leave out.
    """
    left_out = set(without)
    while True:
        free = [lane for lane in free_lanes_of(kinds, pool=pool) if lane.key not in left_out]
        demand = demand_of(Counter(lane.device for lane in free))
        chosen = None if demand is None else choose_lanes(free, demand, near=near)
        if chosen is None:
            return None
        rows = _lock(chosen, pool)
        if len(rows) == chosen.number:
            return _by_role(chosen, rows)
        # Each turn leaves out at least one lane more, so that the turns come to an end.
        left_out |= chosen.keys - rows.keys()


def _lock(chosen: ChosenLanes, pool: str) -> dict[int, Lane]:
    """Those of the lanes that are free in the pool, locked, by key."""
    free = free_of_keys(chosen.keys, pool)
    rows = {lane.pk: lane for lane in free.select_for_update(skip_locked=True, of=("self",))}
    for lane in rows.values():
        for gpu in lane.gpus.all():
            # Known already, and asked for by the names of GPUs without UUIDs.
            gpu.node = lane.node
    return rows


def _by_role(chosen: ChosenLanes, rows: Mapping[int, Lane]) -> LockedLanes:
    return {role: [rows[lane.key] for lane in lanes] for role, lanes in chosen.by_role.items()}
