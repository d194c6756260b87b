"""How algorithm, guidance and tuning change a run's work, in forward passes."""

from dataclasses import replace
from typing import Any

import pytest

from worker.contracts.names import RewardDevice, RewardName
from worker.contracts.run_spec import RunSpec
from worker.engine.reward.clip_frames import NUM_JUDGED_FRAMES as JUDGED_BY_THE_ENGINE
from worker.scheduling.core.costs import CostKind
from worker.scheduling.planning.cost_estimates import pool_costs
from worker.scheduling.planning.memory import MemoryRole, generation_activations, lane_memory
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.embedding_profile import HEADER_BYTES
from worker.scheduling.profiles.hardware import CPU_CORE, H100, L40S, Accelerator
from worker.scheduling.profiles.scorer_costs import NUM_JUDGED_FRAMES, SCORERS, ScoringCost, scoring_cores

SHARDED = {"config": "zero3"}
NFT, DPO = {"name": "diffusion_nft"}, {"name": "diffusion_dpo"}
GUIDED = {"guidance_scale": 4.0}


def spec(*, rewards: tuple[str, ...] = ("shape_match",), **sections: Any) -> RunSpec:
    document: dict[str, Any] = {
        "base_model": {"path": "Qwen/Qwen-Image", "family": "qwen_image", "dtype": "bf16"},
        "prompts": {"inline": ["a"]},
        "rewards": [{"name": name} for name in rewards],
        "sampling": {"num_denoising_steps": 10, "num_sde_steps": 4, "height": 512, "width": 512},
        "batch": {"num_prompts_per_batch": 1, "group_size": 4, "micro_batch_size": 2},
        "deepspeed": {"gradient_checkpointing": 1},
    }
    for name, section in sections.items():
        document[name] = {**document.get(name, {}), **section} if isinstance(section, dict) else section
    return RunSpec.model_validate(document)


def forwards(request: RunSpec) -> tuple[float, float]:
    """Forward passes of a trajectory and of a unit of training, without the decoder."""
    work = Workload.of(request)
    forward = work.profile.forward_flops(work.num_tokens)
    decoded = 2 * work.decoding_flops if work.passes.goes_through_decoder else 0
    return (work.trajectory_flops - work.decoding_flops) / forward, (work.unit_flops - decoded) / forward


@pytest.mark.parametrize(
    ("sections", "trajectory", "unit"),
    [
        ({}, 10, 3),
        ({"deepspeed": {"gradient_checkpointing": 0}}, 10, 2),
        ({"deepspeed": {"config": "zero1"}, "tuning": "full"}, 10, 4),
        ({"algorithm": {"kl_coefficient": 0.1}}, 10, 4),
        ({"sampling": GUIDED}, 20, 6),
        ({"sampling": GUIDED | {"batched_cfg": True}}, 20, 6),
        # Trained without guidance: rollout evaluates each trained denoising step once more.
        ({"sampling": GUIDED | {"train_guidance_scale": 1.0}}, 24, 3),
        ({"algorithm": NFT | {"kl_coefficient": 0.0}}, 10, 4),
        ({"algorithm": NFT}, 10, 5),
        ({"algorithm": DPO}, 10, 8),
        ({"algorithm": NFT, "sampling": GUIDED | {"train_guidance_scale": 1.0}}, 20, 5),
        ({"algorithm": {"name": "refl"}}, 10, 3),
        ({"algorithm": {"name": "reward_flow", "num_gradient_steps": 3}}, 10, 9),
        ({"algorithm": {"name": "reward_flow", "kl_coefficient": 0.1}}, 10, 8),
    ],
)
def test_work_is_counted_in_forward_passes(sections: dict[str, Any], trajectory: float, unit: float) -> None:
    assert forwards(spec(**sections)) == pytest.approx((trajectory, unit))


@pytest.mark.parametrize(
    ("algorithm", "batch", "unit"),
    [
        # A single mini-batch: log-ratios of the proximal policy come with its first pass.
        ({}, (1, 4), 3),
        # Half of the pairs of the first of two epochs are replayed.
        ({}, (2, 2), 3.25),
        ({"name": "mix_grpo"}, (4, 1), 3.75),
        # Of Flow-DPPO, all passes but the first of four.
        ({"name": "flow_dppo"}, (2, 2), 3.75),
        ({"name": "diffusion_dpo"}, (2, 2), 8),
    ],
)
def test_stale_data_is_replayed_by_the_proximal_policy(
    algorithm: dict[str, Any], batch: tuple[int, int], unit: float
) -> None:
    sizes = {"num_prompts_per_batch": 4, "num_minibatches": batch[0], "num_epochs_per_batch": batch[1]}
    sections: dict[str, Any] = {"prompts": {"inline": list("abcd")}, "algorithm": algorithm, "batch": sizes}
    fresh, stale = spec(**sections), spec(**sections, pipeline={"max_staleness": 1})
    around_behaviour = spec(**sections, pipeline={"max_staleness": 1, "stale_clip": "behaviour"})
    assert forwards(stale)[1] == pytest.approx(unit)
    assert forwards(around_behaviour)[1] == forwards(fresh)[1]
    assert Workload.of(stale).at_staleness(0).unit_flops == Workload.of(fresh).unit_flops
    assert Workload.of(fresh).at_staleness(1).unit_flops == Workload.of(stale).unit_flops


def test_guidance_in_one_pass_saves_calls_and_no_operations() -> None:
    apart, together = (Workload.of(spec(sampling=GUIDED | {"batched_cfg": is_one})) for is_one in (False, True))
    assert (apart.num_sampling_calls, together.num_sampling_calls) == (20, 10)
    assert apart.num_training_calls == 2 * together.num_training_calls
    # Both rows go through a layer at once.
    assert generation_activations(together) == 2 * generation_activations(apart)
    training = [lane_memory(work, H100, MemoryRole.TRAINER).activations for work in (apart, together)]
    assert training[0] < training[1]


def test_models_with_embedded_guidance_go_through_once() -> None:
    flux = {"path": "black-forest-labs/FLUX.1-dev", "family": "flux"}
    assert forwards(spec(base_model=flux, sampling=GUIDED)) == pytest.approx((10, 3))


def test_a_reward_with_a_gradient_brings_the_decoder_to_the_trainer() -> None:
    plain, feedback = Workload.of(spec()), Workload.of(spec(algorithm={"name": "refl"}))
    held = [lane_memory(work, H100, MemoryRole.TRAINER).decoder for work in (plain, feedback)]
    assert held[0] == 0
    # Two samples of 512², whose feature maps are kept until the backward pass.
    assert held[1] > 2 * 512 * 512 * 7200 * 2
    assert feedback.unit_flops - plain.unit_flops == pytest.approx(2 * 10.8e6 * 512 * 512)


@pytest.mark.parametrize(
    ("config", "num_trainer", "micro_batch_size", "unit"),
    [
        ("zero1", 4, 1, 6),
        ("zero2", 1, 1, 6),
        # The other expert runs on one row of each call.
        ("zero2", 4, 1, 12),
        ("zero3", 4, 1, 12),
        ("zero3", 4, 4, 7.5),
    ],
)
def test_an_expert_without_rows_is_counted_where_ranks_run_in_step(
    config: str, num_trainer: int, micro_batch_size: int, unit: float
) -> None:
    def work(config: str) -> Workload:
        return Workload.of(
            spec(
                base_model={"path": "Wan-AI/Wan2.2-T2V-A14B-Diffusers", "family": "wan22"},
                sampling=GUIDED | {"num_frames": 33},
                deepspeed={"config": config},
                lanes={"num_trainer": num_trainer},
                batch={"micro_batch_size": micro_batch_size},
            )
        )

    in_step, apart = work(config), work("zero1")
    growth = unit / 6
    assert (in_step.unit_flops - apart.unit_flops) / in_step.unit_flops == pytest.approx(1 - 1 / growth)
    assert in_step.num_training_calls == (2 if growth > 1 else 1) * apart.num_training_calls
    held, held_apart = (lane_memory(each, H100, MemoryRole.TRAINER).activations for each in (in_step, apart))
    # What one recomputed layer holds besides is of one expert at a time.
    assert held_apart * (1 + 0.6 * (growth - 1)) <= held <= held_apart * growth


def test_several_gradient_steps_keep_their_activations_side_by_side() -> None:
    one, three = (
        lane_memory(
            Workload.of(spec(algorithm={"name": "reward_flow", "num_gradient_steps": number})), H100, MemoryRole.TRAINER
        )
        for number in (1, 3)
    )
    assert three.activations > 2 * one.activations


# --- scoring ----------------------------------------------------------------------------------------------------------


def test_every_reward_has_a_cost_and_the_frames_judged_are_the_engines() -> None:
    assert set(SCORERS) == set(RewardName)
    assert NUM_JUDGED_FRAMES == JUDGED_BY_THE_ENGINE


def test_networks_are_scored_on_the_lanes_cores_and_the_rest_on_one() -> None:
    request = spec(rewards=("pick_score", "clip_score", "jpeg_compressibility"))
    megapixels = 512 * 512 / 1e6
    assert ScoringCost.of(request).flops == pytest.approx((0.38 + 0.175) * 1e12)
    assert ScoringCost.of(request).core_seconds == pytest.approx(1e-4 + 0.0055 * megapixels)

    def seconds(**lanes: Any) -> float:
        work = Workload.of(request.model_copy(update={"lanes": request.lanes.model_copy(update=lanes)}))
        return pool_costs(work, devices, num_reward=1).cost_table((0,))["reward-0", CostKind.SCORE].per_unit

    devices, on_one = [H100, H100], 0.555e12 / (CPU_CORE.fp32_flops * 0.93)
    # On a node of accelerators a lane that scores takes 8 cores, of whose time 7 % does not get shorter.
    assert seconds() == pytest.approx(on_one * (0.07 + 0.93 / 8) + 1e-4 + 0.0055 * megapixels)
    in_bf16 = 0.555e12 / (H100.peak_flops * 0.35)
    assert seconds(rewards_on=RewardDevice.OWN_GPU) == pytest.approx(in_bf16 + 1e-4 + 0.0055 * megapixels)
    devices = [CPU_CORE, CPU_CORE]
    assert seconds() == pytest.approx(on_one + 1e-4 + 0.0055 * megapixels)


def test_two_cores_score_as_fast_as_was_measured() -> None:
    one, two = (scoring_cores(CPU_CORE, number) for number in (1, 2))

    def seconds(flops: float, cores: Accelerator) -> float:
        """The text is embedded once for the 4 images."""
        return flops / (cores.fp32_flops * cores.generation_efficiency.value)

    for flops, on_one, on_two in ((0.16525e12, 1.79, 0.98), (0.34675e12, 3.67, 1.91)):
        assert seconds(flops, one) == pytest.approx(on_one, rel=0.05)
        assert seconds(flops, two) == pytest.approx(on_two, rel=0.05)


def test_of_a_clip_eight_frames_are_judged_and_its_motion_on_all() -> None:
    wan = {"path": "Wan-AI/Wan2.1-T2V-1.3B-Diffusers", "family": "wan"}
    clip = {"num_frames": 33, "height": 240, "width": 416}
    judged = ScoringCost.of(spec(base_model=wan, sampling=clip, rewards=("pick_score", "motion_smoothness")))
    assert judged.flops == pytest.approx(8 * 0.38e12)
    assert judged.core_seconds == pytest.approx(0.081 * 33 * 240 * 416 / 1e6)


def test_prompts_are_encoded_before_the_policy_is_loaded_and_their_encoders_count_there_alone() -> None:
    work = Workload.of(spec())
    largest = {role: lane_memory(work, H100, role) for role in MemoryRole}
    assert all(memory.weights and not memory.text_encoders for memory in largest.values())
    # FLUX.2 dev's Mistral is larger than what ZeRO 3 leaves of the transformer on each of 8 ranks.
    flux2 = Workload.of(
        spec(base_model={"path": "black-forest-labs/FLUX.2-dev", "family": "flux2", "dtype": "bf16"}, deepspeed=SHARDED)
    )
    encoding = lane_memory(flux2, H100, MemoryRole.TRAINER, num_ranks=8)
    assert (encoding.text_encoders, encoding.weights, encoding.optimizer) == (2 * 24.0e9, 0.0, 0.0)
    # On 48 GB they do not fit, and encode on the CPU.
    assert not lane_memory(flux2, L40S, MemoryRole.TRAINER, num_ranks=8).text_encoders


@pytest.mark.parametrize(
    ("path", "family", "length", "bytes_of_one"),
    [
        ("black-forest-labs/FLUX.2-dev", "flux2", None, 512 * (3 * 5120 * 2 + 4 * 8)),
        ("black-forest-labs/FLUX.2-dev", "flux2", 128, 128 * (3 * 5120 * 2 + 4 * 8)),
        # Not padded: the plan computes with prompts of a usual length, and holds those of the longest.
        ("Qwen/Qwen-Image", "qwen_image", None, 512 * 3584 * 2),
        ("Qwen/Qwen-Image", "qwen_image", 1024, 1024 * 3584 * 2),
    ],
)
def test_a_lane_holds_embeddings_of_prompts_as_long_as_the_run_allows(
    path: str, family: str, length: int | None, bytes_of_one: int
) -> None:
    model, sampling = {"path": path, "family": family, "dtype": "bf16"}, {"max_sequence_length": length}
    work = Workload.of(spec(base_model=model, sampling=sampling, deepspeed=SHARDED))
    work = replace(work, profile=replace(work.profile, text_encoder_parameters=0.0))
    held = [lane_memory(work, H100, role, num_ranks=8).embeddings for role in MemoryRole]
    assert held == [32 * (bytes_of_one + HEADER_BYTES)] * 3


def test_embeddings_lie_beside_no_text_encoder() -> None:
    flux2 = {"path": "black-forest-labs/FLUX.2-dev", "family": "flux2", "dtype": "bf16"}
    encoding = lane_memory(
        Workload.of(spec(base_model=flux2, deepspeed=SHARDED)), H100, MemoryRole.TRAINER, num_ranks=8
    )
    assert (encoding.text_encoders > 0, encoding.embeddings) == (True, 0.0)


def test_a_lower_prompt_length_shortens_every_pass() -> None:
    def text_tokens(path: str, family: str, **sampling: int) -> int:
        model = {"path": path, "family": family, "dtype": "bf16"}
        return Workload.of(spec(base_model=model, sampling=sampling)).profile.text_tokens

    assert text_tokens("black-forest-labs/FLUX.1-dev", "flux") == 512
    assert text_tokens("black-forest-labs/FLUX.1-dev", "flux", max_sequence_length=128) == 128
    # 77 tokens of CLIP come on top of T5's.
    sd3 = "stabilityai/stable-diffusion-3.5-large"
    assert [text_tokens(sd3, "sd3", max_sequence_length=length) for length in (128, 512)] == [205, 589]
    # Not padded: prompts are as long as they are.
    assert [text_tokens("Qwen/Qwen-Image", "qwen_image", max_sequence_length=n) for n in (32, 1024)] == [32, 64]
