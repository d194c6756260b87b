"""Every preset fits the GPUs that its description names, by the planner's own memory plan."""

import math
import re
from dataclasses import replace

import pytest

from catalog.presets import Preset, list_presets
from worker.contracts.names import Placement, RewardDevice, Tuning
from worker.scheduling.planning.cost_estimates import pool_costs
from worker.scheduling.planning.memory import MemoryRole, host_bytes, lane_memory
from worker.scheduling.planning.mode_limits import ModeLimits
from worker.scheduling.planning.modes import allowed_modes
from worker.scheduling.planning.scoring_choice import scoring_choice
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, H100, L40S, Accelerator

L4 = replace(L40S, name="l4", memory_bytes=24.1e9)
"""NVIDIA L4: 24 GB GDDR6 (23,034 MiB), the smallest card of its class."""
CLASSES: dict[int, Accelerator] = {24: L4, 48: L40S, 80: H100}
OF_HUB = [preset for preset in list_presets() if "/" in preset.spec.base_model.path]
EACH = pytest.mark.parametrize("preset", OF_HUB, ids=lambda preset: preset.name)


def claimed(preset: Preset) -> Accelerator:
    found = re.search(r"Fits GPUs of (\d+) GB", preset.description)
    assert found is not None, preset.description
    return CLASSES[int(found[1])]


def usable_modes(preset: Preset, device: Accelerator) -> set[str]:
    """Those whose lanes hold what they must in some split."""
    spec, work = preset.spec, Workload.of(preset.spec)
    lanes = spec.lanes.num_rollout + spec.lanes.num_trainer
    limits = ModeLimits(
        work=work,
        costs=pool_costs(work, [device] * lanes, num_reward=spec.lanes.num_reward),
        devices=[device] * lanes,
        fragment_sizes=[work.algebra.fragment_size],
    )
    return {mode.name for mode in allowed_modes(spec.pipeline) if math.isfinite(limits.least_seconds(mode))}


@EACH
def test_a_preset_fits_the_gpus_that_it_names(preset: Preset) -> None:
    device, spec = claimed(preset), preset.spec
    if spec.pipeline.placement is Placement.AUTO:
        assert {"disaggregated", "gap", "tsp"} <= usable_modes(preset, device)
        return
    memory = lane_memory(Workload.of(spec), device, MemoryRole.BOTH, num_ranks=spec.granted_lanes.num_trainer)
    assert memory.fits(device), memory.parts


@EACH
def test_on_one_gpu_rewards_share_it_where_the_preset_says_so(preset: Preset) -> None:
    """So it says what the plan chooses on the smallest card that it fits."""
    if preset.spec.lanes.num_rollout + preset.spec.lanes.num_trainer > 1:
        return
    made = scoring_choice(preset.spec, [claimed(preset)])
    shares = made.spec.lanes.rewards_on is RewardDevice.SHARED_GPU
    assert shares is ("rewards share its GPU" in preset.description), made.reason
    assert preset.spec.lanes.num_reward == (1 if shares else 8)
    if not shares and "larger GPU" in preset.description:
        larger = replace(H100, memory_bytes=2 * H100.memory_bytes)
        assert scoring_choice(preset.spec, [larger]).spec.lanes.rewards_on is RewardDevice.SHARED_GPU, made.reason


@EACH
def test_a_preset_says_what_it_takes_of_the_hosts(preset: Preset) -> None:
    spec, work = preset.spec, Workload.of(preset.spec)
    host_memory = re.search(r"(\d+) GB of host memory", preset.description)
    # What ranks share adds up to the same for any number of them.
    needed = host_bytes(work, H100, num_ranks=1)
    assert (float(host_memory[1]) if host_memory else 0.0) == pytest.approx(needed / 1e9, rel=0.05)
    assert spec.tuning is Tuning.FULL or not needed


@EACH
def test_a_preset_takes_as_many_gpus_as_its_title_says(preset: Preset) -> None:
    lanes = preset.spec.granted_lanes
    taken = (
        lanes.num_rollout + lanes.num_trainer + (lanes.num_reward if lanes.rewards_on is RewardDevice.OWN_GPU else 0)
    )
    assert re.findall(r"(\d+) GPUs?$", preset.title) == [str(taken)]


def test_the_shapes_fit_a_core_each() -> None:
    for preset in list_presets():
        if preset not in OF_HUB:
            assert lane_memory(Workload.of(preset.spec), CPU_CORE, MemoryRole.BOTH).fits(CPU_CORE)
