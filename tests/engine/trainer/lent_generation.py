"""Helpers of tests that lend a trainer rank to generation: lend it, and compare its training state before and after."""

from typing import Any

import numpy as np
import torch

from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.checkpoints.random_state import capture_random_state
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GeneratedFragment, GenerationRequest, PublishedShard
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose


def generate_fragment(sampler: Sampler, purpose: Purpose = Purpose.TRAIN) -> GeneratedFragment:
    """The same fragment of 3 members, whichever sampler draws it."""
    assert sampler.policy_version is not None
    fragment = Fragment(FragmentKey(purpose, 1, 0, 0), (0, 1, 2), sampler.policy_version)
    return sampler.generate(
        GenerationRequest(fragment=fragment, prompt=Prompt(text="a green circle"), run_seed=3, prompt_index=0)
    )


def lend(trainer: TrainerRank, version: PublishedShard) -> GeneratedFragment:
    """Lend the rank, pull `version`, generate a fragment for evaluation and one for training, and switch back."""
    assert trainer.sampler is not None
    trainer.switch(LaneRole.ROLLOUT)
    trainer.sampler.pull(version)
    generate_fragment(trainer.sampler, Purpose.EVALUATE)
    generated = generate_fragment(trainer.sampler)
    trainer.switch(LaneRole.TRAINER)
    return generated


def training_state(trainer: TrainerRank) -> dict[str, Any]:
    """All that training depends on: weights, optimizer, open gradients, random states and global switches of torch."""
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


def copy_of(value: Any) -> Any:
    """A deep copy of nested dicts and lists of tensors and arrays."""
    match value:
        case torch.Tensor():
            return value.detach().clone()
        case dict():
            return {key: copy_of(item) for key, item in value.items()}
        case list() | tuple():
            return [copy_of(item) for item in value]
        case np.ndarray():
            return value.copy()
    return value


def assert_equal(one: Any, other: Any, where: str) -> None:
    """Assert that nested values are bitwise equal; `where` is the path in the message."""
    match one:
        case torch.Tensor():
            assert torch.equal(one, other), where
        case np.ndarray():
            np.testing.assert_array_equal(one, other, err_msg=where)
        case dict():
            assert one.keys() == other.keys(), where
            for key in one:
                assert_equal(one[key], other[key], f"{where}/{key}")
        case list() | tuple():
            assert len(one) == len(other), where
            for index, (first, second) in enumerate(zip(one, other, strict=True)):
                assert_equal(first, second, f"{where}/{index}")
        case int() | float() | str() | bool() | None:
            assert one == other, where
