"""The replay gate's bounds follow the dtype that a model computes in and its family, unless a user gives them."""

import pytest

from worker.contracts import replay_bounds
from worker.contracts.names import ModelFamily
from worker.contracts.replay_bounds import ReplayBounds, ReplayGateSpec

FLUX = ModelFamily.FLUX


def test_in_fp32_the_largest_error_is_judged_and_in_bf16_its_size_over_all_elements() -> None:
    spec = ReplayGateSpec()
    assert spec.bounds("fp32", FLUX) == ReplayBounds(1e-3, None, None, 1e-4)
    assert spec.bounds("bf16", FLUX) == ReplayBounds(None, 0.02, 0.1, 0.01)


def test_bounds_that_are_given_hold_in_any_dtype() -> None:
    spec = ReplayGateSpec(max_mean_error=0.02, max_rms_error=0.001)
    assert spec.bounds("bf16", FLUX) == (0.02, 0.001, 0.1, 0.01)
    assert spec.bounds("fp32", FLUX) == (0.02, 0.001, None, 1e-4)


def test_a_family_that_was_measured_has_bounds_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = ReplayBounds(None, 0.003, 0.012, 0.002)
    monkeypatch.setitem(replay_bounds.BF16_BOUNDS_OF_FAMILY, FLUX, measured)
    assert ReplayGateSpec().bounds("bf16", FLUX) == measured
    assert ReplayGateSpec().bounds("fp32", FLUX) == replay_bounds.FP32_BOUNDS
    assert ReplayGateSpec().bounds("bf16", ModelFamily.WAN) == replay_bounds.BF16_BOUNDS
