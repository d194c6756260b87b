"""How long training is predicted to stand still for another gang."""

from dataclasses import replace

import pytest

from tests.scheduling.planning.synthetic_pools import ALIKE, pool, request_for
from worker.contracts.names import Tuning
from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost, MeasuredCostTable
from worker.scheduling.planning.policy_copies import PolicyCopies
from worker.scheduling.planning.workload import Workload
from worker.scheduling.replanning.move_seconds import move_seconds

WORK = replace(request_for(pool(ALIKE, [4])).work, weight_bytes=2, copies=PolicyCopies())
ADAPTER = replace(WORK, trained_parameters=WORK.profile.parameters / 100)
"""With bf16 weights, a checkpoint of 12 bytes for each hundredth parameter is 6 % of them."""
WHOLE = replace(WORK, trained_parameters=WORK.profile.parameters, tuning=Tuning.FULL)


def measured(**seconds: float) -> MeasuredCostTable:
    return {(GANG, CostKind(kind)): MeasuredCost(Cost(value), 1, 1, 0.0) for kind, value in seconds.items()}


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"checkpoint": 4.0, "start": 10.0, "restore": 2.0}, 16.0),
        ({"checkpoint": 4.0, "start": 10.0}, 18.0),
        ({"start": 10.0, "restore": 2.0}, 14.0),
        ({"checkpoint": 4.0}, 8.0),
        ({}, 0.0),
    ],
)
def test_a_change_takes_what_was_measured_of_its_parts(known: dict[str, float], expected: float) -> None:
    assert move_seconds(ADAPTER, measured(**known)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (ADAPTER, 10 * (1 + 2 * 0.06)),
        (WHOLE, 10 * (1 + 2 * 6.0)),
        (replace(WHOLE, copies=PolicyCopies(num_shadow_copies=2)), 10 * (1 + 2 * 10.0)),
    ],
)
def test_a_checkpoint_that_was_never_written_takes_as_long_for_its_bytes_as_a_start(
    of: Workload, expected: float
) -> None:
    assert move_seconds(of, measured(start=10.0)) == pytest.approx(expected)
