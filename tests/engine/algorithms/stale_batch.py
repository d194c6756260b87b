"""A batch of two mini-batches and two epochs that an older version drew, for tests of what stale pairs are clipped
around."""

from typing import Any

from tests.engine.training_setup import TrainingSetup, shared_version
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

SECTIONS: dict[str, Any] = {
    "prompts": {"inline": ["a red square", "a blue circle", "a green circle", "a red circle"]},
    "batch": {"num_prompts_per_batch": 4, "num_minibatches": 2, "num_epochs_per_batch": 2},
    # So large that each optimizer step moves the policy visibly.
    "optimizer": {"learning_rate": 1e-2},
}
STALE = {"max_staleness": 1}
"""The `pipeline` section."""
ALGORITHMS: dict[str, dict[str, Any]] = {
    "flow_grpo": {"name": "flow_grpo", "clip_range": 5e-3},
    "mix_grpo": {"name": "mix_grpo", "clip_range": 5e-3, "window_size": 2},
    "grpo_guard": {"name": "grpo_guard", "clip_range": 1e-3},
    "flow_dppo": {"name": "flow_dppo", "divergence_bound": 1e-4},
}
"""Each with bounds that those steps reach."""


def current_version(setup: TrainingSetup) -> PublishedShard:
    """The version being trained, which did not draw the groups."""
    return shared_version(setup.spec, setup.path, seed=2, policy_version=1)


def passes(setup: TrainingSetup) -> list[tuple[list[GroupBatch], bool]]:
    """(groups, whether no optimizer step was taken yet) of each optimizer step of the batch."""
    algebra = setup.spec.algebra
    size = algebra.num_groups_per_minibatch
    minibatches = [setup.groups[first : first + size] for first in range(0, algebra.num_groups, size)]
    return [
        (groups, epoch == number == 0)
        for epoch in range(algebra.num_epochs)
        for number, groups in enumerate(minibatches)
    ]


def train(setup: TrainingSetup, trainer: TrainerRank, *, staleness: int) -> str:
    """Take all optimizer steps of the batch; returns the checksum of the weights."""
    for groups, is_fresh in passes(setup):
        setup.accumulate(trainer, groups, fresh=is_fresh, staleness=staleness, behaviour=setup.version)
        trainer.commit()
    return trainer.version(2).sha256
