"""What a lane of several GPUs costs and holds, as arithmetic of its model and its link."""

from dataclasses import replace
from inspect import signature

import numpy as np
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
from worker.scheduling.planning.exchanged_bytes import bytes_of_trajectory, bytes_of_unit
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.memory import MemoryRole, generation_activations, lane_memory
from worker.scheduling.planning.mode_limits import ModeLimits
from worker.scheduling.planning.modes import allowed_modes
from worker.scheduling.planning.planned_modes import planned_modes
from worker.scheduling.planning.planner import make_plan, plan, plan_request
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
    assert bytes_of_trajectory(work, 4) == pytest.approx(sent)
    saved = denoising * 3 / 4 - sent / 450e9
    assert one.generate.per_unit - four.generate.per_unit == pytest.approx(saved)
    assert four.generate.per_call == one.generate.per_call, "launching is not shared"
    assert sent / 450e9 < 0.02 * denoising / 4, "NVLink hardly matters to a large clip"


def test_a_clip_of_fifty_steps_takes_half_an_hour_on_one_card_and_four_minutes_on_eight() -> None:
    work = replace(wan_14b(), num_denoising_steps=50)
    one, eight = (lane_costs(work, device).generate.per_unit / 60 for device in (H100, H100.in_lane_of(8)))
    assert one == pytest.approx(31.4, abs=0.5)
    assert eight == pytest.approx(4.0, abs=0.1)


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


def test_lanes_train_whose_gpus_divide_what_they_share_and_in_a_gang_lanes_of_one_width() -> None:
    work = wan_14b()
    devices = [H100, H100.in_lane_of(2), H100.in_lane_of(3)]

    def training(work: Workload, width: int | None = None) -> list[bool]:
        costs = pool_costs(work, devices, num_reward=1)
        limits = ModeLimits(
            work=work, costs=costs, devices=devices, fragment_sizes=(1,), gpus_per_trainer=width, size_is_known=False
        )
        found = limits.kinds_for(1, 0)
        return [bool(np.isfinite(found.ranks_to_train[kind])) for kind in found.of_lane]

    assert training(work) == [True, True, True], "an assumed size rules nothing out"
    assert training(work, 1) == [True, False, False] and training(work, 2) == [False, True, False]
    known = ModeLimits(work=work, costs=pool_costs(work, devices, num_reward=1), devices=devices, fragment_sizes=(1,))
    assert [known.trains_on(device) for device in devices] == [True, True, False], "3 does not divide 40 heads"
    assert training(wan_14b(context_parallel="off")) == [True, False, False]


def test_the_gpus_of_a_trainer_lane_share_passes_activations_and_sharded_state() -> None:
    work = replace(wan_14b(), zero_stage=2)
    one, four = lane_costs(work, H100), lane_costs(work, H100.in_lane_of(4))
    sent = bytes_of_unit(work, 4) / 450e9
    # Forward, backward and what is recomputed, of both predictions of true CFG.
    assert bytes_of_unit(work, 4) == pytest.approx(
        bytes_of_trajectory(work, 4) / work.num_denoising_steps * (2 + work.num_recomputed_layers / 40)
    )
    training = H100.peak_flops * H100.training_efficiency.value
    of_four = work.num_units_per_micro_batch * (work.unit_flops / 4 / training + sent)
    of_one = work.num_units_per_micro_batch * work.unit_flops / training
    assert one.accumulate.per_unit - four.accumulate.per_unit == pytest.approx(of_one - of_four)
    assert four.shared_commit == pytest.approx(one.shared_commit / 4)
    held, of_each = (lane_memory(work, H100.in_lane_of(number), MemoryRole.TRAINER) for number in (1, 4))
    assert of_each.optimizer == pytest.approx(held.optimizer / 4) and of_each.weights == held.weights
    assert work.recomputing(40).profile.num_layers == 40 and of_each.total < held.total


def test_a_clip_that_no_card_can_train_is_trained_by_lanes_of_several() -> None:
    """Wan 14B, 81 × 720 × 1280, with all blocks recomputed: their inputs alone are 62 GB with true CFG."""
    small = auto(4, path="Wan-AI/Wan2.1-T2V-14B-Diffusers", width=1280)
    sampling = small.sampling.model_copy(update={"height": 720, "num_frames": 81, "guidance_scale": 5.0})
    batch = small.batch.model_copy(update={"micro_batch_size": 1})
    spec = small.model_copy(update={"sampling": sampling, "batch": batch})
    with pytest.raises(ValueError, match="must have memory for"):
        plan(spec, devices=["h100"] * 4)
    made = plan(spec, devices=[several("h100", 4)] * 4)
    assert made.best.split_result.candidate.trainers
    assert all(memory.fits(H100) for memory in made.best.memory.values())


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
def test_the_trainer_lanes_of_every_plan_have_equally_many_gpus(widths: list[int], path: str) -> None:
    """12 heads and 14,040 tokens, which each of these numbers divides."""
    spec, devices = auto(len(widths), path), [several("h100", width) for width in widths]
    made = plan(spec, devices=devices)
    for choice in made.by_mode.values():
        candidate = choice.split_result.candidate
        assert len({widths[lane] for lane in candidate.trainers}) == 1
        assert candidate.pipeline.placement is not Placement.COLOCATED or len(set(widths)) == 1
    narrow = {lane for lane, width in enumerate(widths) if width == 1}
    off = spec.model_copy(update={"performance": PerformanceSpec(context_parallel=ContextParallel.OFF)})
    if not narrow:
        with pytest.raises(ValueError, match=r"must have a lane that trains, got .* `gpus_per_lane`"):
            plan(off, devices=devices)
        return
    for choice in plan(off, devices=devices).by_mode.values():
        assert narrow.issuperset(choice.split_result.candidate.trainers)


def test_the_faster_width_trains() -> None:
    """Of two lanes of one GPU and two of four, the wide ones have four fifths of the cards."""
    request = plan_request(auto(4), ["h100", "h100", several("h100", 4), several("h100", 4)], ())
    best = make_plan(request).best.split_result
    of_width = {
        width: min(
            found.batch_seconds
            for found in planned_modes(
                request.limits(width), request.wanted, allowed_modes(request.wanted)
            ).split_results.values()
        )
        for width in (1, 4)
    }
    assert best.batch_seconds == min(of_width.values()) == of_width[4] < of_width[1]
    assert {request.devices[lane].num_gpus for lane in best.candidate.trainers} == {4}


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
    assert problem is None or f"a lane of {num_gpus} GPUs, got auto" in problem


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published.profile.name)
def test_the_heads_of_a_profile_are_the_published_ones(published: Published) -> None:
    default = signature(published.kind.__init__).parameters.get("num_attention_heads")
    heads = published.config.get("num_attention_heads", default.default if default else None)
    assert published.profile.num_heads == (heads or published.config.get("n_heads", 30))
