"""The arithmetic of the bench's model-FLOPs utilisation (MFU)."""

from dataclasses import replace

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from tests.bench.engine_cases import CPU_SIZE, TOKEN_PIXELS, large_case
from tests.bench.engine_mfu import known_device, rollout_flops, training_flops, utilisation
from worker.contracts.names import Tuning
from worker.fixtures.shapes.caption_encoders import EMBEDDING_DIM, T5_NUM_TOKENS
from worker.scheduling.profiles.hardware import H100
from worker.scheduling.profiles.image_models import FLUX

CASE = large_case(CPU_SIZE)
PROFILE = CPU_SIZE.profile()


def test_a_device_at_its_peak_has_an_mfu_of_one() -> None:
    assert utilisation(H100.peak_flops * 3, 3.0, H100.peak_flops) == pytest.approx(1.0)


@pytest.mark.parametrize(("seconds", "peak"), [(0.0, 1e12), (-1.0, 1e12), (1.0, 0.0)])
def test_seconds_and_peak_must_be_above_zero(seconds: float, peak: float) -> None:
    with pytest.raises(ValueError, match="must be > 0"):
        utilisation(1e12, seconds, peak)


def test_the_mfu_of_flux_1_follows_from_its_operations() -> None:
    """FLUX.1 at 1024², 50 denoising steps: 3719.5 TFLOP, so 10 s on an H100 are 38 % of its peak."""
    flops = 50 * FLUX.forward_flops(FLUX.num_tokens(height=1024, width=1024, num_frames=1))
    assert utilisation(flops, 10.0, H100.peak_flops) == pytest.approx(0.376, abs=0.005)


def test_the_operations_of_a_rollout_are_those_of_its_denoising_steps() -> None:
    forward = PROFILE.forward_flops(144)
    assert rollout_flops(PROFILE, CASE.spec, num_samples=2) == pytest.approx(2 * 6 * forward)


@pytest.mark.parametrize("tuning", Tuning)
def test_operations_are_those_that_torch_counts(tuning: Tuning) -> None:
    """The transformer has no LoRA layers, whose operations the bench leaves out."""
    small = replace(CPU_SIZE, width=128, num_layers=4, members=2)
    case = large_case(small)
    spec, transformer = case.spec.model_copy(update={"tuning": tuning}), case.build().transformer
    num_tokens = (small.side // TOKEN_PIXELS) ** 2
    inputs = {
        "hidden_states": torch.randn(2, num_tokens, transformer.config.in_channels, requires_grad=True),
        "encoder_hidden_states": torch.randn(2, T5_NUM_TOKENS, EMBEDDING_DIM),
        "pooled_projections": torch.randn(2, EMBEDDING_DIM),
        "timestep": torch.full((2,), 0.5),
        "guidance": torch.full((2,), 1.0),
        "img_ids": torch.zeros(num_tokens, 3),
        "txt_ids": torch.zeros(T5_NUM_TOKENS, 3),
    }
    transformer.requires_grad_(tuning is Tuning.FULL)
    # Torch's counter does not support the fused attention of a CPU.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as forward:
        loss = transformer(**inputs, return_dict=False)[0].sum()
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    counted = forward.get_total_flops(), forward.get_total_flops() + backward.get_total_flops()
    share_of_pairs = 2 / spec.algebra.num_pairs_per_optimizer_step
    expected = 2 * small.profile().forward_flops(num_tokens), training_flops(small.profile(), spec) * share_of_pairs
    assert counted == pytest.approx(expected, rel=0.03)


def test_the_large_model_has_as_many_parameters_as_its_profile() -> None:
    transformer = CASE.build().transformer
    assert sum(parameter.numel() for parameter in transformer.parameters()) == pytest.approx(
        PROFILE.parameters, rel=0.03
    )


def test_devices_are_recognised_by_the_names_of_their_drivers() -> None:
    assert known_device("NVIDIA H100 80GB HBM3") is H100
    assert known_device("NVIDIA GeForce GTX 1080") is None
