"""Operations, tokens and seconds have published values, or values computed by hand."""

from dataclasses import replace
from typing import Any

import pytest

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.names import ModelFamily, Tuning
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import BaseModelSpec, SamplingSpec
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.planning.cost_estimates import lane_costs, lane_name, pool_costs
from worker.scheduling.planning.memory import MemoryRole, recomputing_on
from worker.scheduling.planning.workload import MemorySavings, WeightTransfer, Workload
from worker.scheduling.profiles.hardware import ACCELERATORS, CPU_CORE, GB, H20, H100, L40S, Estimate
from worker.scheduling.profiles.image_models import (
    FLUX,
    FLUX2,
    KLEIN_4B,
    KLEIN_9B,
    QWEN_IMAGE,
    SD3_MEDIUM,
    SD35_LARGE,
    SD35_MEDIUM,
    SHAPES,
    Z_IMAGE,
)
from worker.scheduling.profiles.known_devices import accelerator
from worker.scheduling.profiles.known_models import PROFILES, profile_of, stand_in_profile
from worker.scheduling.profiles.video_models import HUNYUAN_VIDEO, WAN, WAN22_5B, WAN22_A14B, WAN_1_3B

ONE_PROMPT = {"num_prompts_per_batch": 1, "group_size": 2}


def qwen(*, micro_batch_size: int = 2, zero_stage: int = 0, weight_transfer: WeightTransfer | None = None) -> Workload:
    batch = BatchSpec(num_prompts_per_batch=4, group_size=16, micro_batch_size=micro_batch_size)
    return Workload(
        profile=QWEN_IMAGE,
        algebra=BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=20, num_sde_steps=8)),
        height=512,
        width=512,
        num_denoising_steps=20,
        trained_parameters=QWEN_IMAGE.lora_parameters(64),
        zero_stage=zero_stage,
        weight_transfer=weight_transfer or WeightTransfer(),
    )


def test_a_forward_costs_what_was_published_for_it() -> None:
    flux = FLUX.forward_flops(FLUX.num_tokens(height=1024, width=1024, num_frames=1))
    assert flux == pytest.approx(3719.50e12 / 50, rel=1e-3)
    hunyuan = HUNYUAN_VIDEO.forward_flops(HUNYUAN_VIDEO.num_tokens(height=480, width=640, num_frames=65))
    assert hunyuan == pytest.approx(29773.0e12 / 50, rel=1e-3)


def test_a_clip_has_a_latent_frame_for_the_first_frame_and_one_for_each_four_more() -> None:
    assert HUNYUAN_VIDEO.num_tokens(height=480, width=480, num_frames=53) == 14 * 30 * 30
    assert WAN.num_tokens(height=480, width=832, num_frames=33) == 9 * 30 * 52
    assert SHAPES.num_tokens(height=32, width=32, num_frames=1) == 4


def test_lora_sizes_are_those_known_of_the_models() -> None:
    assert QWEN_IMAGE.lora_parameters(64) == pytest.approx(189e6, rel=0.01)
    assert WAN.lora_parameters(32) == pytest.approx(105e6, rel=0.01)


FULL = {"tuning": Tuning.FULL, "trained_parameters": QWEN_IMAGE.parameters}


@pytest.mark.parametrize(
    ("tuning", "every", "forwards"), [({}, 1, 3), ({}, 0, 2), ({}, 2, 2.5), (FULL, 1, 4), (FULL, 0, 3)]
)
def test_training_costs_a_forward_its_backward_and_what_is_recomputed(
    tuning: dict[str, Any], every: int, forwards: float
) -> None:
    num_layers = QWEN_IMAGE.num_layers // every if every else 0
    work = replace(qwen(), memory_savings=MemorySavings(num_recomputed_layers=num_layers), **tuning)
    assert work.unit_flops == forwards * QWEN_IMAGE.forward_flops(1024)


@pytest.mark.parametrize(
    ("path", "family", "profile"),
    [
        ("shapes", "flux", SHAPES),
        ("black-forest-labs/FLUX.1-dev", "flux", FLUX),
        ("black-forest-labs/FLUX.2-dev", "flux2", FLUX2),
        ("black-forest-labs/FLUX.2-klein-base-4B", "flux2_klein", KLEIN_4B),
        ("black-forest-labs/FLUX.2-klein-9B", "flux2_klein", KLEIN_9B),
        ("stabilityai/stable-diffusion-3-medium-diffusers", "sd3", SD3_MEDIUM),
        ("stabilityai/stable-diffusion-3.5-medium", "sd3", SD35_MEDIUM),
        ("stabilityai/stable-diffusion-3.5-large-turbo", "sd3", SD35_LARGE),
        ("Qwen/Qwen-Image-2512", "qwen_image", QWEN_IMAGE),
        ("Tongyi-MAI/Z-Image-Turbo", "z_image", Z_IMAGE),
        ("Wan-AI/Wan2.1-T2V-14B-Diffusers", "wan", WAN),
        ("Wan-AI/Wan2.1-T2V-1.3B-Diffusers", "wan", WAN_1_3B),
        ("Wan-AI/Wan2.2-T2V-A14B-Diffusers", "wan22", WAN22_A14B),
        ("Wan-AI/Wan2.2-TI2V-5B-Diffusers", "wan22", WAN22_5B),
        ("hunyuanvideo-community/HunyuanVideo", "hunyuan_video", HUNYUAN_VIDEO),
    ],
)
def test_a_base_models_profile_is_found_by_its_name(path: str, family: Any, profile: object) -> None:
    base_model = BaseModelSpec(path=path, family=family)
    assert profile_of(base_model) is profile
    assert stand_in_profile(base_model) is None


@pytest.mark.parametrize("family", ModelFamily, ids=str)
def test_an_unknown_model_has_a_named_stand_in_of_its_familys_usual_size(family: ModelFamily) -> None:
    base_model = BaseModelSpec(path="somebody/unheard-of", family=family)
    assert stand_in_profile(base_model) == profile_of(base_model).name
    assert family is ModelFamily.FLUX or profile_of(base_model) is not FLUX


def test_seconds_are_operations_over_the_share_of_the_peak_that_is_reached() -> None:
    work, costs = qwen(), lane_costs(qwen(), H100)
    speed = 989.4e12 * 0.35
    decoding = 10.8e6 * 512 * 512
    assert costs.generate.per_unit == pytest.approx((20 * work.profile.forward_flops(1024) + decoding) / speed)
    assert costs.generate.per_call == pytest.approx(20 * 60 * 0.2e-3)
    assert costs.accumulate.per_unit == pytest.approx(2 * (60 * 0.2e-3 + 2 * work.profile.forward_flops(1024) / speed))


def test_what_memory_makes_a_lane_recompute_is_part_of_its_seconds() -> None:
    small = replace(H100, memory_bytes=55 * GB)
    by_card = [lane_costs(qwen(), card).accumulate.per_unit for card in (H100, small)]
    recomputed = recomputing_on(qwen(), small, MemoryRole.BOTH, num_ranks=1).num_recomputed_layers
    assert 0 < recomputed < 60
    assert by_card[1] / by_card[0] == pytest.approx((2 + recomputed / 60) / 2)


def test_an_adapter_goes_through_packing_and_the_network() -> None:
    costs = lane_costs(qwen(), L40S)
    adapter_bytes = 64 * 60 * 8 * 6144 * 4
    assert costs.publish == pytest.approx(adapter_bytes / 1e9)
    assert costs.pull == pytest.approx(adapter_bytes / 1e9 + adapter_bytes / 25e9)


def test_two_copies_of_the_weights_make_every_switch_move_one_of_them() -> None:
    shared, apart = lane_costs(qwen(), H100), lane_costs(qwen(weight_transfer=WeightTransfer(shares_base=False)), H100)
    state_bytes = 64 * 60 * 8 * 6144 * 16
    assert apart.lend - shared.lend == pytest.approx((40.8e9 + state_bytes) / 50e9)
    assert apart.reclaim == apart.lend


def test_gradients_are_reduced_once_a_commit_or_from_zero_2_on_in_every_micro_batch() -> None:
    zero = [lane_costs(qwen(zero_stage=stage), L40S) for stage in range(4)]
    buffer = 64 * 60 * 8 * 6144 * 4 / 25e9
    # LoRA weights have as many bytes as their gradients; stages 1 and 2 gather them after the step.
    optimizer = 4 * buffer * 25e9 / 864e9
    assert [lane.commit_by(1) for lane in zero] == pytest.approx(
        [optimizer + 2 * buffer, optimizer + 3 * buffer, optimizer + buffer, optimizer]
    )
    each = [lane.accumulate.per_unit - zero[0].accumulate.per_unit for lane in zero]
    assert each[1:3] == pytest.approx([0, 2 * buffer])
    # In stage 3 every pass gathers the base first.
    assert each[3] == pytest.approx(buffer + 3 * 40.8e9 / 25e9)


def test_ranks_share_the_optimizer_where_its_state_is_sharded_and_the_publish_of_all_weights() -> None:
    work = replace(qwen(zero_stage=1), tuning=Tuning.FULL, trained_parameters=QWEN_IMAGE.parameters)
    lane = lane_costs(work, H100)
    assert work.published_bytes == 2 * 20.4e9
    assert lane.publish_by(8) == pytest.approx(40.8e9 / 1e9 / 8)
    assert lane.snapshot_by(8) == pytest.approx(2 * 40.8e9 / 3350e9 / 8)
    assert lane.pull == pytest.approx(40.8e9 / 50e9 + 40.8e9 / 1e9)
    assert lane.commit_by(1) - lane.commit_by(8) == pytest.approx(16 * 20.4e9 / 3350e9 * 7 / 8)
    table = pool_costs(work, [H100] * 4, num_reward=1).cost_table((0, 1))
    assert table[GANG, CostKind.PUBLISH].seconds() == lane.publish_by(2)


def test_an_optimizer_in_host_memory_costs_transfers_both_ways() -> None:
    full = replace(qwen(zero_stage=2), tuning=Tuning.FULL, trained_parameters=QWEN_IMAGE.parameters)
    offloaded = lane_costs(replace(full, memory_savings=MemorySavings(optimizer_on_host=True)), H100)
    # 4 bytes of gradient to the host, 2 of weight back, and 28 through a quarter of the socket's memory bandwidth.
    assert offloaded.shared_commit == pytest.approx(20.4e9 * (6 / 50e9 + 28 * 4 / 300e9))


def test_ranks_are_as_fast_as_their_cards_and_in_step_as_slow_as_the_slowest() -> None:
    work = qwen()
    table = pool_costs(work, [H100, H20, L40S], num_reward=2).cost_table((0, 1))
    for index, device in enumerate((H100, H20)):
        assert table[lane_name(index), CostKind.ACCUMULATE] == lane_costs(work, device).accumulate
    assert (GANG, CostKind.ACCUMULATE) not in table
    sharded = qwen(zero_stage=2)
    in_step = pool_costs(sharded, [H100, H20, L40S], num_reward=2).cost_table((0, 1))
    assert in_step[GANG, CostKind.ACCUMULATE] == lane_costs(sharded, H20).accumulate
    assert (lane_name(0), CostKind.ACCUMULATE) not in in_step
    assert table[lane_name(2), CostKind.GENERATE] == lane_costs(work, L40S).generate
    assert (lane_name(2), CostKind.LEND) not in table
    assert ("reward-1", CostKind.SCORE) in table


def test_every_device_and_profile_says_where_its_numbers_come_from() -> None:
    assert all(device.source and device.efficiency_source for device in ACCELERATORS.values())
    assert all(profile.source for profile in PROFILES.values())


def test_generation_and_training_each_have_an_efficiency_of_the_card() -> None:
    work = qwen()
    slow = Estimate(H20.training_efficiency.value / 2, 0.0, 1.0)
    as_known, slow_to_train = (lane_costs(work, card) for card in (H20, replace(H20, training_efficiency=slow)))
    assert slow_to_train.generate == as_known.generate
    assert slow_to_train.accumulate.per_unit > 1.9 * as_known.accumulate.per_unit


def test_an_estimate_outside_its_own_range_is_refused() -> None:
    with pytest.raises(ValueError, match="within `low` and `high`"):
        Estimate(2.0, 0.0, 1.0)


def test_an_unknown_device_is_refused_with_the_names_of_the_known_ones() -> None:
    assert accelerator("cpu") is CPU_CORE
    with pytest.raises(ValueError, match="l40s, h100"):
        accelerator("abacus")


def test_a_shapes_run_scores_on_a_core_like_its_other_lanes() -> None:
    rewards = [{"name": "shape_match"}, {"name": "shape_judge"}, {"name": "jpeg_compressibility"}]
    spec = RunSpec.model_validate({"prompts": {"inline": ["a"]}, "rewards": rewards, "batch": ONE_PROMPT})
    costs = pool_costs(Workload.of(spec), [CPU_CORE], num_reward=1)
    # The three were measured to take 0.31 ms of a core.
    assert costs.score.per_unit == pytest.approx(0.31e-3, rel=0.05)
    assert costs.score.per_call == 7e-3


def test_a_clips_frames_are_counted() -> None:
    document = {
        "prompts": {"inline": ["a"]},
        "rewards": [{"name": "jpeg_compressibility"}],
        "base_model": {"path": "Wan-AI/Wan2.1-T2V-14B-Diffusers", "family": "wan"},
        "batch": ONE_PROMPT,
    }
    sampling = {"num_frames": 33, "height": 480, "width": 832}
    work = Workload.of(RunSpec.model_validate(document | {"sampling": sampling}))
    assert (work.profile, work.num_tokens) == (WAN, 9 * 30 * 52)
