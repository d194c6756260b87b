"""Recomputing blocks changes no gradient, in any ZeRO stage and for any number of blocks."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch

from tests.engine.trainer.gradient_recorder import GradientRecorder, relative_distance
from tests.slow_params import slow_but
from worker.engine.errors import ModelLoadError
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.activation_checkpointing import recompute_blocks
from worker.engine.types import GroupBatch

NUM_PAIRS = 24
TrainerMaker = Callable[..., TrainerRank]


def gradient_and_passes(
    make_trainer: TrainerMaker, groups: list[GroupBatch], **deepspeed: Any
) -> tuple[torch.Tensor, Counter[str]]:
    """The gradient of one step, and how often the block of each list ran."""
    trainer = make_trainer(deepspeed=deepspeed, optimizer={"max_grad_norm": 1e9})
    recorder, passes = GradientRecorder(trainer), Counter[str]()
    for name in ("transformer_blocks", "single_transformer_blocks"):
        (block,) = getattr(trainer._model.transformer, name)
        block.register_forward_pre_hook(lambda *_, name=name: passes.update([name]))
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    return recorder.last, passes


@pytest.mark.parametrize(
    "config", slow_but(["zero2", "zero3_cpuoffload"], ["zero0", "zero2", "zero3", "zero3_cpuoffload"])
)
def test_gradients_are_the_same_as_without_recomputation(
    make_trainer: TrainerMaker, groups: list[GroupBatch], config: str
) -> None:
    expected, plain_passes = gradient_and_passes(make_trainer, groups, config=config)
    for every, recomputed in ((1, {"transformer_blocks", "single_transformer_blocks"}), (2, {"transformer_blocks"})):
        found, passes = gradient_and_passes(make_trainer, groups, config=config, gradient_checkpointing=every)
        assert relative_distance(found, expected) < 1e-6
        assert float(expected.norm()) > 0
        assert {name for name in passes if passes[name] == 2 * plain_passes[name]} == recomputed


def test_a_model_that_cannot_recompute_is_refused() -> None:
    with pytest.raises(
        ModelLoadError, match=r"`deepspeed\.gradient_checkpointing` must be 0 for Linear, got a share of 1"
    ):
        recompute_blocks(torch.nn.Linear(2, 2), Fraction(1), is_sharded=False)
