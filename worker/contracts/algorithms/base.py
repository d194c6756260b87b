"""What every algorithm's settings answer to the rest of the contracts, to the engine and to the planner."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from worker.contracts.base import Contract
from worker.contracts.names import SdeType
from worker.contracts.sections import SamplingSpec
from worker.contracts.spec_bounds import Coefficient, PositiveCoefficient


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmNeeds:
    """What an algorithm requires to be computed, stored and sent; what it does not require is left out."""

    log_probs: bool = False
    """Stochastic denoising steps with their log-prob under the policy that generated them. They are replayed in
    training, so the replay gate applies."""
    old_means: bool = False
    """The mean of each of those steps under the policy that generated it."""
    proximal_means: bool = False
    """On stale data, the means of those steps under the proximal policy too, whenever they are trained on."""
    states: bool = False
    """The sample before each trained denoising step."""
    clean_latents: bool = False
    """The finished sample, to which training adds noise again (the forward process)."""
    second_adapter: bool = False
    """An older adapter beside the trained one, which generates in its place."""
    reference: bool = False
    """A forward pass of the base model beside each one of the policy."""
    differentiable_reward: bool = False
    """Rewards computed on the trainer lanes, whose gradient goes back through decoder and transformer."""


class Algorithm(Contract):
    """Base of all algorithms' settings."""

    is_policy_gradient: ClassVar[bool] = False
    """Whether the loss has a likelihood ratio, which `pipeline.stale_clip` and `pipeline.importance_cap` concern."""
    learns_from_spread: ClassVar[bool] = True
    """Whether it learns from differences within a group, so that a group of equal rewards teaches nothing."""
    ignores_equal_rewards: ClassVar[bool] = True
    """Whether its loss, a KL penalty apart, has no gradient on a group of equal rewards, so that leaving the group out
    changes nothing."""
    sde_types: ClassVar[frozenset[SdeType]] = frozenset(SdeType)
    """The stochastic denoising steps that the loss is defined for."""

    @property
    @abstractmethod
    def needs(self) -> AlgorithmNeeds:
        """What the pipeline must compute and keep for it."""

    @property
    def update_bound(self) -> tuple[str, float] | None:
        """The setting that bounds how far a ratio may go, and its value; `None` where the loss has no ratio."""
        return None

    @property
    def shares_initial_noise(self) -> bool:
        """Whether the trajectories of a training group start from the same x_T."""
        return False

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        """Denoising steps, or noise levels, at which each trained member of a group is trained on."""
        return len(sampling.sde_indices)

    def num_trained_members(self, group_size: int) -> int:
        """Units of training of a group at each of those: its trajectories, or pairs of them."""
        return group_size

    def problems(self, sampling: SamplingSpec, group_size: int) -> list[str]:
        """Settings elsewhere in the spec that this algorithm cannot work with, each as a sentence for the user."""
        name = getattr(self, "name", "")
        if sampling.sde_type in self.sde_types:
            return []
        allowed = " or ".join(f"`{kernel}`" for kernel in SdeType if kernel in self.sde_types)
        return [
            f"`sampling.sde_type` must be {allowed} for {name}, got {sampling.sde_type}: "
            "its loss is not defined for other stochastic steps"
        ]


class UnscaledAlgorithm(Algorithm):
    """An algorithm that uses no advantages, or only their order within a group: it has no settings for them."""

    @property
    def advantage_std(self) -> Literal["group"]:
        """A group's own spread, so that it can be trained on as soon as it is complete."""
        return "group"

    @property
    def advantage_clip(self) -> float:
        """No clip."""
        return math.inf


class GroupRelativeAlgorithm(Algorithm):
    """An algorithm that learns from how much better a trajectory did than the others of its group."""

    advantage_std: Literal["group", "batch"] = "group"
    """Standard deviation that advantages are divided by. `group`: of the group's own rewards, so a group can be trained
    on as soon as it is complete. `batch`: of all rewards of the batch (Flow-GRPO's choice for SD3 and FLUX), which
    weights prompts with a small spread less, but makes training wait for the whole batch."""
    advantage_clip: PositiveCoefficient = 5.0
    """Bound on advantages, in standard deviations: they are clipped to ± this. 5 is usual and rarely reached with the
    group's own standard deviation; lower it where single outliers of the reward dominate the update."""
    kl_coefficient: Coefficient = 0.0
    """Weight of the KL divergence to the base model in the loss. 0 needs no forward pass of the base model. Flow-GRPO
    uses 0.04 for GenEval and OCR, 0.01 for PickScore, 0.004 for Wan, and 0 for FLUX and Qwen-Image. Raise it when the
    reward rises while pictures get worse."""


def gradient_step_problems(field: str, number: int, sampling: SamplingSpec) -> list[str]:
    """Why `number` denoising steps with a gradient are too many, as a sentence for the user; empty: they are not."""
    if number < sampling.num_denoising_steps:
        return []
    return [
        f"`algorithm.{field}` must be < {sampling.num_denoising_steps} (`sampling.num_denoising_steps`), got {number}: "
        "the first denoising step is computed without a gradient"
    ]
