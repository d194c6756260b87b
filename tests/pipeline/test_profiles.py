"""Operations, tokens and seconds are those of published counts and of hand arithmetic."""

import pytest

from tests.pipeline.strategies import algebra_of
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import BatchSpec, SamplingSpec
from worker.pipeline.costs import GANG, CostKind
from worker.pipeline.estimates import Handling, Workload, lane_costs, lane_name, pool_costs
from worker.pipeline.hardware import ACCELERATORS, CPU_CORE, H20, H100, L40S, Estimate, accelerator
from worker.pipeline.profiles import FLUX, HUNYUAN_VIDEO, PROFILES, QWEN_IMAGE, SHAPES, WAN, profile_of


def qwen(*, micro_batch_size: int = 2, zero_stage: int = 0, handling: Handling | None = None) -> Workload:
    batch = BatchSpec(num_prompts_per_batch=4, group_size=16, micro_batch_size=micro_batch_size)
    return Workload(
        profile=QWEN_IMAGE,
        algebra=BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=20, num_sde_steps=8)),
        height=512,
        width=512,
        num_denoising_steps=20,
        lora_rank=64,
        zero_stage=zero_stage,
        handling=handling or Handling(),
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


def test_training_a_pair_costs_three_forwards() -> None:
    assert QWEN_IMAGE.training_flops(1024) == 3 * QWEN_IMAGE.forward_flops(1024)


@pytest.mark.parametrize(
    ("path", "profile"),
    [
        ("shapes", SHAPES),
        ("black-forest-labs/FLUX.1-dev", FLUX),
        ("Qwen/Qwen-Image", QWEN_IMAGE),
        ("Wan-AI/Wan2.1-T2V-14B-Diffusers", WAN),
        ("hunyuanvideo-community/HunyuanVideo", HUNYUAN_VIDEO),
        ("somebody/unheard-of", FLUX),
    ],
)
def test_a_base_model_is_reckoned_with_by_its_name(path: str, profile: object) -> None:
    assert profile_of(path) is profile


def test_seconds_are_operations_over_the_share_of_the_peak_that_is_reached() -> None:
    work, costs = qwen(), lane_costs(qwen(), H100)
    speed = 989.4e12 * 0.35
    decoding = 9.5e6 * 512 * 512
    assert costs.generate.per_unit == pytest.approx((20 * work.profile.forward_flops(1024) + decoding) / speed)
    assert costs.generate.per_call == pytest.approx(20 * 60 * 0.2e-3)
    assert costs.accumulate.per_unit == pytest.approx(3 * (60 * 0.2e-3 + 2 * work.profile.forward_flops(1024) / speed))


def test_an_adapter_goes_through_packing_and_the_network() -> None:
    costs = lane_costs(qwen(), L40S)
    adapter_bytes = 64 * 60 * 8 * 6144 * 4
    assert costs.publish == pytest.approx(adapter_bytes / 1e9)
    assert costs.pull == pytest.approx(adapter_bytes / 1e9 + adapter_bytes / 25e9)


def test_two_copies_of_the_weights_make_every_turn_move_one_of_them() -> None:
    shared, apart = lane_costs(qwen(), H100), lane_costs(qwen(handling=Handling(shares_base=False)), H100)
    state_bytes = 64 * 60 * 8 * 6144 * 16
    assert apart.lend - shared.lend == pytest.approx((40.8e9 + state_bytes) / 50e9)
    assert apart.reclaim == apart.lend


def test_zero_2_reduces_in_every_micro_batch_and_less_does_once_a_commit() -> None:
    once, always = lane_costs(qwen(), L40S), lane_costs(qwen(zero_stage=2), L40S)
    reduction = 2 * 64 * 60 * 8 * 6144 * 4 / 25e9
    assert always.accumulate.per_unit - once.accumulate.per_unit == pytest.approx(reduction)
    assert once.commit - always.commit == pytest.approx(reduction)


def test_a_gang_of_unlike_lanes_goes_at_the_slowest_lanes_pace() -> None:
    work = qwen()
    costs = pool_costs(work, [H100, H20, L40S], num_reward=2)
    table = costs.table((0, 1))
    assert table[GANG, CostKind.ACCUMULATE] == lane_costs(work, H20).accumulate
    assert table[lane_name(2), CostKind.GENERATE] == lane_costs(work, L40S).generate
    assert (lane_name(2), CostKind.LEND) not in table
    assert ("reward-1", CostKind.SCORE) in table


def test_every_device_and_profile_says_where_its_numbers_come_from() -> None:
    assert all(device.source for device in ACCELERATORS.values())
    assert all(profile.source for profile in PROFILES.values())


def test_an_estimate_outside_its_own_range_is_refused() -> None:
    with pytest.raises(ValueError, match="within `low` and `high`"):
        Estimate(2.0, 0.0, 1.0)


def test_only_uncertain_fields_can_be_varied() -> None:
    assert H100.at("turn_seconds", "high").turn_seconds.value == 2.0
    with pytest.raises(ValueError, match="training_efficiency"):
        H100.at("peak_flops", "low")


def test_an_unknown_device_is_refused_with_those_that_are_known() -> None:
    assert accelerator("cpu") is CPU_CORE
    with pytest.raises(ValueError, match="l40s, h100"):
        accelerator("abacus")


def test_a_shapes_run_scores_on_a_core_like_its_other_lanes() -> None:
    work = Workload(
        profile=SHAPES, algebra=algebra_of(), height=32, width=32, num_denoising_steps=6, lora_rank=16, num_rewards=3
    )
    costs = pool_costs(work, [CPU_CORE], num_reward=1)
    assert costs.score.per_unit == pytest.approx(3 * SHAPES.reward_flops / (100e9 * 0.41))
    assert costs.score.per_call == 7e-3


def test_a_clips_frames_are_reckoned_with() -> None:
    document = {
        "prompts": {"inline": ["a"]},
        "rewards": [{"name": "jpeg_compressibility"}],
        "base_model": {"path": "Wan-AI/Wan2.1-T2V-14B-Diffusers", "family": "wan"},
        "batch": {"num_prompts_per_batch": 1, "group_size": 2},
    }
    sampling = {"num_frames": 33, "height": 480, "width": 832}
    work = Workload.of(RunSpec.model_validate(document | {"sampling": sampling}))
    assert (work.profile, work.num_tokens) == (WAN, 9 * 30 * 52)
