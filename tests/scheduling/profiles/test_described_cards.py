"""A card without a profile is planned by its own figures, or by the slowest known ones; never as an H100."""

import pytest

from worker.contracts.device_names import PROFILED_DEVICES, known_profile
from worker.contracts.node_reports import CardFigures
from worker.scheduling.profiles.described_cards import card_name, described_card
from worker.scheduling.profiles.hardware import ACCELERATORS, GB, H20, H100, L40S
from worker.scheduling.profiles.known_devices import accelerator

A40 = CardFigures(num_processors=84, bf16_flops=118.2e12, fp32_flops=35.1e12, memory_bandwidth=601e9)


def test_a_measured_card_has_its_own_memory_and_rates() -> None:
    card = accelerator(card_name(48.3e9, A40))
    assert (card.memory_bytes, card.peak_flops, card.fp32_flops) == pytest.approx((48.3 * GB, 118.2e12, 35.1e12))
    assert card.memory_bandwidth == pytest.approx(601 * GB)
    assert card.name == card_name(48.3e9, A40)


def test_a_card_that_was_not_measured_has_the_slowest_rates_that_are_known() -> None:
    card = accelerator(card_name(24e9, None))
    assert card.memory_bytes == 24 * GB
    assert (card.peak_flops, card.fp32_flops) == (H20.peak_flops, H20.fp32_flops)
    assert card.memory_bandwidth == L40S.memory_bandwidth < H100.memory_bandwidth
    assert card.peak_flops * card.generation_efficiency.value < L40S.peak_flops * L40S.generation_efficiency.value


@pytest.mark.parametrize("name", ["a40", "card of 48 GB", "card of x GB, 1 bf16, 1 fp32 TFLOPS, 1 GB/s", "H100", ""])
def test_any_other_name_is_refused(name: str) -> None:
    assert described_card(name) is None
    with pytest.raises(ValueError, match="it has no profile"):
        accelerator(name)


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),
        ("NVIDIA H20", "h20"),
        ("NVIDIA L40S", "l40s"),
        ("h100", "h100"),
        ("cpu", "cpu"),
        ("", None),
        # Other boards of the same chips: less memory bandwidth, more memory, other links.
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA H100 80GB HBM2e", None),
        ("NVIDIA H100 NVL", None),
        ("NVIDIA H100 SXM5 64GB", None),
        ("NVIDIA H800", None),
        ("NVIDIA GH200 480GB", None),
        ("NVIDIA H200 NVL", None),
        ("NVIDIA H20-3e", None),
        ("NVIDIA L40", None),
        ("NVIDIA L20", None),
        ("NVIDIA A40", None),
        ("NVIDIA A100-SXM4-80GB", None),
        ("NVIDIA A100 80GB PCIe", None),
        ("NVIDIA B200", None),
        ("AMD Instinct MI300X", None),
    ],
)
def test_only_the_very_board_that_a_profile_describes_has_it(device: str, expected: str | None) -> None:
    assert known_profile(device) == expected


def test_the_names_in_the_contracts_are_those_of_the_profiles() -> None:
    assert set(PROFILED_DEVICES) == set(ACCELERATORS)
