"""However a mini-batch is split and in whatever order it arrives, its gradient is the mean over all its pairs."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups
from tests.engine.trainer.gradient_recorder import GradientRecorder, relative_distance
from tests.engine.trainer.reference_update import reference_update
from tests.slow_params import slow_but
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import MinibatchError
from worker.engine.metrics.update_metrics import merge_stats
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

NUM_PAIRS = 24
STAGES = pytest.mark.parametrize("stage", slow_but([0, 3], range(4)))
UNCLIPPED = {"max_grad_norm": 1e9}


def step(trainer: TrainerRank, *calls: list[GroupBatch]) -> str:
    """Take one optimizer step, with one `accumulate` for each of `calls`; returns the new weights' checksum."""
    for call in calls:
        trainer.accumulate(call, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    return trainer.version(1).sha256


@STAGES
@pytest.mark.parametrize("kl_coefficient", slow_but([0.5], [0.0, 0.5]))
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
        "algorithm": {"kl_coefficient": kl_coefficient, "clip_range": 0.005},
        "optimizer": UNCLIPPED,
        "deepspeed": {"config": f"zero{stage}"},
    }
    expected, sums = reference_update(make_spec(**sections), tiny_checkpoint, current, groups)
    trainer = make_trainer(current, **sections)
    recorder = GradientRecorder(trainer)
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    metrics = trainer.commit()
    assert relative_distance(recorder.last[: len(expected)], expected) < 1e-4
    assert metrics["grad_norm"] == pytest.approx(float(expected.norm()), rel=1e-4)
    assert metrics["learning_rate"] == 1e-3
    assert stats.num_pairs == NUM_PAIRS
    assert 0 < sums["clipped"] < NUM_PAIRS
    if kl_coefficient:
        sums["kl_pairs"] = NUM_PAIRS
    else:
        del sums["kl"]
    assert stats.sums == pytest.approx(sums, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("micro_batch_size", "num_monitored"), slow_but([(6, 4)], [(1, 2), (6, 4), (100, 12)]))
def test_without_a_penalty_the_kl_of_a_tenth_of_fresh_micro_batches_is_monitored_and_changes_no_gradient(
    make_trainer: Callable[..., TrainerRank],
    groups: list[GroupBatch],
    current: PublishedShard,
    micro_batch_size: int,
    num_monitored: int,
) -> None:
    sections = {"batch": {"micro_batch_size": micro_batch_size}}
    monitored, plain = make_trainer(current, **sections), make_trainer(current, **sections)
    recorders = [GradientRecorder(trainer) for trainer in (monitored, plain)]
    # Micro-batches are counted over all calls of a mini-batch.
    stats = merge_stats([monitored.accumulate([group], num_pairs_total=NUM_PAIRS, fresh=True) for group in groups])
    plain.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    monitored.commit()
    plain.commit()
    assert stats.sums["kl_pairs"] == num_monitored
    assert stats.sums["kl"] > 0
    assert torch.equal(recorders[0].last, recorders[1].last)


@STAGES
def test_groups_that_arrive_one_at_a_time_give_bitwise_the_same_step(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch], stage: int
) -> None:
    sections = {"deepspeed": {"config": f"zero{stage}"}}
    at_once = step(make_trainer(**sections), groups)
    assert step(make_trainer(**sections), groups[:1], groups[1:]) == at_once
    assert step(make_trainer(**sections), groups[::-1]) == at_once


def test_stages_without_sharded_weights_take_bitwise_the_same_steps_on_one_rank(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch]
) -> None:
    def two_steps(stage: int) -> str:
        # Stage 0 clips with other code; without clipping only the reduction differs.
        trainer = make_trainer(optimizer=UNCLIPPED, deepspeed={"config": f"zero{stage}"})
        step(trainer, groups)
        return step(trainer, groups)

    assert two_steps(0) == two_steps(1) == two_steps(2)


@pytest.mark.parametrize("micro_batch_size", slow_but([5], [1, 5, 100]))
def test_the_micro_batch_size_changes_nothing_but_rounding(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch], micro_batch_size: int
) -> None:
    gradients = []
    for size in (6, micro_batch_size):
        trainer = make_trainer(batch={"micro_batch_size": size}, optimizer=UNCLIPPED)
        recorder = GradientRecorder(trainer)
        step(trainer, groups)
        gradients.append(recorder.last)
    assert relative_distance(gradients[1], gradients[0]) < 1e-5


def test_a_group_split_into_fragments_gives_the_same_gradient(
    make_trainer: Callable[..., TrainerRank],
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    groups: list[GroupBatch],
    behaviour: PublishedShard,
) -> None:
    split = draw_groups(make_spec(), tiny_checkpoint, behaviour, fragment_size=2)
    gradients = []
    for drawn in (groups, split):
        trainer = make_trainer(optimizer=UNCLIPPED)
        recorder = GradientRecorder(trainer)
        step(trainer, drawn)
        gradients.append(recorder.last)
    assert [len(group.trajectories) for group in split] == [2, 2]
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
    without_means = [
        replace(group, trajectories=tuple(replace(fragment, means={}) for fragment in group.trajectories))
        for group in groups
    ]
    stats = make_trainer().accumulate(without_means, num_pairs_total=NUM_PAIRS, fresh=True)
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


def test_a_micro_batch_enters_a_mini_batch_once(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch]
) -> None:
    trainer = make_trainer()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(MinibatchError, match="each micro-batch must enter a mini-batch once"):
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


def test_deterministic_mode_changes_no_bit_on_a_cpu(
    make_trainer: Callable[..., TrainerRank], groups: list[GroupBatch]
) -> None:
    """A CPU's kernels are deterministic anyway; the mode must not refuse any of those used."""
    expected = step(make_trainer(), groups)
    try:
        assert step(make_trainer(pipeline={"deterministic": True}), groups) == expected
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)
