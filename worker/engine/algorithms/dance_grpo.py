"""DanceGRPO (arXiv 2505.07818): Flow-GRPO's loss on a random part of the stochastic denoising steps.

Its SDE is the kernel `dance`. A group shares its initial noise, so siblings differ by what they met on the way alone.
"""

from worker.contracts.algorithms import DanceGrpoSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps


def part_of_the_steps(spec: DanceGrpoSpec, sampling: SamplingSpec, place: GroupPosition) -> GroupSteps:
    """All of `sampling.sde_*` stochastic, a share of them trained, drawn for the group."""
    indices = sampling.sde_indices
    trained = place.dice().sample(indices, spec.num_trained_steps(sampling))
    return GroupSteps(stochastic=indices, trained=tuple(sorted(trained)))
