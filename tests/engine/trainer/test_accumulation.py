"""However a mini-batch is cut and in whatever order it comes, its gradient is the mean over all its pairs."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups, perturbed_adapter
from tests.engine.trainer.gradient_recorder import GradientRecorder, relative_distance
from tests.engine.trainer.reference_update import reference_update
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import MinibatchError
from worker.engine.metrics.update_metrics import merge_stats
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

NUM_PAIRS = 24
STAGES = pytest.mark.parametrize("stage", [0, 1, 2, 3])
UNCLIPPED = {"max_grad_norm": 1e9}


@pytest.fixture(scope="module")
def current(tiny_checkpoint: str, make_spec: Callable[..., RunSpec]) -> PublishedShard:
    """Another policy than the behaviour's, so that ratios are not 1."""
    return perturbed_adapter(make_spec(), tiny_checkpoint, seed=2)


def step(trainer: TrainerRank, *calls: list[GroupBatch]) -> str:
    """One optimizer step over groups given in these calls; returns the new weights' checksum."""
    for call in calls:
        trainer.accumulate(call, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    return trainer.version(1).sha256


@STAGES
@pytest.mark.parametrize("kl_coefficient", [0.0, 0.5])
def test_the_gradient_is_the_formulas_mean_over_all_pairs(
    make_trainer: Callable[..., TrainerRank],
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    groups: list[GroupBatch],
    current: PublishedShard,
    stage: int,
    kl_coefficient: float,
) -> None:
    sections = {
        "algorithm": {"kl_coefficient": kl_coefficient, "clip_range": 0.02},
        "optimizer": UNCLIPPED,
        "deepspeed": {"zero_stage": stage},
    }
    expected, sums = reference_update(make_spec(**sections), tiny_checkpoint, current, groups)
    trainer = make_trainer(current, **sections)
    seen = GradientRecorder(trainer)
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    metrics = trainer.commit()
    assert relative_distance(seen.last[: len(expected)], expected) < 1e-4
    assert metrics["grad_norm"] == pytest.approx(float(expected.norm()), rel=1e-4)
    assert metrics["learning_rate"] == 1e-3
    assert stats.num_pairs == NUM_PAIRS
    assert 0 < sums["clipped"] < NUM_PAIRS
    if kl_coefficient:
        sums["kl_pairs"] = NUM_PAIRS
    else:
        del sums["kl"]
    assert stats.sums == pytest.approx(sums, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("micro_batch_size", "num_watched"), [(1, 2), (6, 4), (100, 12)])
def test_without_a_penalty_the_kl_of_a_tenth_of_fresh_micro_batches_is_watched_and_trains_nothing(
    make_trainer: Callable[..., TrainerRank],
    groups: list[GroupBatch],
    current: PublishedShard,
    micro_batch_size: int,
    num_watched: int,
) -> None:
    sections = {"batch": {"micro_batch_size": micro_batch_size}}
    watched, unwatched = make_trainer(current, **sections), make_trainer(current, **sections)
    seen, plain = GradientRecorder(watched), GradientRecorder(unwatched)
    # Groups that come later are of the same tens.
    parts = [watched.accumulate([group], num_pairs_total=NUM_PAIRS, fresh=True) for group in groups]
    unwatched.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    watched.commit()
    unwatched.commit()
    stats = merge_stats(parts)
    assert stats.sums["kl_pairs"] == num_watched
    assert stats.sums["kl"] > 0
    assert torch.equal(seen.last, plain.last)


@STAGES
def test_groups_that_arrive_one_at_a_time_give_bitwise_the_same_step(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch], stage: int
) -> None:
    sections = {"deepspeed": {"zero_stage": stage}}
    at_once = step(make_trainer(**sections), groups)
    assert step(make_trainer(**sections), groups[:1], groups[1:]) == at_once
    assert step(make_trainer(**sections), groups[::-1]) == at_once


def test_whatever_leaves_the_weights_whole_takes_bitwise_the_same_steps_on_one_rank(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch]
) -> None:
    def two_steps(stage: int) -> str:
        # Clipping goes through other code in stage 0; without it only the reduction differs.
        trainer = make_trainer(optimizer=UNCLIPPED, deepspeed={"zero_stage": stage})
        step(trainer, groups)
        return step(trainer, groups)

    assert two_steps(0) == two_steps(1) == two_steps(2)


@pytest.mark.parametrize("micro_batch_size", [1, 5, 100])
def test_the_micro_batch_size_changes_nothing_but_rounding(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch], micro_batch_size: int
) -> None:
    gradients = []
    for size in (6, micro_batch_size):
        trainer = make_trainer(batch={"micro_batch_size": size}, optimizer=UNCLIPPED)
        seen = GradientRecorder(trainer)
        step(trainer, groups)
        gradients.append(seen.last)
    assert relative_distance(gradients[1], gradients[0]) < 1e-5


def test_a_group_cut_into_fragments_trains_like_the_whole(
    make_trainer: Callable[..., TrainerRank],
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    groups: list[GroupBatch],
    behaviour: PublishedShard,
) -> None:
    cut = draw_groups(make_spec(), tiny_checkpoint, behaviour, fragment_size=2)
    gradients = []
    for drawn in (groups, cut):
        trainer = make_trainer(optimizer=UNCLIPPED)
        seen = GradientRecorder(trainer)
        step(trainer, drawn)
        gradients.append(seen.last)
    assert [len(group.trajectories) for group in cut] == [2, 2]
    assert relative_distance(gradients[1], gradients[0]) < 1e-3


def test_fresh_data_replays_with_ratio_one_and_the_same_means(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch], current: PublishedShard
) -> None:
    fresh = make_trainer().accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True)
    assert fresh.maxima["ratio_deviation"] < 1e-5
    assert fresh.maxima["mean_error"] < 1e-4
    other = make_trainer(current).accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True)
    assert other.maxima["mean_error"] > 1e-2
    stale = make_trainer().accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    assert "mean_error" not in stale.maxima


def test_means_are_compared_only_where_every_fragment_carries_them(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch]
) -> None:
    bare = [
        replace(group, trajectories=tuple(replace(part, means=None) for part in group.trajectories)) for group in groups
    ]
    stats = make_trainer().accumulate(bare, num_pairs_total=NUM_PAIRS, fresh=True)
    assert "mean_error" not in stats.maxima


def test_a_step_over_an_incomplete_mini_batch_is_refused(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch]
) -> None:
    trainer = make_trainer()
    with pytest.raises(MinibatchError, match="must be complete"):
        trainer.commit()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(MinibatchError, match="mini-batch of 24 pairs must be complete at its optimizer step, got 12"):
        trainer.commit()


def test_a_group_enters_a_mini_batch_once(make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch]) -> None:
    trainer = make_trainer()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(MinibatchError, match="each group must enter a mini-batch once"):
        trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(MinibatchError, match="must stay 24 within a mini-batch, got 36"):
        trainer.accumulate(groups[1:], num_pairs_total=36, fresh=False)
    with pytest.raises(MinibatchError, match="must hold 12 pairs, got 24"):
        make_trainer().accumulate(groups, num_pairs_total=12, fresh=False)


def test_a_bf16_base_trains_fp32_adapters(
    make_trainer: Callable[..., TrainerRank],
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    behaviour: PublishedShard,
) -> None:
    sections = {"base_model": {"dtype": "bf16"}}
    groups = draw_groups(make_spec(**sections), tiny_checkpoint, behaviour)
    trainer = make_trainer(**sections)
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True)
    assert merge_stats([stats]).maxima["ratio_deviation"] < 1e-2
    trainer.commit()
    assert trainer.version(1).sha256 != behaviour.sha256
    assert {tensor.dtype for tensor in trainer.version(1).tensors.values()} == {torch.float32}


def test_deterministic_kernels_change_no_bit_here(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch]
) -> None:
    """On the CPU the ordinary kernels are deterministic already; the switch must not refuse one of ours."""
    expected = step(make_trainer(), groups)
    try:
        assert step(make_trainer(pipeline={"deterministic": True}), groups) == expected
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)
