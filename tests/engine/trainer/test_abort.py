"""After an abort the next step is as if the mini-batch had never been opened: weights, optimizer and gradients."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from tests.slow_params import slow_but
from worker.engine.errors import NonFiniteError
from worker.engine.models.lora import lora_parameters
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch

NUM_PAIRS = 24
STAGES = pytest.mark.parametrize("stage", slow_but([0, 3], range(4)))
FEW_STAGES = pytest.mark.parametrize("stage", slow_but([2], range(4)))
"""A pass in ZeRO 3 takes ten times as long as in the others."""
TrainerMaker = Callable[..., TrainerRank]


def two_steps(trainer: TrainerRank, groups: list[GroupBatch]) -> str:
    for _ in range(2):
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
        trainer.commit()
    return trainer.version(1).sha256


@STAGES
def test_an_aborted_mini_batch_leaves_no_trace(
    make_trainer: TrainerMaker, groups: list[GroupBatch], stage: int
) -> None:
    sections = {"deepspeed": {"config": f"zero{stage}"}}
    expected = two_steps(make_trainer(**sections), groups)
    trainer = make_trainer(**sections)
    before = trainer.version(0).sha256
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.abort()
    assert trainer.version(0).sha256 == before
    assert two_steps(trainer, groups) == expected


@STAGES
def test_an_abort_between_two_steps_leaves_the_optimizer_as_it_was(
    make_trainer: TrainerMaker, groups: list[GroupBatch], stage: int
) -> None:
    sections = {"deepspeed": {"config": f"zero{stage}"}}
    undisturbed, disturbed = make_trainer(**sections), make_trainer(**sections)
    assert two_steps(undisturbed, groups) == two_steps(disturbed, groups)
    disturbed.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
    disturbed.abort()
    assert two_steps(undisturbed, groups) == two_steps(disturbed, groups)


@FEW_STAGES
def test_a_loss_that_is_not_finite_is_named_and_can_be_aborted(
    make_trainer: TrainerMaker, groups: list[GroupBatch], stage: int
) -> None:
    sections = {"deepspeed": {"config": f"zero{stage}"}}
    (fragment,) = groups[1].trajectories
    log_probs = fragment.log_probs.clone()
    log_probs[2, 1] = math.nan
    poisoned = replace(groups[1], trajectories=(replace(fragment, log_probs=log_probs),))
    trainer = make_trainer(**sections)
    with pytest.raises(NonFiniteError, match="`loss` must be finite, got nan at group 1, member 2, denoising step 1"):
        trainer.accumulate([groups[0], poisoned], num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.abort()
    assert two_steps(trainer, groups) == two_steps(make_trainer(**sections), groups)


@FEW_STAGES
def test_a_gradient_that_is_not_finite_changes_nothing(
    make_trainer: TrainerMaker, groups: list[GroupBatch], stage: int
) -> None:
    sections = {"deepspeed": {"config": f"zero{stage}"}}
    trainer = make_trainer(**sections)
    before = trainer.version(0).sha256
    name, parameter = next(iter(lora_parameters(trainer._model.transformer).items()))
    hook = parameter.register_hook(lambda gradient: gradient * math.inf)
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    hook.remove()
    with pytest.raises(NonFiniteError, match="`gradient` must be finite") as caught:
        trainer.commit()
    assert caught.value.where in (name, "the global gradient norm")
    assert trainer.version(0).sha256 == before
    assert two_steps(trainer, groups) == two_steps(make_trainer(**sections), groups)


def test_deepspeeds_zero_grad_keeps_gradients_that_an_abort_drops(
    make_trainer: TrainerMaker, groups: list[GroupBatch]
) -> None:
    """Why `drop_gradients` exists: in ZeRO 2 DeepSpeed's own `zero_grad` does not drop accumulated gradients."""
    trainer = make_trainer(deepspeed={"config": "zero2"})
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer._deepspeed_engine.zero_grad()
    trainer._deepspeed_engine.optimizer.zero_grad()
    kept = [tensor for group in trainer._deepspeed_engine.optimizer.all_grad_tensors.values() for tensor in group or ()]
    assert any(bool(torch.count_nonzero(tensor)) for tensor in kept)
    trainer.abort()
    assert not any(trainer._deepspeed_engine.optimizer.all_grad_tensors.values())
