"""Training state is offloaded while a rank generates, and reloaded bit for bit."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.engine.trainer.lent_generation import assert_equal, copy_of, lend, training_state
from tests.slow_params import slow_but
from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.names import LaneRole
from worker.engine.errors import LendingError
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.state_offload import StateOffloader
from worker.engine.types import GroupBatch, PublishedShard

NUM_PAIRS = 24
CONFIGS_OFFLOADED = (ZeroConfig.ZERO0, ZeroConfig.ZERO1, ZeroConfig.ZERO2, ZeroConfig.ZERO3)
STAGES = pytest.mark.parametrize("config", slow_but([ZeroConfig.ZERO1, ZeroConfig.ZERO3], CONFIGS_OFFLOADED))
FEW_STAGES = pytest.mark.parametrize("config", slow_but([ZeroConfig.ZERO2], CONFIGS_OFFLOADED))
TrainerMaker = Callable[..., TrainerRank]


def with_open_minibatch(trainer: TrainerRank, groups: list[GroupBatch]) -> TrainerRank:
    """`trainer` after a step, so that the optimizer has moments, and with gradients of the next mini-batch open."""
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    return trainer


def finish(trainer: TrainerRank, groups: list[GroupBatch]) -> str:
    trainer.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    return trainer.version(2).sha256


@STAGES
def test_the_next_step_equals_the_undisturbed_one(
    make_trainer: TrainerMaker, groups: list[GroupBatch], behaviour: PublishedShard, config: ZeroConfig
) -> None:
    sections: dict[str, Any] = {"pipeline": {"tag": "greedy"}, "deepspeed": {"config": config}}
    undisturbed = with_open_minibatch(make_trainer(**sections), groups)
    sections["deepspeed"] |= {"offload_idle_states": True}
    lent = with_open_minibatch(make_trainer(**sections), groups)
    before = copy_of(training_state(lent))
    for _ in range(2):
        lend(lent, behaviour)
    assert_equal(before, copy_of(training_state(lent)), config)
    assert finish(lent, groups) == finish(undisturbed, groups)


@FEW_STAGES
def test_moments_master_weights_and_gradients_are_offloaded(
    make_trainer: TrainerMaker, groups: list[GroupBatch], config: ZeroConfig
) -> None:
    trainer = with_open_minibatch(make_trainer(deepspeed={"config": config}), groups)
    offloader = StateOffloader(trainer._deepspeed_engine, trainer._policy.module)
    trained = sum(tensor.numel() for tensor in trainer.version(0).tensors.values()) * 4
    transfer = offloader.offload()
    optimizer = trainer._deepspeed_engine.optimizer
    moments = [
        tensor
        for state in getattr(optimizer, "optimizer", optimizer).state.values()
        for tensor in state.values()
        if isinstance(tensor, torch.Tensor)
    ]
    assert moments and all(tensor.untyped_storage().nbytes() == 0 for tensor in moments)
    # Two moments and one gradient at least; master weights too where DeepSpeed keeps them separately.
    assert transfer.num_bytes >= 3 * trained
    assert offloader.offload().num_bytes == 0
    assert offloader.reload().num_bytes == transfer.num_bytes
    assert offloader.reload().num_bytes == 0
    assert all(tensor.untyped_storage().nbytes() > 0 for tensor in moments)


def test_the_base_of_zero_3_is_offloaded_too_and_reloaded(make_trainer: TrainerMaker, groups: list[GroupBatch]) -> None:
    trainer = make_trainer(deepspeed={"config": "zero3"})
    expected = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False).sums
    trainer.abort()
    offloader = StateOffloader(trainer._deepspeed_engine, trainer._policy.module)
    base = [parameter for parameter in trainer._policy.module.parameters() if not parameter.requires_grad]
    num_bytes = sum(parameter.ds_tensor.numel() * parameter.ds_tensor.element_size() for parameter in base)
    assert offloader.offload(with_base=True).num_bytes >= num_bytes
    offloader.reload()
    assert trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False).sums == expected


@FEW_STAGES
def test_an_abort_of_a_lent_rank_drops_the_mini_batch_and_nothing_else(
    make_trainer: TrainerMaker, groups: list[GroupBatch], config: ZeroConfig
) -> None:
    sections: dict[str, Any] = {
        "pipeline": {"tag": "greedy"},
        "deepspeed": {"config": config, "offload_idle_states": True},
    }
    undisturbed, aborted = make_trainer(**sections), with_open_minibatch(make_trainer(**sections), groups)
    undisturbed.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    undisturbed.commit()
    aborted.switch(LaneRole.ROLLOUT)
    with pytest.raises(LendingError, match="must be switched back before it is saved"):
        aborted.save_checkpoint("memory://nowhere", {})
    aborted.abort()
    undisturbed.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    aborted.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    assert finish(aborted, groups) == finish(undisturbed, groups)
