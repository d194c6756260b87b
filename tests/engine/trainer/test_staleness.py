"""Stale data is gated by the version that drew it, and the gate changes no gradient."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.engine.replay_recorder import record_replays
from tests.engine.trainer.gradient_recorder import GradientRecorder
from tests.slow_params import slow_but
from worker.contracts.replay_bounds import ReplayGateSpec
from worker.engine.errors import ReplayGateError, SyncError
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

NUM_PAIRS = 24
AHEAD: dict[str, Any] = {"max_staleness": 1}
AROUND_BEHAVIOUR = AHEAD | {"stale_clip": "behaviour"}
TrainerMaker = Callable[..., TrainerRank]


def test_the_gate_replays_stale_data_with_the_version_that_drew_it(
    make_trainer: TrainerMaker, groups: list[GroupBatch], current: PublishedShard, behaviour: PublishedShard
) -> None:
    trainer = make_trainer(current, pipeline=AHEAD)
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True, staleness=1, behaviour=behaviour)
    assert check_replay_gate(stats, ReplayGateSpec().bounds("fp32"))["mean_error"] < 1e-4
    assert stats.maxima["ratio_deviation"] > 1e-2, "the curve is of the policy being trained"
    assert stats.sums["kl_pairs"] > 0


def test_the_gate_detects_a_rollout_lane_that_drew_with_other_weights(
    make_trainer: TrainerMaker, groups: list[GroupBatch], current: PublishedShard
) -> None:
    trainer = make_trainer(current, pipeline=AHEAD)
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True, staleness=1, behaviour=current)
    with pytest.raises(ReplayGateError, match="sampling and replay must agree"):
        check_replay_gate(stats, ReplayGateSpec().bounds("fp32"))


def test_stale_data_is_gated_on_a_tenth_of_the_micro_batches_and_on_one_at_least(
    make_trainer: TrainerMaker,
    groups: list[GroupBatch],
    behaviour: PublishedShard,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replayed = record_replays(monkeypatch)
    # Clipped around the behaviour policy, so that the older policy replays for the gate alone.
    trainer = make_trainer(pipeline=AROUND_BEHAVIOUR, batch={"micro_batch_size": 1})
    fresh_and_stale: dict[str, Any] = {"fresh": True, "staleness": 1, "behaviour": behaviour}
    for group, num_so_far in zip(groups, (1, 2), strict=True):
        stats = trainer.accumulate([group], num_pairs_total=NUM_PAIRS, **fresh_and_stale)
        assert replayed == [1] * num_so_far, "of 12 and of 24 micro-batches"
        check_replay_gate(stats, ReplayGateSpec().bounds("fp32"))
    trainer.commit()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False, staleness=1)
    assert len(replayed) == 2


def test_the_gate_needs_the_version_that_drew_the_batch(
    make_trainer: TrainerMaker, groups: list[GroupBatch], behaviour: PublishedShard
) -> None:
    trainer = make_trainer(pipeline=AHEAD)
    with pytest.raises(SyncError, match="got 7 for trajectories of 0"):
        later = replace(behaviour, policy_version=7)
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True, staleness=1, behaviour=later)
    trainer.abort()
    with pytest.raises(SyncError, match="`behaviour` must be given"):
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True, staleness=1)


@pytest.mark.parametrize("stage", slow_but([2], range(4)))
def test_the_gate_on_stale_data_changes_no_gradient(
    make_trainer: TrainerMaker,
    groups: list[GroupBatch],
    current: PublishedShard,
    behaviour: PublishedShard,
    stage: int,
) -> None:
    found = []
    for fresh in (True, False):
        trainer = make_trainer(current, pipeline=AROUND_BEHAVIOUR, deepspeed={"config": f"zero{stage}"})
        recorder = GradientRecorder(trainer)
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=fresh, staleness=1, behaviour=behaviour)
        trainer.commit()
        found.append((recorder.last, trainer.version(1).sha256))
    assert torch.equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]
