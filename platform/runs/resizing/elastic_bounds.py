"""How far a live run may shrink and grow, by its spec's elastic bounds and the lanes that it has now.

For colocated and auto placement the bounds of rollout and trainer lanes are added up, as the lanes are. Invariant: a
run keeps at least one lane of its own in each role that it needs.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fleet.lane_demand import lane_number
from runs.models import Attempt
from worker.contracts.lanes import LaneBounds
from worker.contracts.names import LaneRole, Placement
from worker.contracts.resizing import roles_of


@dataclass(frozen=True, slots=True)
class _Group:
    """Roles whose lanes are counted together."""

    roles: tuple[LaneRole, ...]
    bounds: LaneBounds


def room(attempt: Attempt, roles: Mapping[str, LaneRole]) -> dict[LaneRole, int]:
    """By role, how many more lanes of it the run may have. Lanes that join for a while do not train.

    `roles`: of all lanes that the attempt holds, borrowed ones among them.
    """
    placement = attempt.concrete_spec.pipeline.placement
    held, found = Counter(roles.values()), dict[LaneRole, int]()
    for group in _groups(attempt):
        left = group.bounds.max - sum(held[role] for role in group.roles)
        for role in group.roles:
            if role is not LaneRole.TRAINER and role in roles_of(placement) and left > 0:
                found[role] = left
    return found


def spare_lanes(attempt: Attempt, own: Mapping[str, LaneRole]) -> list[str]:
    """Lanes that the run can do without by its spec, in the order in which they should go: those that leave between
    fragments, then trainer lanes, each role's newest first.

    `own`: roles of the attempt's own lanes, without borrowed ones.
    """
    held, found = Counter(own.values()), list[str]()
    for group in _groups(attempt):
        can_go = sum(held[role] for role in group.roles) - group.bounds.min
        for role in sorted(group.roles, key=lambda role: role is LaneRole.TRAINER):
            number = min(can_go, held[role] - 1)
            newest = sorted((lane for lane in own if own[lane] is role), key=lane_number, reverse=True)
            found += newest[: max(0, number)]
            can_go -= max(0, number)
    return sorted(found, key=lambda lane: own[lane] is LaneRole.TRAINER)


def _groups(attempt: Attempt) -> tuple[_Group, ...]:
    asked = attempt.run.sized_spec
    working, bounds = (LaneRole.ROLLOUT, LaneRole.TRAINER), asked.elastic.bounds
    of = {role: bounds(role, getattr(asked.lanes, f"num_{role}")) for role in LaneRole}
    reward = _Group((LaneRole.REWARD,), of[LaneRole.REWARD])
    if asked.pipeline.placement is Placement.DISAGGREGATED:
        return (*(_Group((role,), of[role]) for role in working), reward)
    both = LaneBounds(sum(of[role].min for role in working), sum(of[role].max for role in working))
    return (_Group(working, both), reward)
