"""Tests of `tests/gpu`, with their fixtures and helpers, on a device that only pretends not to be the CPU, so that what
would fail on a card for a tensor left on the CPU fails here. They run in a process of their own, see `pretend_card`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ON_A_CARD = "tests/gpu/test_engine_on_an_accelerator.py"
REPLAYED = "test_the_replay_gate_holds_in_fp32"
LENT = "test_a_lent_lane_draws_the_rollout_lanes_bits_and_leaves_no_trace"
RUN = (
    f"{REPLAYED}[0]",
    f"{REPLAYED}[1]",
    f"{REPLAYED}[2]",
    "test_resuming_is_bitwise_equal_when_deterministic[2]",
    "test_an_accelerator_draws_the_cpus_noise_and_almost_its_pictures",
    f"{LENT}[0]",
    f"{LENT}[2]",
    "test_a_bf16_base_replays_close_to_what_it_drew",
    "test_an_offloaded_optimizer_takes_the_same_steps_and_lies_on_the_host[zero2_cpuoffload]",
)
"""The others need what only a card has: memory that is freed and counted, and pinned memory. DeepSpeed's ZeRO 3 gives
parameters the memory of other tensors, which pretended ones do not have."""

MIXED = """
import torch
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
"""


def run(*arguments: str) -> str:
    command = (sys.executable, *arguments)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


def test_a_tensor_of_the_cpu_meets_one_of_the_pretended_card_in_a_copy_only() -> None:
    assert "Expected all tensors to be on the same device, but found at least two devices" in run("-c", MIXED)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("names", [RUN[-3:], pytest.param(RUN, marks=pytest.mark.slow)], ids=["some", "all"])
def test_gpu_tests_with_their_helpers_pass_on_the_pretended_card(names: tuple[str, ...]) -> None:
    output = run(
        *("-m", "pytest", "-p", "tests.engine.on_pretend_card", "-q", "--no-header"),
        *(f"{ON_A_CARD}::{name}" for name in names),
    )
    assert f"{len(names)} passed" in output and "skipped" not in output
