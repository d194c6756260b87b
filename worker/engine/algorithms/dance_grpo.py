"""DanceGRPO (arXiv 2505.07818): Flow-GRPO's loss on a random part of the stochastic denoising steps.

Its SDE is the kernel `dance`. All members of a group share their initial noise, so they differ by the noise of their
denoising steps alone.
"""

from worker.contracts.algorithms import DanceGrpoSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps


def random_steps(spec: DanceGrpoSpec, sampling: SamplingSpec, position: GroupPosition) -> GroupSteps:
    """All of `sampling.sde_indices` are stochastic; the trained ones among them are drawn for each group."""
    indices = sampling.sde_indices
    trained = position.rng().sample(indices, spec.num_trained_steps(sampling))
    return GroupSteps(stochastic=indices, trained=tuple(sorted(trained)))
