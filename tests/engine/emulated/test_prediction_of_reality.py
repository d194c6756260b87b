"""Costs learnt on a real run's first batches foretell its later ones."""

import os
import statistics

import pytest

from tests.bench.real_runs import real_run, shapes_spec
from tests.engine.prediction import prediction_error

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1200)]

MAX_ERROR = 0.15
NUM_RUNS = 3
"""The machine is shared: the median of the errors counts."""


def test_costs_learnt_on_five_real_batches_foretell_the_next_ten(
    ray_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", "1")
    spec = shapes_spec("gap", num_batches=15)
    errors = [
        prediction_error(real_run(spec, ray_address).told, spec, learnt_by=5, batches=range(6, 16))
        for _ in range(NUM_RUNS)
    ]
    assert statistics.median(map(abs, errors)) <= MAX_ERROR, errors
