"""The steps of the test of a GPU on this machine's CPU, and on devices with faults that they are to find."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.gpu_test import faulty_ranks
from tests.engine.gpu_test.faulty_device import FaultyDevice, fill_with, flip_bit, only
from tests.engine.rank_processes import forked_processes
from worker.contracts.gpu_tests import GpuTestStepName, StepOutcome
from worker.contracts.names import ModelFamily
from worker.contracts.node_reports import GPU_TRACE_VARIABLE
from worker.engine.gpu_test import matrix_product, peer_sum
from worker.engine.gpu_test.matrix_product import ON_CPU, Sizes, check_matrix_product
from worker.engine.gpu_test.memory_sweep import CONSTANTS, WORD_BYTES, check_memory
from worker.engine.gpu_test.outcomes import StepFailedError, StepSkippedError
from worker.engine.gpu_test.peer_sum import check_all_reduce
from worker.engine.gpu_test.seen_device import check_seen_device
from worker.engine.gpu_test.sequence import Step, run_steps
from worker.engine.gpu_test.tiny_run import check_engine

CPU = torch.device("cpu")
BLOCK = 64 * WORD_BYTES
MM = torch.ops.aten.mm.default
COPY = torch.ops.aten.copy_.default


# --- matrix products --------------------------------------------------------------------------------------------------


def test_products_of_a_sound_device_pass_with_their_rates() -> None:
    found = check_matrix_product(CPU)
    assert "float32" in found and "bfloat16" in found and "TFLOP/s" in found


def test_one_wrong_element_fails_the_product() -> None:
    """By a bit of its exponent."""
    device = FaultyDevice(MM, only(torch.float32, flip_bit(1000, 30)))
    with device, pytest.raises(StepFailedError, match=r"1 of 65536 elements .* float32 are wrong.* row 3, column 232:"):
        check_matrix_product(CPU)


@settings(max_examples=30, deadline=None)
@given(position=st.integers(0, 64 * 64 - 1), bit=st.integers(16, 30))
def test_every_bit_of_a_float_above_the_rounding_is_checked(position: int, bit: int) -> None:
    sizes = Sizes(num_rows=64, sum_length=64, repeated=8)
    changes: list[float] = []

    def spoil(result: torch.Tensor, arguments: Sequence[Any]) -> None:
        if result.shape != (64, 64):  # A repeated product, which is compared by its bits and not with the CPU's.
            return
        before = float(result.flatten()[position])
        flip_bit(position, bit)(result, arguments)
        changes.append(abs(float(result.flatten()[position]) - before))

    try:
        with FaultyDevice(MM, only(torch.float32, spoil)):
            check_matrix_product(CPU, sizes)
    except StepFailedError as failure:
        assert f"row {position // 64}, column {position % 64}:" in str(failure)
    else:
        # Sums of 64 products may be off by 3e-4: a bit of a number near 0 may change less.
        assert changes[0] < 1e-3


def test_a_product_that_comes_out_differently_once_fails_by_its_lowest_bit() -> None:
    """After two dtypes with three products each on the CPU, and four of the repeated ones."""
    device = FaultyDevice(MM, flip_bit(7, 0), after=2 * 3 + 4)
    with device, pytest.raises(StepFailedError, match=r"product 5 of the same .* has other bits in 1 of"):
        check_matrix_product(CPU)


def test_a_device_that_answers_nan_fails() -> None:
    device = FaultyDevice(MM, only(torch.bfloat16, fill_with(float("nan"))))
    with device, pytest.raises(StepFailedError, match="65536 of 65536 elements of a product in bfloat16"):
        check_matrix_product(CPU)


@pytest.mark.parametrize("dtype", matrix_product.DTYPES)
def test_the_bound_is_tight_enough_to_see_a_thousandth(dtype: torch.dtype) -> None:
    """Of the size of a typical element, which is the root of the sum's length; bf16 itself rounds to 1/256."""
    length = ON_CPU.sum_length
    typical = torch.full((1,), length**0.5, dtype=torch.float64)
    magnitudes = torch.full((1,), length * 2 / torch.pi, dtype=torch.float64)
    bound = float(matrix_product._rounding(dtype, length, typical, magnitudes))
    assert bound / length**0.5 < (0.001 if dtype == torch.float32 else 0.005)


# --- memory -----------------------------------------------------------------------------------------------------------


def test_sound_memory_passes_with_its_bandwidth() -> None:
    assert check_memory(CPU).startswith("0.0625 GiB held 5 patterns")


@settings(max_examples=30, deadline=None)
@given(block=st.integers(0, 3), position=st.integers(0, 63), bit=st.integers(0, 62), is_set=st.booleans())
def test_a_stuck_bit_is_found_with_its_address(block: int, position: int, bit: int, is_set: bool) -> None:
    """Some pattern asks each bit to be set and some other to be clear, so one stuck bit is wrong in at least two of
    them; in the fifth it may be right by chance."""
    addresses: list[int] = []

    def spoil(written: torch.Tensor, arguments: Sequence[Any]) -> None:
        if written.data_ptr() not in addresses:
            addresses.append(written.data_ptr())
        if addresses.index(written.data_ptr()) == block:
            written[position] = (written[position] | (1 << bit)) if is_set else (written[position] & ~(1 << bit))

    with FaultyDevice(COPY, spoil), pytest.raises(StepFailedError) as failure:
        check_memory(CPU, 4 * BLOCK, BLOCK)
    num_wrong, offset = int(str(failure.value).split()[0]), (block * 64 + position) * WORD_BYTES
    assert f"the first at byte {offset:#x}:" in str(failure.value)
    assert num_wrong in (2, 3)
    assert f"{num_wrong} words of {4 * 64 * (len(CONSTANTS) + 1)}" in str(failure.value)


def test_two_addresses_of_one_cell_are_found() -> None:
    """What is written to the last block comes out of the first too; constants cannot tell."""
    blocks: list[torch.Tensor] = []

    def spoil(written: torch.Tensor, arguments: Sequence[Any]) -> None:
        if all(written.data_ptr() != block.data_ptr() for block in blocks):
            blocks.append(written)
        if len(blocks) == 4 and written.data_ptr() == blocks[3].data_ptr():
            blocks[0].view(-1)[5] = int(written[5])

    with FaultyDevice(COPY, spoil), pytest.raises(StepFailedError, match=r"^1 words of 1280 .* at byte 0x28:"):
        check_memory(CPU, 4 * BLOCK, BLOCK)


def test_memory_that_is_taken_fails() -> None:
    with pytest.raises(StepFailedError, match="does another program use it"):
        check_memory(CPU, BLOCK - 1, BLOCK)


# --- device, engine, all-reduce ---------------------------------------------------------------------------------------


def test_the_device_is_compared_by_uuid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GPU_TRACE_VARIABLE, "trace")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-a")
    assert "its UUID is GPU-a" in check_seen_device("GPU-a", "GPU-a")
    with pytest.raises(StepFailedError, match="asked for GPU-b, the driver shows GPU-a"):
        check_seen_device("GPU-b", "GPU-b")
    assert "cannot be compared" in check_seen_device("0", "")


def test_a_batch_of_the_engine_is_trained(tiny_checkpoint: str) -> None:
    """In a process of its own, since this one's process group is that of other tests."""
    with forked_processes().Pool(1) as pool:
        said = pool.apply(check_engine, (tiny_checkpoint, ModelFamily.FLUX))
        assert said.startswith("8 pictures and one optimizer step: loss ")
        with pytest.raises(StepSkippedError, match="cannot be used"):
            pool.apply(check_engine, (tiny_checkpoint, ModelFamily.SD3))


def test_without_a_model_the_engine_is_skipped(tmp_path: Path) -> None:
    for path, family in (("", None), (str(tmp_path / "elsewhere"), ModelFamily.FLUX)):
        with pytest.raises(StepSkippedError):
            check_engine(path, family)


def test_two_processes_add_exactly_and_one_alone_skips() -> None:
    assert check_all_reduce("cpu", "cpu").startswith("8 sums with cpu are exact, at ")
    with pytest.raises(StepSkippedError):
        check_all_reduce("cpu", None)


@pytest.mark.parametrize(
    ("rank", "limit", "said"),
    [
        (faulty_ranks.dies, 60, "rank 1 on cpu: its process died"),
        (faulty_ranks.hangs, 3, "rank 0 on cpu and rank 1 on cpu hung: no result within 3 s"),
        (faulty_ranks.adds_wrongly, 60, "rank 1 on cpu: 1 of 262144 elements of sum 1 are wrong"),
    ],
)
def test_a_peer_that_fails_is_a_failure_soon(
    monkeypatch: pytest.MonkeyPatch, rank: Any, limit: float, said: str
) -> None:
    monkeypatch.setattr(peer_sum, "_rank", rank)
    monkeypatch.setattr(peer_sum, "get_context", lambda _method: forked_processes())
    with pytest.raises(StepFailedError, match=said):
        check_all_reduce("cpu", "cpu", limit_seconds=limit)


# --- the sequence -----------------------------------------------------------------------------------------------------


def _skips() -> str:
    raise StepSkippedError("no peer")


def _raises() -> str:
    raise RuntimeError("no kernel image is available")


def _hangs_for_ever() -> str:
    time.sleep(600)
    return ""


def steps(*runs: Any, limit: float = 5) -> list[Step]:
    return [Step(name, run, limit) for name, run in zip(GpuTestStepName, runs, strict=False)]


def test_what_was_not_tried_is_skipped_with_why() -> None:
    found = list(run_steps(steps(lambda: "it is there", _skips, _raises, lambda: "never")))
    assert [(step.outcome, step.detail) for step in found] == [
        (StepOutcome.PASSED, "it is there"),
        (StepOutcome.SKIPPED, "no peer"),
        (StepOutcome.FAILED, "RuntimeError: no kernel image is available"),
        (StepOutcome.SKIPPED, "not tried, since memory_sweep failed"),
    ]


def test_a_step_that_hangs_fails_at_its_limit() -> None:
    began = time.monotonic()
    first, second = run_steps(steps(_hangs_for_ever, lambda: "never", limit=0.2))
    assert time.monotonic() - began < 5
    assert (first.outcome, first.detail) == (StepOutcome.FAILED, "it hung: no result within 0.2 s")
    assert second.outcome is StepOutcome.SKIPPED


def test_a_long_message_is_cut() -> None:
    def wordy() -> str:
        raise ValueError("x" * 5000)

    (step,) = run_steps(steps(wordy))
    assert len(step.detail) == 1000
