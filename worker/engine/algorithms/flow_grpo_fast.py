"""Flow-GRPO-Fast (github.com/yifan123/flow_grpo): Flow-GRPO's loss on a window of a few stochastic denoising steps.

All trajectories of a group share their window. With windows of their own, rewards within a group would depend on the
window too, and the advantages would be biased.
"""

from worker.contracts.algorithms import FlowGrpoFastSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps


def window(spec: FlowGrpoFastSpec, sampling: SamplingSpec, position: GroupPosition) -> GroupSteps:
    """The window of one group within `sampling.sde_indices`."""
    last_start = len(sampling.sde_indices) - spec.window_size
    start = position.rng().randint(0, last_start) if spec.position == "random" else 0
    return window_from(sampling, start, spec.window_size)


def window_from(sampling: SamplingSpec, start: int, size: int) -> GroupSteps:
    """The `size` entries of `sampling.sde_indices` from index `start` on, stochastic and trained."""
    indices = sampling.sde_indices[start : start + size]
    return GroupSteps(stochastic=indices, trained=indices)
