"""Flow-GRPO-Fast (github.com/yifan123/flow_grpo): Flow-GRPO's loss on a window of a few stochastic denoising steps.

All trajectories of a group share their window: with windows of their own, siblings would differ by where they were
explored and not only by what was explored, and their advantages would be biased.
"""

from worker.contracts.algorithms import FlowGrpoFastSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps


def window(spec: FlowGrpoFastSpec, sampling: SamplingSpec, place: GroupPosition) -> GroupSteps:
    """The group's window within `sampling.sde_indices`."""
    last_start = len(sampling.sde_indices) - spec.window_size
    start = place.dice().randint(0, last_start) if spec.position == "random" else 0
    return steps_from(sampling, start, spec.window_size)


def steps_from(sampling: SamplingSpec, start: int, size: int) -> GroupSteps:
    """`size` stochastic steps from place `start` of `sampling.sde_indices` on, all of them trained."""
    indices = sampling.sde_indices[start : start + size]
    return GroupSteps(stochastic=indices, trained=indices)
