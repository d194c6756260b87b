"""The costs that a plan assumed: stored with the plan, and sent to the attempt's driver as its first cost estimates.

Invariant: costs are stored by kind of device, not by lane. Which lanes an attempt gets is decided after its plan, but
their devices are those of the plan.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from runs.models import Attempt
from worker.contracts.events import WorkCost
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import GANG, dump_costs
from worker.scheduling.planning.cost_estimates import lane_name
from worker.scheduling.planning.planner import Plan

_REWARD = LaneRole.REWARD.value


def expected_costs(made: Plan, devices: Sequence[str]) -> list[dict[str, Any]]:
    """`WorkCost`s of the plan's choice as plain JSON, where `lane` is one of `devices`, `gang` or `reward`.

    `devices` are those of the lanes that generate or train, in the plan's order.
    """
    candidate = made.best.split_result.candidate
    names = {lane_name(place): device for place, device in enumerate(devices)}
    names |= {GANG: GANG, f"{_REWARD}-0": _REWARD}
    # Lanes of the same device cost the same, so one lane of each device is enough.
    table = {
        (names[lane], kind): cost.line_at(candidate.fragment_size)
        for (lane, kind), cost in made.request.costs.cost_table(candidate.trainers).items()
        if lane in names
    }
    return [cost.model_dump(mode="json") for cost in dump_costs(table)]


def prior_costs(attempt: Attempt, lanes: Sequence[LaneGrant], device_of: Mapping[str, str]) -> tuple[WorkCost, ...]:
    """The assumed costs, by the lanes that the attempt holds; empty without a plan. `device_of`: by lane that is no
    reward lane."""
    revision = attempt.plan_revision
    if revision is None:
        return ()
    return costs_of_lanes(revision.plan["expected"], {grant.lane: grant.role for grant in lanes}, device_of)


def costs_of_lanes(
    expected: Sequence[Mapping[str, Any]], roles: Mapping[str, LaneRole], device_of: Mapping[str, str]
) -> tuple[WorkCost, ...]:
    """Expected costs, as `expected_costs` gives them, by the lanes with these roles and devices."""
    by_kind: dict[str, list[WorkCost]] = {}
    for cost in map(WorkCost.model_validate, expected):
        by_kind.setdefault(cost.lane, []).append(cost)
    names = {lane: _REWARD if role is LaneRole.REWARD else device_of[lane] for lane, role in roles.items()}
    return tuple(
        cost.model_copy(update={"lane": lane})
        for lane, kind in {**names, GANG: GANG}.items()
        for cost in by_kind.get(kind, [])
    )
