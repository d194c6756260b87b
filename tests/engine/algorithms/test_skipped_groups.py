"""Leaving a group without spread out changes nothing, for every algorithm whose loss has its advantages as a factor."""

from dataclasses import replace
from typing import Any

import pytest

from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.training_setup import TrainingSetup
from tests.slow_params import slow_but
from worker.contracts.algorithms import ALGORITHM_SPECS
from worker.engine.errors import MinibatchError
from worker.engine.types import GroupBatch

EXACT: dict[str, dict[str, Any]] = {
    "flow_grpo": {"clip_range": 0.2},
    "flow_grpo_fast": {"window_size": 2, "clip_range": 0.2},
    "mix_grpo": {"window_size": 2, "clip_range": 0.2},
    "dance_grpo": {"clip_range": 0.2, "timestep_fraction": 0.7},
    "grpo_guard": {"clip_range": 0.2},
    "flow_dppo": {},
    "diffusion_dpo": {"num_noise_levels": 2, "beta": 5.0},
}
"""Algorithms whose loss without a KL penalty has no gradient where all advantages are 0, with their settings."""
SDE_TYPES = {"dance_grpo": "dance"}


def setup_of(make_setup: SetupMaker, name: str, **settings: Any) -> TrainingSetup:
    sampling = {"sampling": {"sde_type": SDE_TYPES[name]}} if name in SDE_TYPES else {}
    return make_setup(algorithm={"name": name, **settings}, **sampling)


def weights_after(setup: TrainingSetup, groups: list[GroupBatch], num_steps: int) -> str:
    """The checksum of the weights after steps over `groups`, the rest of the mini-batch being skipped."""
    trainer = setup.trainer()
    for step in range(num_steps):
        setup.accumulate(trainer, groups, fresh=step == 0)
        trainer.commit(num_skipped_groups=len(setup.groups) - len(groups))
    return trainer.version(1).sha256


def with_and_without(setup: TrainingSetup, num_steps: int = 2) -> tuple[str, str]:
    """The weights after steps over a group without spread and one with, and over the latter alone."""
    first, second = setup.groups
    flat = replace(first, advantages=(0.0,) * len(first.advantages))
    return weights_after(setup, [flat, second], num_steps), weights_after(setup, [second], num_steps)


def test_every_algorithm_that_groups_may_be_left_out_for_is_covered() -> None:
    assert set(EXACT) == {name for name, kind in ALGORITHM_SPECS.items() if kind.ignores_equal_rewards}


@pytest.mark.parametrize("name", slow_but(["mix_grpo", "dance_grpo", "diffusion_dpo"], EXACT))
def test_skipping_gives_bitwise_the_same_weights(make_setup: SetupMaker, name: str) -> None:
    setup = setup_of(make_setup, name, **EXACT[name])
    trained, skipped = with_and_without(setup)
    assert trained == skipped != setup.version.sha256
    assert weights_after(setup, setup.groups, 2) != trained, "a group with spread makes a difference"


@pytest.mark.parametrize("name", slow_but(["flow_dppo"], ["flow_grpo", "flow_dppo"]))
def test_with_a_kl_penalty_skipping_leaves_it_out(make_setup: SetupMaker, name: str) -> None:
    trained, skipped = with_and_without(setup_of(make_setup, name, **EXACT[name], kl_coefficient=0.1))
    assert trained != skipped


def test_nft_may_not_skip_because_it_would_lose_its_pull_towards_the_older_policy(make_setup: SetupMaker) -> None:
    setup = setup_of(make_setup, "diffusion_nft", num_noise_levels=2, kl_coefficient=0.0)
    trained, skipped = with_and_without(setup)
    assert trained != skipped


def test_a_group_may_only_be_missing_if_it_is_skipped(make_setup: SetupMaker) -> None:
    setup = setup_of(make_setup, "flow_grpo", **EXACT["flow_grpo"])
    trainer = setup.trainer()
    setup.accumulate(trainer, setup.groups[:1])
    with pytest.raises(MinibatchError, match="got 12 and 0 skipped: accumulate the missing micro-batches or abort"):
        trainer.commit()
    with pytest.raises(MinibatchError, match="got 12 and 24 skipped"):
        trainer.commit(num_skipped_groups=2)
    trainer.commit(num_skipped_groups=1)
