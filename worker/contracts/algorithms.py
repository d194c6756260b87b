"""The algorithms a run may learn with, by name: the settings of each, and what it needs of engine and pipeline.

`RunSpec.algorithm` is one of them, told apart by `name`; a spec without a name is Flow-GRPO's. Formulas and sources
stand beside the code, in `worker.engine.algorithms`.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field

from worker.contracts.base import Contract, Count, Index
from worker.contracts.names import RewardName, SdeType
from worker.contracts.sections import SamplingSpec

DIFFERENTIABLE_REWARDS = frozenset({RewardName.SHAPE_MATCH})
"""Rewards that pass a gradient on to the picture. A test equates them with the engine's registry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmNeeds:
    """What is computed, stored and carried for an algorithm; nothing else is."""

    log_probs: bool = False
    """Stochastic transitions with the log-prob under the policy that drew them: they are replayed, behind the gate."""
    old_means: bool = False
    """The mean of each of those transitions under the policy that drew it."""
    states: bool = False
    """The sample before each trained denoising step."""
    clean_latents: bool = False
    """The finished sample, which training noises anew."""
    second_adapter: bool = False
    """An older adapter beside the trained one: it is the one that generates."""
    reference: bool = False
    """A forward pass of the base model beside each of the policy's."""
    differentiable_reward: bool = False
    """Rewards on the trainer lanes, whose gradient goes through decoder and model."""


class _Algorithm(Contract):
    """What every algorithm answers, whatever its settings."""

    is_policy_gradient: ClassVar[bool] = False
    """Weighs pairs by a likelihood ratio that `pipeline.importance_cap` may cut."""
    sde_types: ClassVar[frozenset[SdeType]] = frozenset(SdeType)
    """The kernels it is defined for."""

    @property
    @abstractmethod
    def needs(self) -> AlgorithmNeeds:
        """What the pipeline must keep or make for it."""

    @property
    def shares_initial_noise(self) -> bool:
        """Whether the trajectories of a training group start from one x_T."""
        return False

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        """How many pairs each trained member of a group makes: denoising steps, or noise levels."""
        return len(sampling.sde_indices)

    def num_trained_members(self, group_size: int) -> int:
        """How many units of training a group makes at each of those: its trajectories, or pairs of them."""
        return group_size

    def problems(self, sampling: SamplingSpec, group_size: int) -> list[str]:
        """What in the rest of the spec does not go with this algorithm, each in a sentence that names the field."""
        name = getattr(self, "name", "")
        if sampling.sde_type in self.sde_types:
            return []
        allowed = " or ".join(f"`{kernel}`" for kernel in SdeType if kernel in self.sde_types)
        return [
            f"`sampling.sde_type` must be {allowed} for {name}, got {sampling.sde_type}: its ratio is that kernel's"
        ]


class _Unscaled(_Algorithm):
    """Takes no advantages, or only their order within a group: neither spread nor clip is a setting."""

    @property
    def advantage_std(self) -> Literal["group"]:
        return "group"

    @property
    def advantage_clip(self) -> float:
        return math.inf


class _GroupRelative(_Algorithm):
    """Learns from how much better a trajectory did than its siblings."""

    advantage_std: Literal["group", "batch"] = "group"
    """Divide by the spread of the group (it can train at once) or of the whole batch (all rewards must be in)."""
    advantage_clip: Annotated[float, Field(gt=0)] = 5.0
    """Advantages are clipped to ± this."""
    kl_coefficient: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the KL divergence to the base model; 0 skips the second forward pass."""


class _Transitional(_GroupRelative):
    """A policy gradient on stored stochastic denoising steps."""

    @property
    def needs(self) -> AlgorithmNeeds:
        return AlgorithmNeeds(log_probs=True, states=True, reference=self.kl_coefficient > 0)


class ClippedSpec(_Transitional):
    """The settings that Flow-GRPO's loss reads."""

    is_policy_gradient: ClassVar[bool] = True

    clip_range: Annotated[float, Field(gt=0, lt=1)] = 1e-4
    """The ratio is clipped to 1 ± this. Small, because log-probs are means over all latent dimensions."""


class FlowGrpoSpec(ClippedSpec):
    """Flow-GRPO (arXiv 2505.05470): clipped policy gradient on the denoising steps of `sampling.sde_*`."""

    name: Literal["flow_grpo"] = "flow_grpo"


class _Windowed(ClippedSpec):
    window_size: Count = 2
    """Stochastic denoising steps of a trajectory; they alone are trained on. The rest is deterministic."""

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        return self.window_size

    def problems(self, sampling: SamplingSpec, group_size: int) -> list[str]:
        problems, num_steps = super().problems(sampling, group_size), len(sampling.sde_indices)
        if self.window_size > num_steps:
            problems.append(
                f"`algorithm.window_size` must be ≤ {num_steps}, got {self.window_size}: "
                "the window lies within the steps that `sampling.sde_start` and `sampling.num_sde_steps` leave"
            )
        return problems


class FlowGrpoFastSpec(_Windowed):
    """Flow-GRPO-Fast: stochastic in a short window, which all trajectories of a group share."""

    name: Literal["flow_grpo_fast"] = "flow_grpo_fast"
    position: Literal["random", "first"] = "random"
    """random: each group's window lies anywhere in `sampling.sde_*`, by batch and prompt. first: at its start."""


class MixGrpoSpec(_Windowed):
    """MixGRPO (arXiv 2507.21802): a stochastic window that moves over the denoising steps as batches go by."""

    name: Literal["mix_grpo"] = "mix_grpo"
    window_size: Count = 4
    """Stochastic denoising steps of a trajectory; they alone are trained on. The rest is deterministic."""
    strategy: Literal["progressive", "random"] = "progressive"
    """progressive: from the noisiest steps on, and from the start again at the end. random: anywhere."""
    shift_every_num_batches: Count = 25
    """Batches between two moves of the window. The paper's random window moves with every batch: 1."""
    stride: Count = 1
    """Denoising steps that the progressive window moves by: less than the window, and it overlaps."""


class DanceGrpoSpec(ClippedSpec):
    """DanceGRPO (arXiv 2505.07818): one initial noise for a group, a constant diffusion coefficient, and training on a
    part of the stochastic steps."""

    name: Literal["dance_grpo"] = "dance_grpo"
    sde_types: ClassVar[frozenset[SdeType]] = frozenset({SdeType.DANCE})
    shared_initial_noise: bool = True
    """The trajectories of a group start from the same noise, and differ by what is added on the way."""
    timestep_fraction: Annotated[float, Field(gt=0, le=1)] = 0.6
    """Share of the stochastic steps that is trained on, drawn for each group by batch and prompt."""

    @property
    def shares_initial_noise(self) -> bool:
        return self.shared_initial_noise

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        return max(1, round(self.timestep_fraction * len(sampling.sde_indices)))


class _WithOldMeans(_Transitional):
    sde_types: ClassVar[frozenset[SdeType]] = frozenset({SdeType.FLOW, SdeType.DANCE})

    @property
    def needs(self) -> AlgorithmNeeds:
        return AlgorithmNeeds(log_probs=True, states=True, old_means=True, reference=self.kl_coefficient > 0)


class GrpoGuardSpec(_WithOldMeans):
    """GRPO-Guard (arXiv 2510.22319): ratios of all denoising steps are centred at 1 and of one scale, so that the clip
    holds for each of them."""

    name: Literal["grpo_guard"] = "grpo_guard"
    clip_range: Annotated[float, Field(gt=0, lt=1)] = 2e-6
    """The centred ratio is clipped to 1 ± this."""


class FlowDppoSpec(_WithOldMeans):
    """Flow-DPPO (arXiv 2606.11025): no clip; pairs beyond a divergence from the old policy stop moving further away."""

    name: Literal["flow_dppo"] = "flow_dppo"
    divergence_bound: Annotated[float, Field(gt=0)] = 1e-5
    """Bound on mean((mean - old mean)²) / (2 std²) of a pair."""


class DiffusionNftSpec(_GroupRelative):
    """DiffusionNFT (arXiv 2509.16117): learns on noised finished samples, towards the good and away from the bad ones;
    an older adapter generates."""

    name: Literal["diffusion_nft"] = "diffusion_nft"
    beta: Annotated[float, Field(gt=0, le=1)] = 1.0
    """How far the implied good and bad policies lie from the old one; smaller is stronger."""
    kl_coefficient: Annotated[float, Field(ge=0)] = 1e-4
    """Weight of the squared distance to the base model's velocity; 0 skips that forward pass."""
    num_noise_levels: Count = 4
    """Noise levels at which each sample is trained on, in one pass through the batch."""
    old_decay_rate: Annotated[float, Field(ge=0)] = 1e-3
    """After each batch the old adapter keeps min(this × optimizer steps, `old_decay_cap`) of itself."""
    old_decay_cap: Annotated[float, Field(ge=0, lt=1)] = 0.5
    """The most that the old adapter keeps of itself."""
    old_decay_hold: Index = 0
    """Optimizer steps before that share begins to rise."""

    @property
    def needs(self) -> AlgorithmNeeds:
        return AlgorithmNeeds(clean_latents=True, second_adapter=True, reference=self.kl_coefficient > 0)

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        return self.num_noise_levels


class DiffusionDpoSpec(_Unscaled):
    """Online Diffusion-DPO (arXiv 2311.12908): prefers a group's best samples to its worst, on the same noise."""

    name: Literal["diffusion_dpo"] = "diffusion_dpo"
    beta: Annotated[float, Field(gt=0)] = 100.0
    """How sharply a preference is meant; it also holds the policy near the base model."""
    num_preferences: Count = 1
    """Pairs of a group: best and worst, second best and second worst, and so on."""
    num_noise_levels: Count = 4
    """Noise levels at which each pair is compared, in one pass through the batch."""

    @property
    def needs(self) -> AlgorithmNeeds:
        return AlgorithmNeeds(clean_latents=True, reference=True)

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        return self.num_noise_levels

    def num_trained_members(self, group_size: int) -> int:
        return self.num_preferences

    def problems(self, sampling: SamplingSpec, group_size: int) -> list[str]:
        if 2 * self.num_preferences <= group_size:
            return []
        return [
            f"`algorithm.num_preferences` must be ≤ {group_size // 2}, got {self.num_preferences}: "
            f"each takes two of the {group_size} trajectories of a group"
        ]


class _RewardFeedback(_Unscaled):
    """The gradient of a differentiable reward, through decoder and the last denoising steps. Rollout lanes draw up to
    there, trainer lanes go on from what they kept."""

    kl_coefficient: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the distance to the base model's velocity; 0 skips that forward pass."""

    @property
    def needs(self) -> AlgorithmNeeds:
        return AlgorithmNeeds(states=True, differentiable_reward=True, reference=self.kl_coefficient > 0)

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        return 1


class ReflSpec(_RewardFeedback):
    """ReFL (arXiv 2304.05977): one late denoising step guesses the finished sample, and the reward of the guess is
    followed uphill."""

    name: Literal["refl"] = "refl"
    num_late_steps: Count = 3
    """The step is drawn among this many last ones, for each group by batch and prompt."""
    reward_scale: Annotated[float, Field(gt=0)] = 1.0
    """Weight of the reward in the loss."""
    reward_ceiling: float | None = None
    """Samples at this reward or above are left alone. Empty: none are."""

    def problems(self, sampling: SamplingSpec, group_size: int) -> list[str]:
        return _too_many("num_late_steps", self.num_late_steps, sampling)


class RewardFlowSpec(_RewardFeedback):
    """Reward flow, after ROLL's pipeline (IPRO, arXiv 2510.14255): the gradient of the reward goes back through the
    last denoising steps, one after the other."""

    name: Literal["reward_flow"] = "reward_flow"
    num_gradient_steps: Count = 2
    """The last denoising steps, which carry the gradient; memory grows with each."""
    reward_scale: Annotated[float, Field(gt=0)] = 0.1
    """Weight of the normalised reward in the loss."""
    reward_mean: float = 0.0
    """Subtracted from the reward: it places the loss and has no gradient."""
    reward_std: Annotated[float, Field(gt=0)] = 1.0
    """The reward is divided by this."""

    def problems(self, sampling: SamplingSpec, group_size: int) -> list[str]:
        return _too_many("num_gradient_steps", self.num_gradient_steps, sampling)


def _too_many(field: str, number: int, sampling: SamplingSpec) -> list[str]:
    if number < sampling.num_denoising_steps:
        return []
    return [
        f"`algorithm.{field}` must be < {sampling.num_denoising_steps} (`sampling.num_denoising_steps`), got {number}: "
        "the first denoising step is drawn without a gradient"
    ]


def _with_default_name(document: Any) -> Any:
    """Settings without a name are Flow-GRPO's, as the whole section is where a spec leaves it out."""
    return {"name": "flow_grpo", **document} if isinstance(document, dict) else document


_AnyAlgorithm = (
    FlowGrpoSpec
    | FlowGrpoFastSpec
    | MixGrpoSpec
    | DanceGrpoSpec
    | GrpoGuardSpec
    | FlowDppoSpec
    | DiffusionNftSpec
    | DiffusionDpoSpec
    | ReflSpec
    | RewardFlowSpec
)

AlgorithmSpec = Annotated[_AnyAlgorithm, Field(discriminator="name"), BeforeValidator(_with_default_name)]

ALGORITHM_SPECS: dict[str, type[_AnyAlgorithm]] = {
    kind.model_fields["name"].default: kind for kind in get_args(_AnyAlgorithm)
}
"""The settings of each algorithm, by name."""
