"""The arithmetic behind the bench's model-FLOPs utilisation."""

import pytest

from tests.bench.engine_cases import CPU_SIZE, large_case
from tests.bench.engine_mfu import known_device, rollout_flops, training_flops, utilisation
from worker.pipeline.hardware import H100
from worker.pipeline.profiles import FLUX

CASE = large_case(CPU_SIZE)
PROFILE = CPU_SIZE.profile()


def test_a_device_at_its_peak_is_fully_used() -> None:
    assert utilisation(H100.peak_flops * 3, 3.0, H100.peak_flops) == pytest.approx(1.0)


@pytest.mark.parametrize(("seconds", "peak"), [(0.0, 1e12), (-1.0, 1e12), (1.0, 0.0)])
def test_nothing_is_divided_by_nothing(seconds: float, peak: float) -> None:
    with pytest.raises(ValueError, match="must be > 0"):
        utilisation(1e12, seconds, peak)


def test_published_seconds_give_the_published_share() -> None:
    """FLUX.1 at 1024², 50 denoising steps: 3719.5 TFLOP, so 10 s on an H100 are 38 % of its peak."""
    flops = 50 * FLUX.forward_flops(FLUX.num_tokens(height=1024, width=1024, num_frames=1))
    assert utilisation(flops, 10.0, H100.peak_flops) == pytest.approx(0.376, abs=0.005)


def test_a_rollout_is_its_denoising_steps() -> None:
    forward = PROFILE.forward_flops(256)
    assert rollout_flops(PROFILE, CASE.spec, num_samples=2) == pytest.approx(2 * 6 * forward)


def test_a_trained_pair_is_two_forwards() -> None:
    """Recomputation spares memory; it is no part of the model's own arithmetic."""
    num_pairs = 2 * 2 * 2
    assert training_flops(PROFILE, CASE.spec) == pytest.approx(num_pairs * 2 * PROFILE.forward_flops(256))


def test_the_large_model_has_the_parameters_its_profile_says() -> None:
    transformer = CASE.build().transformer
    assert sum(parameter.numel() for parameter in transformer.parameters()) == pytest.approx(
        PROFILE.parameters, rel=0.03
    )


def test_devices_are_known_by_their_drivers_names() -> None:
    assert known_device("NVIDIA H100 80GB HBM3") is H100
    assert known_device("NVIDIA GeForce GTX 1080") is None
