"""What a lane of several GPUs costs and holds, as arithmetic of its model and its link."""

import pytest

from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.cost_estimates import lane_costs, pool_costs
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.memory import MemoryRole, generation_activations, lane_memory
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import H100, L40S
from worker.scheduling.profiles.known_devices import accelerator


def wan_14b(**performance: str) -> Workload:
    """A clip of 81 × 720 × 1280."""
    return Workload.of(
        RunSpec.model_validate(
            {
                "base_model": {"path": "Wan-AI/Wan2.1-T2V-14B-Diffusers", "family": "wan", "dtype": "bf16"},
                "prompts": {"inline": ["a", "b"]},
                "rewards": [{"name": "motion_smoothness"}],
                "sampling": {"height": 720, "width": 1280, "num_frames": 81, "guidance_scale": 5.0},
                "batch": {"num_prompts_per_batch": 2, "group_size": 2, "fragment_size": 1},
                "performance": performance,
            }
        )
    )


def test_the_gpus_of_a_lane_share_the_transformers_work_and_exchange_what_attention_needs() -> None:
    work = wan_14b()
    one, four = lane_costs(work, H100), lane_costs(work, H100.in_lane_of(4))
    flops = H100.peak_flops * H100.generation_efficiency.value
    denoising = work.denoising_flops / flops
    # 75,600 tokens of width 5,120 in bf16, 40 layers, two predictions of true CFG in each denoising step.
    rows = 2 * work.num_denoising_steps
    sent = rows * 40 * 4 * (75_600 / 4) * 5_120 * 2 * 3 / 4
    assert work.exchanged_bytes(4) == pytest.approx(sent)
    saved = denoising * 3 / 4 - sent / 450e9
    assert one.generate.per_unit - four.generate.per_unit == pytest.approx(saved)
    assert four.generate.per_call == one.generate.per_call, "launching is not shared"
    assert sent / 450e9 < 0.02 * denoising / 4, "NVLink hardly matters to a large clip"


def test_a_slow_link_takes_part_of_what_more_gpus_gain() -> None:
    work = wan_14b()
    gain = {device.name: _gain(work, device.name) for device in (H100, L40S)}
    assert 3.5 < gain["h100"] < 4.0
    # 362 TFLOPS behind 25 GB/s.
    assert gain["l40s"] < gain["h100"]


def _gain(work: Workload, name: str) -> float:
    one, four = (lane_costs(work, accelerator(device)) for device in (name, f"4 × {name}"))
    return one.generate.per_unit / four.generate.per_unit


def test_each_gpu_holds_all_weights_and_its_share_of_the_activations() -> None:
    work = wan_14b()
    one, two = (lane_memory(work, H100.in_lane_of(number), MemoryRole.ROLLOUT) for number in (1, 2))
    assert two.weights == one.weights and two.reserve == one.reserve
    assert two.total <= one.total
    if one.activations:
        assert two.activations == pytest.approx(one.activations / 2)
    assert one.activations in (0.0, pytest.approx(generation_activations(work)))


def test_a_lane_whose_predictions_are_not_spread_costs_what_its_first_gpu_does() -> None:
    work = wan_14b(context_parallel="off")
    assert lane_costs(work, H100.in_lane_of(4)) == lane_costs(work, H100)


def test_no_split_lets_a_lane_of_several_gpus_train() -> None:
    work = wan_14b()
    devices = [H100, H100.in_lane_of(2)]
    kinds = LaneKinds.of(pool_costs(work, devices, num_reward=1), 1, devices).within_memory(work, devices)
    wide = kinds.of_lane[1]
    assert kinds.ranks_to_train[wide] == kinds.ranks_to_do_both[wide] == float("inf")
    assert kinds.can_generate[wide]


def test_a_lanes_device_is_found_by_its_name() -> None:
    assert accelerator("2 × h100") == H100.in_lane_of(2)
    assert accelerator("h100").num_gpus == 1
    with pytest.raises(ValueError, match="got `1 × h100`"):
        accelerator("1 × h100")
