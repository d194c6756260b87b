"""The bytes that a lane holds: values computed by hand, and more ranks never take more."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.names import Tuning
from worker.contracts.sections import SamplingSpec
from worker.engine.sync.host_staging import MAX_STAGED_BYTES as STAGED_BY_THE_ENGINE
from worker.engine.trainer.zero.deepspeed_config import MAX_BUCKET_NUMEL as OF_THE_ENGINE
from worker.scheduling.planning.memory import (
    MAX_BUCKET_NUMEL,
    MAX_STAGED_BYTES,
    LaneMemory,
    MemoryRole,
    host_bytes,
    lane_memory,
    recomputing_on,
    staged_bytes,
)
from worker.scheduling.planning.policy_copies import PolicyCopies
from worker.scheduling.planning.workload import MemorySavings, Workload
from worker.scheduling.profiles.hardware import CPU_CORE, GB, H100, L40S
from worker.scheduling.profiles.image_models import FLUX, QWEN_IMAGE, SHAPES
from worker.scheduling.profiles.known_models import PROFILES

LORA = 64 * 60 * 8 * 6144
ALL_RECOMPUTED = MemorySavings(num_recomputed_layers=60)


def workload(
    *, profile: str = QWEN_IMAGE.name, zero_stage: int = 0, micro_batch_size: int = 2, fragment_size: int = 1
) -> Workload:
    batch = BatchSpec(
        num_prompts_per_batch=4, group_size=16, micro_batch_size=micro_batch_size, fragment_size=fragment_size
    )
    return Workload(
        # Text encoders are alone on the device: what is beside the policy is tested without them.
        profile=replace(PROFILES[profile], text_encoder_parameters=0.0),
        algebra=BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=20, num_sde_steps=8)),
        height=512,
        width=512,
        num_denoising_steps=20,
        trained_parameters=PROFILES[profile].lora_parameters(64),
        zero_stage=zero_stage,
        memory_savings=ALL_RECOMPUTED,
    )


def test_a_trainer_holds_weights_state_and_checkpointed_activations() -> None:
    memory = lane_memory(workload(), H100, MemoryRole.TRAINER, num_ranks=4)
    assert memory.weights == 2 * 20.4e9
    assert memory.adapter + memory.gradients + memory.optimizer == 16 * LORA
    assert memory.activations == 2 * (1024 + 64) * 3072 * (2 * 60 + QWEN_IMAGE.lora_activation_bytes)
    assert memory.decoder == memory.trajectories == 0


def test_a_rollout_lane_holds_no_gradients_and_no_moments() -> None:
    memory = lane_memory(workload(), H100, MemoryRole.ROLLOUT)
    assert memory.adapter == 4 * LORA
    assert memory.gradients == memory.optimizer == 0
    # Latents before and after 8 stochastic denoising steps: 1,024 tokens of 64 fp32 numbers.
    assert memory.trajectories == 2 * 8 * 1024 * 64 * 4


def test_a_lane_that_does_both_holds_the_frozen_weights_once() -> None:
    both = lane_memory(workload(), H100, MemoryRole.BOTH)
    assert both.weights == 2 * 20.4e9
    assert both.fits(H100)
    assert both.adapter == 2 * 4 * LORA


def test_zero_partitions_moments_then_gradients_then_weights() -> None:
    by_stage = [lane_memory(workload(zero_stage=stage), H100, MemoryRole.TRAINER, num_ranks=8) for stage in range(4)]
    # Two moments, and from stage 1 on a master copy.
    assert [memory.optimizer for memory in by_stage] == [8 * LORA, *[12 * LORA / 8] * 3]
    # Stage 1 keeps accumulated and averaged gradients; from there on they also go through a bucket.
    assert [memory.gradients for memory in by_stage] == [4 * LORA, 12 * LORA, 4.5 * LORA, 4.5 * LORA]
    assert by_stage[3].weights == pytest.approx(40.8e9 / 8 + 2 * 40.8e9 / 60)
    assert lane_memory(workload(zero_stage=3), H100, MemoryRole.BOTH, num_ranks=8).weights == 40.8e9 * (1 + 1 / 8)


def test_what_is_in_host_memory_is_not_on_the_device() -> None:
    def at(role: MemoryRole, **memory_savings: bool) -> LaneMemory:
        return lane_memory(
            replace(workload(zero_stage=3), memory_savings=replace(ALL_RECOMPUTED, **memory_savings)),
            H100,
            role,
            num_ranks=8,
        )

    assert at(MemoryRole.TRAINER, optimizer_on_host=True).optimizer == 0
    assert at(MemoryRole.TRAINER, weights_on_host=True).weights == pytest.approx(2 * 40.8e9 / 60)
    idle = at(MemoryRole.BOTH, idle_on_host=True)
    # The full base is gathered before the lane's own shard may be offloaded.
    assert (idle.weights, idle.optimizer, idle.gradients) == (40.8e9 * (1 + 1 / 8), 0, 0)
    assert idle.total < at(MemoryRole.BOTH).total


@pytest.mark.parametrize(("every", "num_kept"), [(0, 60), (1, 0), (2, 30), (7, 51)])
def test_layers_that_are_not_recomputed_keep_all_their_activations(every: int, num_kept: int) -> None:
    memory = lane_memory(workload().recomputing(60 - num_kept), H100, MemoryRole.TRAINER)
    kept = QWEN_IMAGE.lora_activation_bytes
    under_way = kept if every else 0
    assert memory.activations == 2 * (1024 + 64) * 3072 * (2 * (60 - num_kept) + kept * num_kept + under_way)


def test_in_zero_3_a_layer_that_is_not_recomputed_stays_gathered() -> None:
    work = workload(zero_stage=3)
    assert lane_memory(work.recomputing(0), H100, MemoryRole.TRAINER, num_ranks=8).weights == pytest.approx(
        40.8e9 * (1 + 1 / 8)
    )


def test_a_lane_that_does_not_fit_is_recognised() -> None:
    work = workload(profile=FLUX.name)
    assert lane_memory(work.recomputing(FLUX.num_layers), L40S, MemoryRole.TRAINER).fits(L40S)
    assert not lane_memory(work.recomputing(0), L40S, MemoryRole.TRAINER).fits(L40S)


@pytest.mark.parametrize("memory_gb", [30, 35, 40, 48, 60, 80])
@pytest.mark.parametrize("role", [MemoryRole.TRAINER, MemoryRole.BOTH])
def test_a_lane_recomputes_the_fewest_layers_with_which_it_fits(memory_gb: int, role: MemoryRole) -> None:
    device = replace(L40S, memory_bytes=memory_gb * GB)
    work = replace(workload(profile=FLUX.name), memory_savings=MemorySavings())
    number = recomputing_on(work, device, role, num_ranks=2).num_recomputed_layers
    held = [
        lane_memory(work.recomputing(each), device, role, num_ranks=2).fits(device)
        for each in range(FLUX.num_layers + 1)
    ]
    assert number == (held.index(True) if any(held) else FLUX.num_layers)
    assert lane_memory(work, device, role, num_ranks=2).fits(device) == any(held)


def test_the_number_that_a_spec_gives_is_kept_whatever_the_memory() -> None:
    tiny = replace(L40S, memory_bytes=1 * GB)
    assert recomputing_on(workload(), tiny, MemoryRole.TRAINER, num_ranks=1) == workload()


def test_accelerators_keep_a_reserve_in_proportion_and_a_core_next_to_nothing() -> None:
    reserves = {device.name: lane_memory(workload(), device, MemoryRole.ROLLOUT).reserve for device in (H100, CPU_CORE)}
    assert reserves == {"h100": pytest.approx(3e9 + 0.05 * H100.memory_bytes), "cpu": pytest.approx(0.1e9)}


def test_the_shapes_model_fits_a_core_of_this_machine_many_times() -> None:
    work = replace(workload(profile=SHAPES.name), height=32, width=32)
    assert lane_memory(work, CPU_CORE, MemoryRole.BOTH).total < CPU_CORE.memory_bytes / 10


# --- all weights ------------------------------------------------------------------------------------------------------

ALL = 20.4e9


def full(
    *, zero_stage: int = 1, weight_bytes: int = 2, copies: PolicyCopies | None = None, **memory_savings: bool
) -> Workload:
    return replace(
        workload(zero_stage=zero_stage),
        tuning=Tuning.FULL,
        trained_parameters=ALL,
        weight_bytes=weight_bytes,
        copies=copies or PolicyCopies(),
        memory_savings=replace(ALL_RECOMPUTED, **memory_savings),
    )


@pytest.mark.parametrize("weight_bytes", [2, 4])
def test_full_tuning_shards_state_by_zero_stage_and_holds_no_adapter(weight_bytes: int) -> None:
    by_stage = [
        lane_memory(full(zero_stage=stage, weight_bytes=weight_bytes), H100, MemoryRole.TRAINER, num_ranks=8)
        for stage in range(4)
    ]
    weights_bytes, bucket = weight_bytes * ALL, 4 * MAX_BUCKET_NUMEL
    assert [memory.optimizer for memory in by_stage] == [8 * ALL, *[12 * ALL / 8] * 3]
    assert [memory.gradients for memory in by_stage] == pytest.approx(
        [4 * ALL, 8 * ALL + bucket, ALL / 2 + bucket, ALL / 2 + bucket]
    )
    # Stage 3 holds most while a version is published: the rank's part of it beside its shard.
    assert [memory.weights for memory in by_stage] == pytest.approx([weights_bytes] * 3 + [weights_bytes / 8])
    assert by_stage[3].copies == pytest.approx(weights_bytes / 8)
    assert {memory.adapter for memory in by_stage} == {0}


def test_a_lane_that_generates_what_it_trains_has_a_whole_copy_of_it() -> None:
    assert lane_memory(full(), H100, MemoryRole.ROLLOUT).weights == 2 * ALL
    both = [lane_memory(full(zero_stage=stage), H100, MemoryRole.BOTH, num_ranks=8).weights for stage in (1, 2, 3)]
    assert both == pytest.approx([4 * ALL, 4 * ALL, 2 * ALL * (1 + 1 / 8)])
    # The trained weights are offloaded before the copy is made, so there are never two.
    idle = lane_memory(full(idle_on_host=True, zero_stage=2), H100, MemoryRole.BOTH, num_ranks=32)
    assert idle.weights == 2 * ALL
    assert idle.total < lane_memory(full(zero_stage=2), H100, MemoryRole.BOTH, num_ranks=32).total


def test_each_policy_beside_the_trained_one_is_a_copy_that_zero_3_shards() -> None:
    def held(zero_stage: int, copies: PolicyCopies) -> float:
        return lane_memory(full(zero_stage=zero_stage, copies=copies), H100, MemoryRole.TRAINER, num_ranks=8).copies

    reference, both = PolicyCopies(reference=True), PolicyCopies(reference=True, second=True, num_shadow_copies=1)
    assert held(1, reference) - held(1, PolicyCopies()) == pytest.approx(2 * ALL)
    assert held(1, both) - held(1, PolicyCopies()) == pytest.approx(2 * 2 * ALL + 4 * ALL)
    assert held(3, both) - held(3, PolicyCopies()) == pytest.approx((2 * 2 * ALL + 4 * ALL) / 8)
    # At staleness 1 the rank's part of the version being published exists while it trains.
    assert held(3, PolicyCopies(stale=True)) == pytest.approx((2 * ALL + 2 * ALL) / 8)


def test_an_optimizer_in_host_memory_keeps_its_gradients_there_and_the_hosts_bytes_are_counted() -> None:
    offloaded = full(zero_stage=2, optimizer_on_host=True)
    memory = lane_memory(offloaded, H100, MemoryRole.TRAINER)
    assert (memory.optimizer, memory.gradients) == (0, 4 * MAX_BUCKET_NUMEL)
    assert host_bytes(offloaded, H100, num_ranks=1) == 16 * ALL
    assert host_bytes(full(zero_stage=2), H100, num_ranks=1) == 0
    with_weights = full(zero_stage=3, optimizer_on_host=True, weights_on_host=True)
    assert host_bytes(with_weights, H100, num_ranks=8) == 18 * ALL / 8


@pytest.mark.parametrize(
    ("zero_stage", "bytes_per_parameter"),
    [(0, 8 + 4 + 2), (1, 12 / 8 + 8 + 2), (2, 12 / 8 + 4 / 8 + 2), (3, 12 / 8 + 4 / 8 + 2 / 8)],
)
def test_each_gpu_of_a_lane_keeps_its_own_state_in_the_hosts_memory(
    zero_stage: int, bytes_per_parameter: float
) -> None:
    """Moments, gradients and weights of one of the 8 ranks of 2 lanes; the bucket, which stays in ZeRO 3, is whole."""
    work = replace(full(zero_stage=zero_stage, idle_on_host=True), spreads=True)
    held = host_bytes(work, H100.in_lane_of(4), num_ranks=2)
    bucket = 4 * MAX_BUCKET_NUMEL if zero_stage == 3 else 0
    assert held == pytest.approx(4 * (bytes_per_parameter * ALL + bucket))


@pytest.mark.parametrize("zero_stage", range(4))
def test_a_lora_leaves_its_base_to_the_host_only_where_it_is_sharded(zero_stage: int) -> None:
    savings = MemorySavings(num_recomputed_layers=60, idle_on_host=True)
    work = replace(workload(zero_stage=zero_stage), memory_savings=savings, spreads=True)
    # Of one of the 8 ranks: moments, and from stage 1 on master weights, and gradients; in stage 3 a bucket too.
    of_rank = {0: 12, 1: 12 / 8 + 8, 2: 16 / 8, 3: 16 / 8 + 4}[zero_stage] * LORA
    base = 2 * 20.4e9 / 8 if zero_stage == 3 else 0
    assert host_bytes(work, H100.in_lane_of(4), num_ranks=2) == pytest.approx(4 * (of_rank + base))


@pytest.mark.parametrize("savings", [{"idle_on_host": True}, {"optimizer_on_host": True, "weights_on_host": True}])
def test_copies_of_the_policy_are_in_the_hosts_memory_where_the_weights_are(savings: dict[str, bool]) -> None:
    """What ranks share does not depend on how they are divided into lanes."""
    plain, both = (
        replace(full(zero_stage=3, copies=copies, **savings), spreads=True)
        for copies in (PolicyCopies(), PolicyCopies(reference=True, stale=True))
    )
    for width, num_lanes in ((1, 8), (4, 2)):
        of_lane = [host_bytes(work, H100.in_lane_of(width), num_ranks=num_lanes) for work in (plain, both)]
        assert num_lanes * (of_lane[1] - of_lane[0]) == pytest.approx(2 * 2 * ALL)


def test_the_bucket_size_is_the_engines() -> None:
    assert MAX_BUCKET_NUMEL == OF_THE_ENGINE


@given(
    profile=st.sampled_from(sorted(PROFILES)),
    tuning=st.sampled_from(Tuning),
    zero_stage=st.integers(0, 3),
    role=st.sampled_from(MemoryRole),
    num_ranks=st.integers(1, 64),
    sizes=st.sampled_from([(1, 1), (2, 4), (8, 16)]),
)
def test_more_ranks_smaller_fragments_and_smaller_micro_batches_never_take_more(
    profile: str, tuning: Tuning, zero_stage: int, role: MemoryRole, num_ranks: int, sizes: tuple[int, int]
) -> None:
    def total(micro_batch_size: int, fragment_size: int, ranks: int) -> float:
        work = workload(
            profile=profile, zero_stage=zero_stage, micro_batch_size=micro_batch_size, fragment_size=fragment_size
        )
        if tuning is Tuning.FULL:
            work = replace(work, tuning=tuning, trained_parameters=work.profile.parameters)
        return lane_memory(work, H100, role, num_ranks=ranks).total

    small, large = sizes
    assert total(small, small, num_ranks) <= total(large, large, num_ranks)
    assert total(small, small, num_ranks + 1) <= total(small, small, num_ranks)


def test_a_rank_pins_its_part_of_a_version_up_to_the_engines_bound() -> None:
    assert MAX_STAGED_BYTES == STAGED_BY_THE_ENGINE
    assert staged_bytes(workload(), num_ranks=4) == 4 * LORA, "rank 0 publishes a LoRA alone"
    whole = replace(workload(), tuning=Tuning.FULL, trained_parameters=QWEN_IMAGE.parameters)
    assert staged_bytes(whole, num_ranks=8) == whole.published_bytes / 8
    assert staged_bytes(whole, num_ranks=1) == MAX_STAGED_BYTES
