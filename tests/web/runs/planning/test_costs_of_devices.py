"""Costs that runs have measured, by kind of GPU: each is planned with its own, and none counts as fast because it was
never measured."""

from collections.abc import Callable
from typing import Any

import pytest

from fleet.lane_layout import ensure_local_lanes
from fleet.selectors import devices_by_lane
from fleet.services import allocate, release
from runs.models import Run
from runs.planning.auto_placement import choose
from runs.planning.cost_history import MIN_BATCHES, measured_costs, record_costs
from runs.queue.dispatch import dispatch_waiting
from tests.web.lane_holders import held_by
from worker.contracts.events import CostsEvent
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState
from worker.scheduling.core.costs import Cost, CostKind, MeasuredCost, MeasuredCostTable, dump_costs
from worker.scheduling.planning.cost_estimates import lane_costs
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles import hardware

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]
MakeSpec = Callable[..., RunSpec]

H100, L40S = "NVIDIA H100 80GB HBM3", "NVIDIA L40S"
LANES = {"num_rollout": 2, "num_trainer": 2, "num_reward": 1}
AUTO: dict[str, Any] = {"pipeline": {"placement": "auto"}, "lanes": LANES}


def pool(**nodes: tuple[str, int]) -> None:
    """Nodes by name with their accelerator and number of GPUs, and CPU lanes for rewards."""
    for name, (accelerator, number) in nodes.items():
        ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(number), accelerator=accelerator, node=name)


def measure(run: Run, table: MeasuredCostTable) -> None:
    event = CostsEvent(seq=1, at=0.0, batch=MIN_BATCHES, costs=dump_costs(table))
    record_costs(run.pk, 1, event)


def measured_on_h100(run: Run, factor: float) -> None:
    """The run holds lanes, has measured that all takes `factor` times the profile's seconds, and gives them back."""
    allocate(holder=held_by(run.pk, 1), wanted=run.run_spec.granted_lanes)
    costs = lane_costs(Workload.of(run.run_spec), hardware.H100)
    table = {}
    for lane, device in devices_by_lane(run.pk, 1).items():
        if device == H100:
            table[lane, CostKind.GENERATE] = MeasuredCost(costs.generate.scaled(factor), 1, 2)
            table[lane, CostKind.ACCUMULATE] = MeasuredCost(costs.accumulate.scaled(factor), 1, 2)
    measure(run, table)
    release(run_id=run.pk, attempt=1)
    Run.objects.filter(pk=run.pk).update(state=RunState.COMPLETED)


def batch_seconds(run: Run, device: str) -> tuple[str, float]:
    """(Where the costs come from, predicted seconds of a batch) on four lanes of this device."""
    chosen = choose(run, {device: 4})
    assert chosen is not None
    assert chosen.plan is not None
    return chosen.plan["costs"], chosen.plan["by_mode"][chosen.plan["mode"]]["batch_seconds"]


def test_on_mixed_cards_each_device_has_the_costs_that_its_lanes_measured(
    make_run: MakeRun, make_spec: MakeSpec
) -> None:
    pool(a=(L40S, 3), b=(H100, 3))
    run = make_run(spec=make_spec(lanes={"num_rollout": 5, "num_trainer": 1, "num_reward": 1}))
    allocate(holder=held_by(run.pk, 1), wanted=run.run_spec.granted_lanes)
    seconds = {H100: 2.0, L40S: 9.0}
    generating = [(lane, device) for lane, device in devices_by_lane(run.pk, 1).items() if lane.startswith("rollout")]
    assert {device for _, device in generating} == {H100, L40S}
    measure(
        run,
        {(lane, CostKind.GENERATE): MeasuredCost(Cost(0.0, seconds[device] / 2), 2, 2) for lane, device in generating},
    )
    release(run_id=run.pk, attempt=1)
    (table,) = measured_costs(make_spec(), [L40S, H100]).tables
    assert {name: known.cost.seconds(2) for (name, _), known in table.items()} == {"h100": 2.0, "l40s": 9.0}


def test_what_one_gpu_has_measured_corrects_the_estimates_of_another(make_run: MakeRun, make_spec: MakeSpec) -> None:
    pool(a=(H100, 4))
    waiting = make_run(spec=make_spec(**AUTO))
    source, before = batch_seconds(waiting, L40S)
    assert source == "profile"
    measured_on_h100(make_run(spec=make_spec(lanes=LANES)), factor=5.0)
    source, after = batch_seconds(waiting, L40S)
    assert source == "corrected"
    assert after > 2 * before
    assert batch_seconds(waiting, H100)[0] == "measured"


def test_a_gpu_is_not_preferred_because_nobody_has_measured_it(make_run: MakeRun, make_spec: MakeSpec) -> None:
    pool(a=(H100, 4))
    measured_on_h100(make_run(spec=make_spec(lanes=LANES)), factor=20.0)
    pool(b=(L40S, 4))
    run = make_run(spec=make_spec(**AUTO))
    assert dispatch_waiting() == [run.pk]
    taken = {device for lane, device in devices_by_lane(run.pk, 1).items() if not lane.startswith("reward")}
    assert taken == {H100}, "its profile is as much too good as that of the faster GPU"


def test_cores_tell_nothing_of_gpus(make_run: MakeRun, make_spec: MakeSpec) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run(spec=make_spec(lanes=LANES))
    allocate(holder=held_by(run.pk, 1), wanted=run.run_spec.granted_lanes)
    measure(run, {(lane, CostKind.GENERATE): MeasuredCost(Cost(5.0), 1, 1) for lane in devices_by_lane(run.pk, 1)})
    assert measured_costs(make_spec(), ["cpu"]).tables
    assert not measured_costs(make_spec(), [L40S]).tables
