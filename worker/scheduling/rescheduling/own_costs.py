"""The costs that a run's own plan rests on: the prior of its lanes, corrected by what it has measured on them."""

from collections.abc import Mapping

from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import CostTable, MeasuredCostTable
from worker.scheduling.planning.planner import plan_request
from worker.scheduling.replanning.run_costs import run_costs
from worker.scheduling.replanning.run_lanes import RunLanes
from worker.scheduling.rescheduling.recorded_run import costs_by_name


def own_costs(
    spec: RunSpec, roles: Mapping[str, LaneRole], devices: Mapping[str, str], measured: MeasuredCostTable
) -> CostTable:
    """What work costs on a run's lanes, by their ids.

    Args:
        spec: the spec as planned, with as many lanes as `roles`.
        devices: by lane, the name in `hardware.ACCELERATORS`; where one that generates or trains is missing, all count
            as the planner's default.
        measured: by lane id, what the run has measured.
    """
    names = tuple(sorted(lane for lane, role in roles.items() if role is not LaneRole.REWARD))
    rewards = tuple(sorted(lane for lane, role in roles.items() if role is LaneRole.REWARD))
    trainers = frozenset(place for place, name in enumerate(names) if roles[name] is LaneRole.TRAINER)
    is_profiled = all(name in devices for name in names)
    request = plan_request(spec, [devices[name] for name in names] if is_profiled else [])
    lanes = RunLanes(names=names, trainers=trainers, rewards=rewards)
    pool = run_costs(request.costs, measured, lanes, kinds=request.devices).pool
    return costs_by_name(pool, sorted(trainers), names, rewards)
