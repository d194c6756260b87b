"""The trajectories of one batch drawn by a version that differs from the base, and trainer ranks that start from it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.sharing_embeddings import trainer_rank
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

TrainerMaker = Callable[..., TrainerRank]


@pytest.fixture(scope="session")
def behaviour(tiny_checkpoint: str, make_spec: Callable[..., RunSpec]) -> PublishedShard:
    """The version that drew `groups`."""
    return perturbed_version(make_spec(), tiny_checkpoint, seed=1)


@pytest.fixture(scope="session")
def current(tiny_checkpoint: str, make_spec: Callable[..., RunSpec]) -> PublishedShard:
    """A version that did not draw `groups`, so that ratios are not 1."""
    return perturbed_version(make_spec(), tiny_checkpoint, seed=2)


@pytest.fixture(scope="session")
def groups(tiny_checkpoint: str, make_spec: Callable[..., RunSpec], behaviour: PublishedShard) -> list[GroupBatch]:
    """2 groups of 4 members and 3 stochastic denoising steps: 24 pairs."""
    return draw_groups(make_spec(), tiny_checkpoint, behaviour)


@pytest.fixture
def make_trainer(
    tiny_checkpoint: str, make_spec: Callable[..., RunSpec], behaviour: PublishedShard, process_group: None
) -> TrainerMaker:
    """Makes a trainer rank that holds `behaviour`, or the version given; keywords override sections of its spec."""

    def make(version: PublishedShard = behaviour, **sections: Any) -> TrainerRank:
        trainer = trainer_rank(make_spec(**sections), tiny_checkpoint)
        trainer.load_version(version)
        return trainer

    return make
