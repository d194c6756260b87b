"""Trajectories of one batch under an adapter that is not the base, and trainers that start from it."""

import gc
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.fixed_trajectories import draw_groups, perturbed_adapter
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

TrainerMaker = Callable[..., TrainerRank]


@pytest.fixture(scope="session", autouse=True)
def no_garbage_among_modules() -> None:
    """DeepSpeed collects garbage at every start in ZeRO 3, which takes a second for the modules imported alone."""
    gc.freeze()


@pytest.fixture(scope="session")
def behaviour(tiny_checkpoint: str, make_spec: Callable[..., RunSpec]) -> PublishedShard:
    """The policy that drew `groups`."""
    return perturbed_adapter(make_spec(), tiny_checkpoint, seed=1)


@pytest.fixture(scope="session")
def groups(tiny_checkpoint: str, make_spec: Callable[..., RunSpec], behaviour: PublishedShard) -> list[GroupBatch]:
    """2 groups of 4 members and 3 stochastic denoising steps: 24 pairs."""
    return draw_groups(make_spec(), tiny_checkpoint, behaviour)


@pytest.fixture
def make_trainer(
    tiny_checkpoint: str, make_spec: Callable[..., RunSpec], behaviour: PublishedShard, process_group: None
) -> TrainerMaker:
    """A trainer that holds `behaviour` (or the adapter given); sections of its spec by keyword."""

    def make(adapter: PublishedShard = behaviour, **sections: Any) -> TrainerRank:
        trainer = TrainerRank(make_spec(**sections), tiny_checkpoint, 0, 1)
        trainer.load_version(adapter)
        return trainer

    return make
