"""The simulator against real actors, messages and publishes: the same scheduler must give the same batch times.

Seconds are compared, since they are what the simulator predicts: emulated lanes only wait, and a prediction starts from
the costs that the run itself measured, messages included. Other load on the machine may slow down one run unevenly, so
the best of a few runs counts: a wrong simulator is wrong in all of them.
"""

from pathlib import Path

import pytest

from tests.engine.emulated.cases import SPLITS, Case
from tests.engine.emulated.run_case import emulate
from tests.engine.prediction import prediction_error
from tests.engine.telemetry.ingest_server import start_ingest

# Slow: times are compared here, and tests that run in parallel would change them.
pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]

MAX_ERROR = 0.05
"""Relative error of the mean batch time."""
MAX_RUNS = 3
"""Runs of a case, of which the best counts."""


def best_error(case: Case, ray_address: str, folder: Path) -> float:
    """The smallest error of the mean batch time, the first batch left out: it waits for lanes and an evaluation."""
    errors: list[float] = []
    for _ in range(MAX_RUNS):
        ingest, server = start_ingest()
        measured = emulate(case, ray_address, ingest, folder)
        server.shutdown()
        server.server_close()
        last = case.num_batches
        errors.append(abs(prediction_error(measured, case.spec, measured_by=last, batches=range(2, last + 1))))
        if errors[-1] <= MAX_ERROR:
            break
    return min(errors)


@pytest.mark.parametrize(
    "case",
    [
        Case(8, "colocated", is_mixed=False, num_batches=4),
        Case(8, "gap + tag greedy", is_mixed=True, num_batches=4),
        Case(8, "gap + staleness 1", is_mixed=True, num_batches=5),
    ],
    ids=str,
)
def test_eight_lanes_take_the_time_that_the_simulator_predicts(case: Case, ray_address: str, tmp_path: Path) -> None:
    assert best_error(case, ray_address, tmp_path) <= MAX_ERROR


@pytest.mark.parametrize("is_mixed", [False, True], ids=["alike", "mixed"])
@pytest.mark.parametrize("mode", ["colocated", "gap", "gap + tag greedy", "gap + staleness 1"])
@pytest.mark.parametrize("num_lanes", [number for number in SPLITS if number > 8])
def test_many_lanes_take_the_time_that_the_simulator_predicts(
    num_lanes: int, mode: str, is_mixed: bool, ray_address: str, tmp_path: Path
) -> None:
    assert best_error(Case(num_lanes, mode, is_mixed), ray_address, tmp_path) <= MAX_ERROR
