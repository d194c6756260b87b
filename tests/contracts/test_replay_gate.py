"""The replay gate's bounds follow the dtype that a model computes in, unless a user or a preset gives them."""

from worker.contracts.replay_bounds import ReplayBounds, ReplayGateSpec


def test_in_fp32_the_largest_error_is_judged_and_in_bf16_its_size_over_all_elements() -> None:
    spec = ReplayGateSpec()
    assert spec.bounds("fp32") == ReplayBounds(1e-3, None, None, 1e-4)
    assert spec.bounds("bf16") == ReplayBounds(None, 0.02, 0.1, 0.01)


def test_bounds_that_are_given_hold_in_any_dtype() -> None:
    spec = ReplayGateSpec(max_mean_error=0.02, max_rms_error=0.001)
    assert spec.bounds("bf16") == (0.02, 0.001, 0.1, 0.01)
    assert spec.bounds("fp32") == (0.02, 0.001, None, 1e-4)
