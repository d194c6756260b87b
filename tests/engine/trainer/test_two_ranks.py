"""Two ranks over gloo take the step that one rank takes, with unequal shares of the pairs, in every ZeRO stage."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from diffusers import FluxTransformer2DModel

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.rank_processes import each_case, run_rank_processes, selected_cases
from tests.engine.sharing_embeddings import load_sampler, trainer_rank
from tests.engine.stacked import next_latents_of
from tests.engine.trainer.gradient_recorder import GradientRecorder, full_gradient, relative_distance
from tests.engine.trainer.lent_generation import generate_fragment
from tests.engine.trainer.two_ranks_worker import CASES, Case
from worker.contracts.run_spec import RunSpec
from worker.engine.types import GroupBatch, PublishedShard
from worker.scheduling.planning.memory import host_bytes
from worker.scheduling.planning.trainer_state import trainer_state
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE

WORLD_SIZE = 2
EACH_CASE = each_case(
    CASES, of_full_tests=[(1, True), (2, False), (3, False)], ids=lambda case: f"zero{case[0]}-{case[1]}"
)

# A group has 9 pairs in 3 micro-batches, each one denoising step of all members: 2 for rank 0, 1 and a padding for rank
# 1.
NUM_PAIRS = 18
SECTIONS: dict[str, Any] = {
    "batch": {"group_size": 3, "micro_batch_size": 4},
    "optimizer": {"max_grad_norm": 1e9},
    "algorithm": {"clip_range": 0.02, "kl_coefficient": 0.5},
}


@pytest.fixture(scope="module")
def current(make_spec: Callable[..., RunSpec], tiny_checkpoint: str) -> PublishedShard:
    return perturbed_version(make_spec(**SECTIONS), tiny_checkpoint, seed=2)


@pytest.fixture(scope="module")
def uneven(make_spec: Callable[..., RunSpec], tiny_checkpoint: str, behaviour: PublishedShard) -> list[GroupBatch]:
    return draw_groups(make_spec(**SECTIONS), tiny_checkpoint, behaviour)


@pytest.fixture(scope="module")
def ranks(
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    current: PublishedShard,
    uneven: list[GroupBatch],
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[dict[Case, dict[str, Any]]]:
    """The observations of each of two rank processes, by case."""
    folder = tmp_path_factory.mktemp("ranks")
    task = {
        "spec": make_spec(**SECTIONS),
        "path": tiny_checkpoint,
        "version": current,
        "groups": uneven,
        "num_pairs": NUM_PAIRS,
        "cases": selected_cases(request),
    }
    return run_rank_processes("tests.engine.trainer.two_ranks_worker", task, folder, world_size=WORLD_SIZE)


@pytest.fixture(scope="module")
def one_rank(
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    current: PublishedShard,
    uneven: list[GroupBatch],
    process_group: None,
) -> tuple[torch.Tensor, float]:
    """Gradient and norm of the same step on one rank."""
    trainer = trainer_rank(make_spec(**SECTIONS), tiny_checkpoint)
    trainer.load_version(current)
    recorder = GradientRecorder(trainer)
    trainer.accumulate(uneven, num_pairs_total=NUM_PAIRS, fresh=False)
    norm = trainer.commit()["grad_norm"]
    return recorder.last, norm


@EACH_CASE
def test_gradients_equal_those_of_one_rank(
    ranks: list[dict[Case, dict[str, Any]]],
    one_rank: tuple[torch.Tensor, float],
    current: PublishedShard,
    case: Case,
) -> None:
    expected, norm = one_rank
    numels = [tensor.numel() for tensor in current.tensors.values()]
    for full in full_gradient([rank[case]["gradient"] for rank in ranks], case[0], numels):
        assert len(full) == len(expected)
        assert relative_distance(full, expected) < 1e-4
    for rank in ranks:
        assert rank[case]["grad_norm"] == pytest.approx(norm, rel=1e-4)


@EACH_CASE
def test_each_pair_was_trained_by_one_rank(ranks: list[dict[Case, dict[str, Any]]], case: Case) -> None:
    # Without time-step parallelism a group of one chunk stays on one rank, and the other trains padding.
    expected = [[6, 6], [3, 3]] if case[1] else [[9, 9], [0, 0]]
    assert [rank[case]["num_own_pairs"] for rank in ranks] == expected


@EACH_CASE
def test_ranks_hold_the_same_weights_and_an_abort_leaves_no_trace(
    ranks: list[dict[Case, dict[str, Any]]], case: Case
) -> None:
    """The resumed ranks did not take part in the aborted mini-batch."""
    first, second = (rank[case] for rank in ranks)
    assert first["after_abort"] == second["after_abort"] == first["after_resume"] == second["after_resume"]


@EACH_CASE
def test_each_rank_writes_its_share_of_a_checkpoint(ranks: list[dict[Case, dict[str, Any]]], case: Case) -> None:
    first, second = (rank[case] for rank in ranks)
    assert first["client_state"] == second["client_state"] == {"stage": case[0]}
    # Equal but for what does not divide, and for the random states, whose length as text differs by their content.
    assert abs(first["num_bytes"] - second["num_bytes"]) < 0.1 * (first["num_bytes"] + second["num_bytes"])


def num_frozen(checkpoint: str) -> int:
    """The elements of the base."""
    transformer = FluxTransformer2DModel.from_pretrained(checkpoint, subfolder="transformer")
    return sum(parameter.numel() for parameter in transformer.parameters())


def num_trained(shard: PublishedShard) -> int:
    """The elements of the LoRA."""
    return sum(tensor.numel() for tensor in shard.tensors.values())


@EACH_CASE
def test_the_state_takes_the_memory_that_was_planned(
    ranks: list[dict[Case, dict[str, Any]]], tiny_checkpoint: str, current: PublishedShard, case: Case
) -> None:
    planned = trainer_state(
        zero_stage=case[0],
        frozen_bytes=4 * num_frozen(tiny_checkpoint),
        num_trained=num_trained(current),
        num_ranks=WORLD_SIZE,
    )
    for rank in ranks:
        measured = rank[case]["state"]
        assert measured["weights"] == pytest.approx(planned.weights, rel=0.1)
        assert measured["optimizer"] == pytest.approx(planned.optimizer, rel=0.1)
        # Buckets may have been freed.
        assert measured["gradients"] <= planned.gradients * 1.1


@EACH_CASE
def test_the_gpus_of_a_lane_offload_together_what_was_planned_for_their_host(
    ranks: list[dict[Case, dict[str, Any]]],
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    current: PublishedShard,
    case: Case,
) -> None:
    """In ZeRO 0 each rank offloads all of its state, so that a lane of two takes twice as much as one GPU."""
    work = Workload.of(make_spec(**SECTIONS, deepspeed={"config": f"zero{case[0]}", "offload_idle_states": True}))
    work = replace(
        work,
        spreads=True,
        profile=replace(work.profile, parameters=num_frozen(tiny_checkpoint)),
        trained_parameters=num_trained(current),
    )
    offloaded = sum(rank[case]["offloaded"] for rank in ranks)
    assert offloaded == pytest.approx(host_bytes(work, CPU_CORE.in_lane_of(WORLD_SIZE), num_ranks=1), rel=0.02)


@EACH_CASE
def test_ranks_that_are_lent_together_draw_the_rollout_lanes_bits(
    ranks: list[dict[Case, dict[str, Any]]],
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    current: PublishedShard,
    case: Case,
) -> None:
    """In ZeRO 3 each rank holds half of the base, and all of it only while it is lent."""
    sampler = load_sampler(make_spec(**SECTIONS), tiny_checkpoint)
    sampler.pull(current)
    trajectories = generate_fragment(sampler).trajectories
    assert trajectories is not None
    for rank in ranks:
        assert torch.equal(rank[case]["lent"], next_latents_of(trajectories))
