"""A lent trainer lane draws what a rollout lane would, bit for bit, and leaves no trace in what is being trained."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.trainer.gradient_recorder import GradientRecorder
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import LendingError, SyncError
from worker.engine.models.lora import lora_parameters
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.checkpoint import capture_random_state
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GeneratedFragment, GenerationRequest, GroupBatch, PublishedShard
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

NUM_PAIRS = 24
TAG = {"tag": "greedy"}
STAGES = pytest.mark.parametrize("stage", [0, 1, 2, 3])
TrainerMaker = Callable[..., TrainerRank]
SpecMaker = Callable[..., RunSpec]


def fragment_of(engine: Sampler, purpose: Purpose = Purpose.TRAIN) -> GeneratedFragment:
    assert engine.policy_version is not None
    fragment = Fragment(FragmentKey(purpose, 1, 0, 0), (0, 1, 2), engine.policy_version)
    return engine.generate(GenerationRequest(fragment=fragment, prompt="a green circle", run_seed=3, prompt_index=0))


def lend(trainer: TrainerRank, adapter: PublishedShard) -> GeneratedFragment:
    """What a lent lane goes through: there, a pull, a fragment of each kind, and back."""
    assert trainer.sampler is not None
    trainer.switch(LaneRole.ROLLOUT)
    trainer.sampler.pull(adapter)
    fragment_of(trainer.sampler, Purpose.EVALUATE)
    made = fragment_of(trainer.sampler)
    trainer.switch(LaneRole.TRAINER)
    return made


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_a_lent_lane_draws_the_rollout_lanes_bits(
    make_trainer: TrainerMaker,
    make_spec: SpecMaker,
    tiny_checkpoint: str,
    behaviour: PublishedShard,
    groups: list[GroupBatch],
    dtype: str,
) -> None:
    sections: dict[str, Any] = {"base_model": {"dtype": dtype}, "pipeline": TAG}
    rollout = Sampler.load(make_spec(**sections), tiny_checkpoint)
    rollout.pull(behaviour)
    expected = fragment_of(rollout)
    trainer = make_trainer(**sections)
    # Other weights are being trained, with gradients open, than the ones it generates with.
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    made = lend(trainer, behaviour)
    assert made.trajectories is not None and expected.trajectories is not None
    for name in ("latents", "next_latents", "log_probs", "sigmas", "means"):
        assert torch.equal(getattr(made.trajectories, name), getattr(expected.trajectories, name)), name
    np.testing.assert_array_equal(made.images, expected.images)
    assert made.seeds == expected.seeds


def state_of(trainer: TrainerRank) -> dict[str, Any]:
    """Everything that training depends on, flat: weights, optimizer, open gradients and random states."""
    optimizer = trainer._deepspeed_engine.optimizer
    open_gradients = getattr(optimizer, "averaged_gradients", {}) | getattr(optimizer, "all_grad_tensors", {})
    return {
        "weights": {name: parameter.detach() for name, parameter in trainer._trainable.items()},
        "gradients": {name: parameter.grad for name, parameter in trainer._trainable.items()},
        "trainable": {name: parameter.requires_grad for name, parameter in trainer._trainable.items()},
        "partitioned gradients": open_gradients,
        "optimizer": optimizer.state_dict(),
        "random": capture_random_state(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "grad mode": torch.is_grad_enabled(),
    }


def frozen_copy(value: Any) -> Any:
    match value:
        case torch.Tensor():
            return value.detach().clone()
        case dict():
            return {key: frozen_copy(item) for key, item in value.items()}
        case list() | tuple():
            return [frozen_copy(item) for item in value]
        case np.ndarray():
            return value.copy()
    return value


def assert_same(one: Any, other: Any, where: str) -> None:
    match one:
        case torch.Tensor():
            assert torch.equal(one, other), where
        case np.ndarray():
            np.testing.assert_array_equal(one, other, err_msg=where)
        case dict():
            assert one.keys() == other.keys(), where
            for key in one:
                assert_same(one[key], other[key], f"{where}/{key}")
        case list() | tuple():
            assert len(one) == len(other), where
            for place, (item, twin) in enumerate(zip(one, other, strict=True)):
                assert_same(item, twin, f"{where}/{place}")
        case int() | float() | str() | bool() | None:
            assert one == other, where


@STAGES
def test_a_lent_generation_amid_a_mini_batch_changes_nothing_at_all(
    make_trainer: TrainerMaker, groups: list[GroupBatch], behaviour: PublishedShard, stage: int
) -> None:
    sections = {"deepspeed": {"zero_stage": stage}, "pipeline": TAG}
    undisturbed, lent = make_trainer(**sections), make_trainer(**sections)
    recorders = [GradientRecorder(trainer) for trainer in (undisturbed, lent)]
    for trainer in (undisturbed, lent):
        for call in (groups, groups[:1]):
            trainer.accumulate(call, num_pairs_total=NUM_PAIRS, fresh=False)
            if call is groups:
                trainer.commit()
    before = frozen_copy(state_of(lent))
    lend(lent, behaviour)
    assert_same(before, frozen_copy(state_of(lent)), f"stage {stage}")
    for trainer in (undisturbed, lent):
        trainer.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
        trainer.commit()
    assert torch.equal(recorders[0].last, recorders[1].last)
    assert undisturbed.version(2).sha256 == lent.version(2).sha256
    assert_same(
        undisturbed._deepspeed_engine.optimizer.state_dict(), lent._deepspeed_engine.optimizer.state_dict(), "optimizer"
    )


@STAGES
def test_an_abort_after_a_lent_generation_leaves_no_trace_of_either(
    make_trainer: TrainerMaker, groups: list[GroupBatch], behaviour: PublishedShard, stage: int
) -> None:
    sections = {"deepspeed": {"zero_stage": stage}, "pipeline": TAG}
    undisturbed, aborted = make_trainer(**sections), make_trainer(**sections)
    aborted.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
    lend(aborted, behaviour)
    aborted.abort()
    for trainer in (undisturbed, aborted):
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
        trainer.commit()
    assert undisturbed.version(1).sha256 == aborted.version(1).sha256


def test_the_twin_shares_every_byte_but_the_lora(make_trainer: TrainerMaker) -> None:
    trainer = make_trainer(pipeline=TAG)
    assert trainer.sampler is not None
    trained, twin = trainer._model.transformer, trainer.sampler._model.transformer
    lora = {id(parameter) for parameter in trainer._trainable.values()}
    for (name, parameter), (_, other) in zip(trained.named_parameters(), twin.named_parameters(), strict=True):
        assert (parameter.data_ptr() == other.data_ptr()) is (id(parameter) not in lora), name
    assert not any(parameter.requires_grad for parameter in twin.parameters())
    assert len(lora_parameters(twin)) == len(lora) > 0


def test_the_lent_lane_pulls_what_it_generates_with(make_trainer: TrainerMaker, behaviour: PublishedShard) -> None:
    trainer = make_trainer(pipeline=TAG)
    assert trainer.sampler is not None
    with pytest.raises(SyncError, match="None is bound"):
        trainer.sampler.generate(
            GenerationRequest(
                fragment=Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0,), 0),
                prompt="a red square",
                run_seed=3,
                prompt_index=0,
            )
        )
    receipt = trainer.sampler.pull(behaviour)
    assert (receipt.sha256, receipt.num_bound_tensors) == (behaviour.sha256, len(behaviour.tensors))


def test_a_lane_is_in_one_place_at_a_time(make_trainer: TrainerMaker, groups: list[GroupBatch]) -> None:
    trainer = make_trainer(pipeline=TAG)
    trainer.switch(LaneRole.ROLLOUT)
    with pytest.raises(LendingError, match="must be switched back before it trains"):
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(LendingError, match=r"`pipeline\.tag` is `off`"):
        make_trainer().switch(LaneRole.ROLLOUT)
