"""The steps of the test of a GPU on a real one: it passes, and bits that are wrong on the device are found there."""

from multiprocessing import get_context

import pytest
import torch
from deepspeed.accelerator import get_accelerator

from tests.engine.gpu_test.faulty_device import FaultyDevice, flip_bit, only
from worker.contracts.names import ModelFamily
from worker.engine.devices.selection import resolve_device
from worker.engine.gpu_test.matrix_product import check_matrix_product
from worker.engine.gpu_test.memory_sweep import check_memory
from worker.engine.gpu_test.outcomes import StepFailedError
from worker.engine.gpu_test.peer_sum import check_all_reduce
from worker.engine.gpu_test.tiny_run import check_engine

pytestmark = pytest.mark.gpu


def test_products_pass_at_a_plausible_rate() -> None:
    found = check_matrix_product(resolve_device(None))
    assert float(found.partition("bfloat16 ")[2].partition(" ")[0]) > 1


def test_one_wrong_element_is_found() -> None:
    device = FaultyDevice(torch.ops.aten.mm.default, only(torch.bfloat16, flip_bit(4097, 14)))
    with device, pytest.raises(StepFailedError, match=r"1 of 16777216 elements .* row 1, column 1:"):
        check_matrix_product(resolve_device(None))


def test_nearly_all_free_memory_is_swept_and_given_back() -> None:
    get_accelerator().empty_cache()
    before = torch.accelerator.get_memory_info()[0]
    found = check_memory(resolve_device(None))
    assert float(found.partition(" GiB")[0]) > 0.8 * before / 2**30 - 1
    assert torch.accelerator.get_memory_info()[0] > 0.95 * before


def test_a_wrong_word_is_found_with_its_address() -> None:
    device = FaultyDevice(torch.ops.aten.copy_.default, flip_bit(77, 5))
    with device, pytest.raises(StepFailedError, match="the first at byte 0x268:"):
        check_memory(resolve_device(None), 2**28, 2**26)


def test_a_batch_is_trained(tiny_checkpoint: str) -> None:
    with get_context("spawn").Pool(1) as pool:
        assert "one optimizer step" in pool.apply(check_engine, (tiny_checkpoint, ModelFamily.FLUX))


def test_two_gpus_add_exactly() -> None:
    if get_accelerator().device_count() < 2:
        pytest.skip("one accelerator only")
    assert "are exact" in check_all_reduce("0", "1")
