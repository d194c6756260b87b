"""A batch of two mini-batches and two epochs that an older version drew, for tests of what stale pairs are clipped
around."""

from typing import Any

from tests.engine.fixed_trajectories import perturbed_version
from tests.engine.training_setup import TrainingSetup
from worker.engine.types import PublishedShard

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
    return perturbed_version(setup.spec, setup.path, seed=2, policy_version=1)
