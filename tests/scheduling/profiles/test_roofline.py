"""The arithmetic of `make bench-roofline`: operations of a trace, and what is left of its bytes in fused chains."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.bench.roofline.__main__ import MEMORY_BANDWIDTH, PRODUCT_FLOPS, SIDES, Row, rows, seconds_of
from tests.bench.roofline.expected_mfu import EXPECTED_MFU, expected_mfu
from tests.bench.roofline.fused_chains import fused
from tests.bench.roofline.passes import TracedPass, traced
from tests.bench.roofline.traced_kernels import Kernel, KernelKind, Value
from tests.scheduling.profiles.published_models import PUBLISHED, Published
from worker.scheduling.profiles.hardware import H20, H100
from worker.scheduling.profiles.image_models import FLUX
from worker.scheduling.profiles.video_models import WAN

SIZE = 100


def kernel(reads: Sequence[int], writes: Sequence[int], kind: KernelKind = KernelKind.ELEMENT_WISE) -> Kernel:
    """Of values of `SIZE` bytes, named by numbers."""
    return Kernel(kind, 0.0, *(tuple(Value(each, SIZE) for each in side) for side in (reads, writes)))


def element_wise_bytes(kernels: Sequence[Kernel]) -> int:
    return sum(each.num_bytes for each in kernels if each.kind is KernelKind.ELEMENT_WISE)


def test_a_chain_reads_its_input_once_and_writes_what_is_read_after_it() -> None:
    # 1 is scaled to 2, shifted to 3, and 3 is multiplied.
    chain = [kernel([1], [2]), kernel([2], [3]), kernel([3], [4], KernelKind.PRODUCT), kernel([4], [5])]
    assert element_wise_bytes(chain) == 6 * SIZE
    # 1 is read and 3 written; 4 is read and 5, the result, written.
    assert element_wise_bytes(fused(chain)) == 4 * SIZE


def test_what_a_backward_pass_reads_is_written_though_its_chain_reads_it_too() -> None:
    chain = [kernel([1], [2]), kernel([2], [3]), kernel([3], [4], KernelKind.PRODUCT), kernel([4, 2], [5])]
    # 1 read, 2 and 3 written; 4 and 2 read, 5 written.
    assert element_wise_bytes(fused(chain)) == 6 * SIZE


def test_a_residual_that_goes_around_a_product_is_in_no_chain_with_what_follows_it() -> None:
    around = [kernel([1], [2]), kernel([2], [3], KernelKind.PRODUCT), kernel([1, 3], [4])]
    assert len([each for each in fused(around) if each.kind is KernelKind.ELEMENT_WISE]) == 2


def few_blocks() -> Published:
    published = next(each for each in PUBLISHED if each.profile is FLUX)
    return replace(published, config={**published.config, "num_layers": 1, "num_single_layers": 2})


@pytest.mark.parametrize("under_autocast", [False, True])
def test_a_trace_counts_the_operations_of_the_model_and_of_its_lora(under_autocast: bool) -> None:
    wanted = TracedPass(side=512, batch=2, trains=False, under_autocast=under_autocast)
    kernels = traced(few_blocks(), wanted, rank=32)
    products = sum(each.flops for each in kernels if each.kind is KernelKind.PRODUCT)
    attention = [each.flops for each in kernels if each.kind is KernelKind.ATTENTION]
    num_tokens, layers = 1024 + 512, 3
    assert attention == [2 * 4 * num_tokens**2 * 3072] * layers
    linear = 2 * layers * 2 * FLUX.layer_parameters_per_token * num_tokens
    # LoRA adds rank × (in + out) to in × out of each layer; embeddings and the output layer are beside the blocks.
    assert linear < products < 1.06 * linear


def test_a_backward_pass_takes_five_products_of_attention_and_reads_what_was_kept() -> None:
    forward, both = (
        traced(few_blocks(), TracedPass(side=512, batch=1, trains=trains, under_autocast=False), rank=8)
        for trains in (False, True)
    )
    attention = [
        sum(each.flops for each in kernels if each.kind is KernelKind.ATTENTION) for kernels in (forward, both)
    ]
    assert attention[1] == pytest.approx(3.5 * attention[0])
    assert element_wise_bytes(fused(both)) > element_wise_bytes(fused(forward))


def test_seconds_are_operations_over_rates_and_bytes_over_the_bandwidth() -> None:
    product = Kernel(KernelKind.PRODUCT, PRODUCT_FLOPS, (), ())
    attention = Kernel(KernelKind.ATTENTION, 3e12, (), ())
    copy = Kernel(
        KernelKind.ELEMENT_WISE, 0.0, (Value(1, round(MEMORY_BANDWIDTH)),), (Value(2, round(MEMORY_BANDWIDTH)),)
    )
    assert seconds_of([product, attention, copy], attention_flops=1e12) == pytest.approx(1 + 3 + 2)


@pytest.mark.slow
@pytest.mark.parametrize("side", SIDES)
def test_the_kit_compares_with_what_the_trace_gives(side: int) -> None:
    found = {(row.work, row.form): row.mfu for row in rows(side)}
    for work in ("generation", "training"):
        uncompiled, compiled = EXPECTED_MFU[work, side]
        assert found[work, "cuDNN's attention"] == pytest.approx(uncompiled, abs=0.005)
        assert found[work, "compiled at best"] == pytest.approx(compiled, abs=0.005)


def test_nothing_is_expected_of_what_was_not_traced() -> None:
    assert expected_mfu(FLUX, H100, "training", 512, is_compiled=True) == EXPECTED_MFU["training", 512][1]
    for profile, device, side in ((WAN, H100, 512), (FLUX, H20, 512), (FLUX, None, 512), (FLUX, H100, 768)):
        assert expected_mfu(profile, device, "training", side, is_compiled=True) is None


@pytest.mark.slow
def test_each_change_brings_the_utilisation_closer_to_the_peak() -> None:
    found: dict[str, list[Row]] = {"generation": [], "training": []}
    for row in rows(512):
        found[row.work].append(row)
    for each in found.values():
        utilisations = [row.mfu for row in each]
        assert utilisations == sorted(utilisations)
    # The desk-check's own trace gave 0.25 s and 0.826 s before the changes.
    assert found["generation"][0].seconds == pytest.approx(0.25, rel=0.05)
    assert found["training"][0].seconds == pytest.approx(0.826, rel=0.05)
