"""A lent trainer rank draws what a rollout lane would, bit for bit, and leaves no trace in its training state."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.sharing_embeddings import load_sampler
from tests.engine.trainer.gradient_recorder import GradientRecorder
from tests.engine.trainer.lent_generation import assert_equal, copy_of, generate_fragment, lend, training_state
from tests.slow_params import slow_but
from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import LendingError, SyncError
from worker.engine.models.lora import lora_parameters
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GenerationRequest, GroupBatch, PublishedShard
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

NUM_PAIRS = 24
TAG = {"tag": "greedy"}
STAGES = pytest.mark.parametrize("stage", slow_but([0, 3], range(4)))
FEW_STAGES = pytest.mark.parametrize("stage", slow_but([1], range(4)))
TrainerMaker = Callable[..., TrainerRank]
SpecMaker = Callable[..., RunSpec]


@pytest.mark.parametrize("dtype", slow_but(["bf16"], ["fp32", "bf16"]))
def test_a_lent_lane_draws_the_rollout_lanes_bits(
    make_trainer: TrainerMaker,
    make_spec: SpecMaker,
    tiny_checkpoint: str,
    behaviour: PublishedShard,
    groups: list[GroupBatch],
    dtype: str,
) -> None:
    sections: dict[str, Any] = {"base_model": {"dtype": dtype}, "pipeline": TAG}
    sampler = load_sampler(make_spec(**sections), tiny_checkpoint)
    sampler.pull(behaviour)
    expected = generate_fragment(sampler)
    trainer = make_trainer(**sections)
    # The rank trains other weights than it generates with, and has gradients open.
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    made = lend(trainer, behaviour)
    assert made.trajectories is not None and expected.trajectories is not None
    for name in ("log_probs", "sigmas"):
        assert torch.equal(getattr(made.trajectories, name), getattr(expected.trajectories, name)), name
    for name in ("states", "means"):
        drawn, rolled_out = getattr(made.trajectories, name), getattr(expected.trajectories, name)
        assert drawn.keys() == rolled_out.keys() and drawn, name
        assert all(torch.equal(drawn[step], rolled_out[step]) for step in drawn), name
    np.testing.assert_array_equal(made.images, expected.images)
    assert made.seeds == expected.seeds


@STAGES
def test_a_lent_generation_amid_a_mini_batch_changes_nothing_at_all(
    make_trainer: TrainerMaker, groups: list[GroupBatch], behaviour: PublishedShard, stage: int
) -> None:
    sections = {"deepspeed": {"config": f"zero{stage}"}, "pipeline": TAG}
    undisturbed, lent = make_trainer(**sections), make_trainer(**sections)
    recorders = [GradientRecorder(trainer) for trainer in (undisturbed, lent)]
    for trainer in (undisturbed, lent):
        for call in (groups, groups[:1]):
            trainer.accumulate(call, num_pairs_total=NUM_PAIRS, fresh=False)
            if call is groups:
                trainer.commit()
    before = copy_of(training_state(lent))
    lend(lent, behaviour)
    assert_equal(before, copy_of(training_state(lent)), f"stage {stage}")
    for trainer in (undisturbed, lent):
        trainer.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
        trainer.commit()
    assert torch.equal(recorders[0].last, recorders[1].last)
    assert undisturbed.version(2).sha256 == lent.version(2).sha256
    assert_equal(
        undisturbed._deepspeed_engine.optimizer.state_dict(), lent._deepspeed_engine.optimizer.state_dict(), "optimizer"
    )


@FEW_STAGES
def test_an_abort_after_a_lent_generation_leaves_no_trace_of_either(
    make_trainer: TrainerMaker, groups: list[GroupBatch], behaviour: PublishedShard, stage: int
) -> None:
    sections = {"deepspeed": {"config": f"zero{stage}"}, "pipeline": TAG}
    undisturbed, aborted = make_trainer(**sections), make_trainer(**sections)
    aborted.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
    lend(aborted, behaviour)
    aborted.abort()
    for trainer in (undisturbed, aborted):
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
        trainer.commit()
    assert undisturbed.version(1).sha256 == aborted.version(1).sha256


def test_the_generation_replica_shares_all_storage_but_the_lora(make_trainer: TrainerMaker) -> None:
    trainer = make_trainer(pipeline=TAG)
    assert trainer.sampler is not None
    trained, replica = trainer._model.transformer, trainer.sampler._model.transformer
    lora = {id(parameter) for parameter in trainer._trainable.values()}
    for (name, parameter), (_, other) in zip(trained.named_parameters(), replica.named_parameters(), strict=True):
        assert (parameter.data_ptr() == other.data_ptr()) is (id(parameter) not in lora), name
    assert not any(parameter.requires_grad for parameter in replica.parameters())
    assert len(lora_parameters(replica)) == len(lora) > 0


def test_a_lent_rank_generates_with_what_it_pulled(make_trainer: TrainerMaker, behaviour: PublishedShard) -> None:
    trainer = make_trainer(pipeline=TAG)
    assert trainer.sampler is not None
    with pytest.raises(SyncError, match="None is bound"):
        trainer.sampler.generate(
            GenerationRequest(
                fragment=Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0,), 0),
                prompt=Prompt(text="a red square"),
                run_seed=3,
                prompt_index=0,
            )
        )
    receipt = trainer.sampler.pull(behaviour)
    assert (receipt.sha256, receipt.num_bound_tensors) == (behaviour.sha256, len(behaviour.tensors))


def test_a_rank_never_trains_and_generates_at_once(make_trainer: TrainerMaker, groups: list[GroupBatch]) -> None:
    trainer = make_trainer(pipeline=TAG)
    trainer.switch(LaneRole.ROLLOUT)
    with pytest.raises(LendingError, match="must be switched back before it trains"):
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(LendingError, match=r"`pipeline\.tag` is `off`"):
        make_trainer().switch(LaneRole.ROLLOUT)
