"""A real run's batch times are predicted: roughly before anything is measured, closely from its own first batches."""

import os
import statistics

import pytest

from tests.bench.real_runs import real_run, shapes_spec
from tests.engine.prediction import first_estimate, prediction_error, simulated

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1200)]

MAX_ERROR = 0.15
"""Relative; the same mode's batch times differ by up to 19 % between runs (`deploy/docs/reports/pipeline.md`)."""
NUM_RUNS = 3
"""The machine is shared, so the median of the errors of several runs counts."""


def test_costs_measured_on_five_real_batches_predict_the_next_ten(
    ray_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", "1")
    spec = shapes_spec("gap", num_batches=15)
    errors = [
        prediction_error(real_run(spec, ray_address).measured, spec, measured_by=5, batches=range(6, 16))
        for _ in range(NUM_RUNS)
    ]
    assert statistics.median(map(abs, errors)) <= MAX_ERROR, errors


@pytest.mark.parametrize("mode", ["colocated", "gap"])
def test_the_first_estimate_of_cpu_lanes_comes_within_a_factor_of_two(
    mode: str, ray_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", "1")
    spec = shapes_spec(mode, num_batches=8)
    batches = range(3, 8)
    expected = simulated(spec, first_estimate(spec)).mean_seconds(batches)
    run = real_run(spec, ray_address)
    measured = run.measured.mean_seconds(batches)
    assert 0.5 <= expected / measured <= 2, (
        f"{expected:.2f} s expected, {measured:.2f} s measured at load average {run.load_average}: a shared core is "
        "slower than an idle one"
    )
