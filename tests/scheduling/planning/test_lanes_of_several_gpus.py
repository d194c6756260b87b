"""What a lane of several GPUs costs and holds, as arithmetic of its model and its link."""

from inspect import signature

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.profiles.published_models import PUBLISHED, Published
from worker.contracts.context_parallel import DividedShape
from worker.contracts.device_names import several
from worker.contracts.names import Placement
from worker.contracts.performance import ContextParallel, PerformanceSpec
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.cost_estimates import lane_costs, pool_costs
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.memory import MemoryRole, generation_activations, lane_memory
from worker.scheduling.planning.planner import plan
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


def auto(num_lanes: int, path: str = "Wan-AI/Wan2.1-T2V-1.3B", width: int = 832) -> RunSpec:
    """A run of `num_lanes` whose split the planner chooses."""
    return RunSpec.model_validate(
        {
            "base_model": {"path": path, "family": "wan", "dtype": "bf16"},
            "prompts": {"inline": ["a", "b"]},
            "rewards": [{"name": "motion_smoothness"}],
            "sampling": {"height": 480, "width": width, "num_frames": 33},
            "batch": {"num_prompts_per_batch": 2, "group_size": 2, "fragment_size": 1},
            "pipeline": {"placement": "auto"},
            "lanes": {"num_rollout": num_lanes - 1, "num_trainer": 1},
        }
    )


@settings(max_examples=15, deadline=None)
@given(
    widths=st.lists(st.sampled_from([1, 1, 2, 3, 4, 6]), min_size=2, max_size=6),
    path=st.sampled_from(["Wan-AI/Wan2.1-T2V-1.3B", "somebody/unheard-of"]),
)
def test_no_plan_trains_on_a_lane_of_several_gpus_whatever_the_pool(widths: list[int], path: str) -> None:
    """12 heads and 14,040 tokens, which each of these numbers divides."""
    spec, devices = auto(len(widths), path), [several("h100", width) for width in widths]
    if 1 not in widths:
        with pytest.raises(ValueError, match=r"must have a lane of one GPU that trains, got .* `gpus_per_lane`"):
            plan(spec, devices=devices)
        return
    made = plan(spec, devices=devices)
    for choice in made.by_mode.values():
        candidate = choice.split_result.candidate
        assert candidate.trainers and all(widths[lane] == 1 for lane in candidate.trainers)
        assert candidate.pipeline.placement is not Placement.COLOCATED or max(widths) == 1


@pytest.mark.parametrize(
    ("num_gpus", "width", "said"),
    [
        (5, 832, "5 does not divide the 12 attention heads of the model; turn it off, .* one of 1, 2, 3, 4, 6, 12"),
        (8, 880, "8 does not divide the 14850 tokens of a sample of 480 × 880 pixels and 33 frames"),
    ],
)
def test_a_pool_whose_wide_lanes_cannot_share_a_prediction_is_refused_with_what_to_do(
    num_gpus: int, width: int, said: str
) -> None:
    devices = ["h100", several("h100", num_gpus)]
    with pytest.raises(ValueError, match=said):
        plan(auto(2, width=width), devices=devices)
    spec = auto(2, width=width)
    off = spec.model_copy(update={"performance": PerformanceSpec(context_parallel=ContextParallel.OFF)})
    assert plan(off, devices=devices).best.split_result.candidate.trainers == (0,)


def test_wide_lanes_that_cannot_share_a_prediction_are_left_out_where_others_suffice() -> None:
    work, devices = Workload.of(auto(3)), [H100, H100.in_lane_of(4), H100.in_lane_of(5)]
    kinds = LaneKinds.of(pool_costs(work, devices, num_reward=1), 1, devices).within_memory(work, devices)
    assert [bool(kinds.can_generate[kind]) for kind in kinds.of_lane] == [True, True, False]


@given(num_heads=st.integers(1, 64), num_tokens=st.integers(1, 10_000), num_gpus=st.integers(1, 16))
def test_there_is_a_problem_exactly_where_a_number_does_not_divide(
    num_heads: int, num_tokens: int, num_gpus: int
) -> None:
    shape = DividedShape(num_heads=num_heads, num_tokens=num_tokens, height=16, width=16, num_frames=1)
    problem = shape.problem(num_gpus, ContextParallel.AUTO)
    assert (problem is None) == shape.divides(num_gpus) == (num_heads % num_gpus == 0 and num_tokens % num_gpus == 0)
    assert problem is None or f"a rollout lane of {num_gpus} GPUs, got auto" in problem


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published.profile.name)
def test_the_heads_of_a_profile_are_the_published_ones(published: Published) -> None:
    default = signature(published.kind.__init__).parameters.get("num_attention_heads")
    heads = published.config.get("num_attention_heads", default.default if default else None)
    assert published.profile.num_heads == (heads or published.config.get("n_heads", 30))
