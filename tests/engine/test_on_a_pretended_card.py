"""Tests of `tests/gpu` with their fixtures and helpers, stages of the kit and a batch of every family on a device that
only pretends not to be the CPU, so that what would fail on a card for a tensor left on the CPU fails here. They run in
a process of their own, see `pretend_card`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ON_A_CARD = "tests/gpu/test_engine_on_an_accelerator.py"
STAGES_OF_THE_KIT = "tests/engine/gpu_bench/stages_on_pretend_card.py"
EVERY_FAMILY = "tests/engine/models/batches_on_pretend_card.py"
REPLAYED = "test_the_replay_gate_holds_in_fp32"
LENT = "test_a_lent_lane_draws_the_rollout_lanes_bits_and_leaves_no_trace"
RESUMED = "test_resuming_is_bitwise_equal_when_deterministic"
IDLE = "test_idle_state_is_offloaded_and_reloaded_bit_for_bit"
OFFLOADED = "test_an_offloaded_optimizer_takes_the_same_steps_and_lies_on_the_host"
FULL = "test_full_fine_tuning_trains_lends_and_publishes"
PEAK = "test_recomputed_blocks_lower_the_peak_and_change_no_gradient"
EVERY_STAGE = (REPLAYED, RESUMED, LENT, IDLE)
UNSHARDED = tuple(f"{ON_A_CARD}::{test}[{stage}]" for test in EVERY_STAGE for stage in (0, 1, 2))
SHARDED = (
    *(f"{ON_A_CARD}::{test}[3]" for test in (*EVERY_STAGE, PEAK)),
    f"{ON_A_CARD}::{FULL}[zero3-bf16]",
    f"{ON_A_CARD}::{OFFLOADED}[zero3_optimizer_cpuoffload]",
    f"{ON_A_CARD}::{OFFLOADED}[zero3_cpuoffload]",
)
IN_FAST_TESTS = (
    f"{ON_A_CARD}::test_a_bf16_base_replays_close_to_what_it_drew",
    f"{ON_A_CARD}::{OFFLOADED}[zero2_cpuoffload]",
    "tests/gpu/test_staged_versions.py",
    f"{STAGES_OF_THE_KIT}::test_the_head_of_a_report_names_the_card",
)
OTHERS = (
    f"{ON_A_CARD}::{FULL}[zero0-fp32]",
    f"{ON_A_CARD}::{FULL}[zero2-bf16]",
    f"{ON_A_CARD}::{PEAK}[0]",
    f"{ON_A_CARD}::{OFFLOADED}[zero1_cpuoffload]",
    f"{ON_A_CARD}::test_an_accelerator_draws_the_cpus_noise_and_almost_its_pictures",
    "tests/gpu/test_steps_on_an_accelerator.py::test_one_wrong_element_is_found",
)
"""What is left of `tests/gpu` needs what only a card has: its rates, all of its memory, NCCL, a process of its own."""

SCRIPT = """
import torch
from deepspeed.accelerator import get_accelerator
from tests.engine.pretend_card import pretend
with pretend() as card:
    parameter = torch.nn.Linear(4, 2).to(card).weight
    assert parameter.device == card and (2 * parameter).device == card and parameter.cpu().device.type == "cpu"
    assert torch.equal(parameter + torch.tensor(1.0), parameter + 1)
    moved = parameter + torch.randn(2, 4).to(card)
    (moved * torch.ones(2, 4, device=card)).sum().backward()
    assert parameter.grad.device == card
    try:
        parameter + torch.randn(2, 4)
    except RuntimeError as error:
        print(error)

    accelerator = get_accelerator()
    ones, host = torch.ones(1000, device=card), accelerator.pin_memory(torch.zeros(1000))
    host.copy_(ones, non_blocking=True)
    unwaited = host.sum()
    accelerator.current_stream().synchronize()
    with accelerator.stream(accelerator.Stream()):
        host.copy_(2 * ones, non_blocking=True)
    float(ones.sum())
    print("pinned", host.is_pinned(), float(unwaited), float(host.sum()))
    held = accelerator.memory_allocated()
    accelerator.reset_peak_memory_stats()
    ones.untyped_storage().resize_(0)
    print("freed", held - accelerator.memory_allocated())
    (2 * parameter * torch.ones(1000, 1, 1, device=card)).sum()
    print("peak", accelerator.max_memory_allocated() - held, "held", accelerator.memory_allocated() - held)

    layer = torch.nn.Linear(4, 2).to(card)
    with torch.autocast(card.type, torch.bfloat16):
        half = layer(torch.randn(3, 4, device=card))
        print("autocast", half.dtype, half.softmax(-1).dtype, (half * 2).dtype, torch.cat([half, half.float()]).dtype)
    half.sum().backward()
    print("gradient", layer.weight.grad.dtype, layer(torch.randn(3, 4, device=card)).dtype)
"""


def run(*arguments: str) -> str:
    command = (sys.executable, *arguments)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=560, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


@pytest.fixture(scope="module")
def printed() -> str:
    return run("-c", SCRIPT)


def test_a_tensor_of_the_cpu_meets_one_of_the_pretended_card_in_a_copy_only(printed: str) -> None:
    assert "Expected all tensors to be on the same device, but found at least two devices" in printed


def test_a_copy_to_pinned_memory_is_seen_once_its_own_stream_is_waited_for(printed: str) -> None:
    assert "pinned True 0.0 1000.0" in printed, "the second copy is on another stream than the read"


def test_memory_of_the_pretended_card_is_counted_and_freed(printed: str) -> None:
    assert "freed 4000" in printed


def test_the_peak_of_the_pretended_cards_memory_is_counted_from_its_reset(printed: str) -> None:
    product, ones, doubled, given_back = 1000 * 4 * 2 * 4, 4000, 4 * 2 * 4, -4000
    assert f"peak {product + ones + doubled + given_back} held {given_back}" in printed


def test_autocast_on_the_pretended_card_casts_for_the_operators_that_it_does_on_a_card(printed: str) -> None:
    assert "autocast torch.bfloat16 torch.float32 torch.bfloat16 torch.float32" in printed
    assert "gradient torch.float32 torch.float32" in printed


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("names", "number"),
    [
        pytest.param(IN_FAST_TESTS, len(IN_FAST_TESTS), id="some"),
        pytest.param(UNSHARDED[:6], 6, marks=pytest.mark.slow, id="the gate and resuming"),
        pytest.param(UNSHARDED[6:], 6, marks=pytest.mark.slow, id="lending and idle state"),
        pytest.param(SHARDED[:4], 4, marks=pytest.mark.slow, id="ZeRO 3"),
        pytest.param(SHARDED[4:], 4, marks=pytest.mark.slow, id="ZeRO 3 with all weights and offloading"),
        pytest.param(OTHERS, len(OTHERS), marks=pytest.mark.slow, id="all others"),
        pytest.param((STAGES_OF_THE_KIT,), 11, marks=pytest.mark.slow, id="the kit"),
        pytest.param((EVERY_FAMILY,), 36, marks=pytest.mark.slow, id="every family"),
    ],
)
def test_what_a_card_runs_passes_on_the_pretended_card(names: tuple[str, ...], number: int) -> None:
    output = run("-m", "pytest", "-p", "tests.engine.on_pretend_card", "-q", "--no-header", *names)
    assert f"{number} passed" in output and "skipped" not in output
