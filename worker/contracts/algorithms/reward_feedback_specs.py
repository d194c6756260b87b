"""Algorithms that follow the gradient of a differentiable reward through decoder and transformer: ReFL, reward flow.

Rollout lanes generate up to the first denoising step with a gradient, and trainer lanes continue from there.
"""

from typing import ClassVar, Literal

from worker.contracts.algorithms.base import AlgorithmNeeds, UnscaledAlgorithm, gradient_step_problems
from worker.contracts.names import RewardName
from worker.contracts.sections import SamplingSpec
from worker.contracts.spec_bounds import Coefficient, DenoisingStepCount, PositiveCoefficient, RewardValue

DIFFERENTIABLE_REWARDS = frozenset({RewardName.SHAPE_MATCH})
"""Rewards that a gradient with respect to the picture exists for. A test equates them with the engine's registry."""


class _RewardFeedbackAlgorithm(UnscaledAlgorithm):
    """Gradient ascent on a differentiable reward."""

    learns_from_spread: ClassVar[bool] = False
    ignores_equal_rewards: ClassVar[bool] = False

    kl_coefficient: Coefficient = 0.0
    """Weight of the squared distance to the base model's velocity in the loss, as a KL penalty. 0 needs no forward pass
    of the base model; ROLL's pipeline uses 1. Raise it when the reward rises while pictures get worse, which direct
    gradients bring about sooner than policy gradients do."""

    @property
    def needs(self) -> AlgorithmNeeds:
        return AlgorithmNeeds(states=True, differentiable_reward=True, reference=self.kl_coefficient > 0)

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        return 1


class ReflSpec(_RewardFeedbackAlgorithm):
    """ReFL (arXiv 2304.05977): predicts the finished sample from one late denoising step and follows the gradient of
    its reward. Needs differentiable rewards."""

    name: Literal["refl"] = "refl"
    num_late_steps: DenoisingStepCount = 3
    """Number of last denoising steps among which the step with the gradient is drawn for each group. It must be below
    `sampling.num_denoising_steps`. Predictions from earlier steps are blurred, so their rewards say less; the paper
    stays within the last quarter."""
    reward_scale: PositiveCoefficient = 1.0
    """Weight of the reward in the loss. The paper's is 0.001 for ImageReward; scale it inversely to the reward's range,
    and down when training is unstable."""
    reward_ceiling: RewardValue | None = None
    """Reward from which on a sample gets no gradient, in units of the reward. Empty: no ceiling. ReFL's recipe stops at
    2 for ImageReward; use one against over-optimisation, at a reward that good samples reach."""

    def problems(self, sampling: SamplingSpec, group_size: int) -> list[str]:
        return gradient_step_problems("num_late_steps", self.num_late_steps, sampling)


class RewardFlowSpec(_RewardFeedbackAlgorithm):
    """Reward flow (ROLL's pipeline for IPRO, arXiv 2510.14255): follows the gradient of the reward back through the
    last denoising steps. Needs differentiable rewards."""

    name: Literal["reward_flow"] = "reward_flow"
    num_gradient_steps: DenoisingStepCount = 2
    """Number of last denoising steps that carry the gradient. It must be below `sampling.num_denoising_steps`. ROLL's
    pipeline uses 4 of 8; activation memory and training time grow with each."""
    reward_scale: PositiveCoefficient = 0.1
    """Weight of the normalised reward in the loss. 0.1 is ROLL's; lower it when training is unstable."""
    reward_mean: RewardValue = 0.0
    """Mean subtracted from the reward before it is weighted, in units of the reward. It shifts the loss curve and has
    no effect on the gradient; ROLL's is 0.54 for its face reward."""
    reward_std: PositiveCoefficient = 1.0
    """Standard deviation that the reward is divided by, in units of the reward. Set it to the spread of your reward
    (ROLL: 0.16), so that `reward_scale` means the same for every reward."""

    def problems(self, sampling: SamplingSpec, group_size: int) -> list[str]:
        return gradient_step_problems("num_gradient_steps", self.num_gradient_steps, sampling)
