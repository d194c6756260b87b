"""The replay gate's bounds follow the dtype that a model computes in, unless a user gives them."""

from worker.contracts.sections import ReplayGateSpec


def test_bounds_that_are_left_empty_are_those_of_the_dtype() -> None:
    spec = ReplayGateSpec()
    assert spec.bounds("fp32") == (1e-3, 1e-4)
    assert spec.bounds("bf16") == (0.1, 0.01)


def test_bounds_that_are_given_hold_in_any_dtype() -> None:
    spec = ReplayGateSpec(max_mean_error=0.02)
    assert spec.bounds("bf16") == (0.02, 0.01)
    assert spec.bounds("fp32") == (0.02, 1e-4)
