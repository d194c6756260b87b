"""Algorithms that train on stored stochastic denoising steps: Flow-GRPO and its relatives.

Rollout keeps each stochastic step with its log-prob. Training replays it, and weights it by the trajectory's advantage
and by how much more likely the step has become.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from worker.contracts.algorithms.base import AlgorithmNeeds, GroupRelativeAlgorithm
from worker.contracts.names import SdeType
from worker.contracts.sections import SamplingSpec
from worker.contracts.spec_bounds import BatchCount, DenoisingStepCount, PositiveCoefficient


class _ReplayingAlgorithm(GroupRelativeAlgorithm):
    """A policy gradient on stored stochastic denoising steps."""

    is_policy_gradient: ClassVar[bool] = True

    @property
    def needs(self) -> AlgorithmNeeds:
        return AlgorithmNeeds(log_probs=True, states=True, reference=self.kl_coefficient > 0)


class ClippedSpec(_ReplayingAlgorithm):
    """The settings of Flow-GRPO's clipped loss."""

    clip_range: Annotated[float, Field(gt=0, lt=1)] = 1e-4
    """Bound on the ratio of new to old likelihood: it is clipped to 1 ± this. So small a number is right because
    log-probs are means over all latent dimensions: 1e-4 is usual, 1e-5 for Flow-GRPO-Fast, 1e-3 for Wan. Raise it when
    most ratios are clipped and the reward hardly moves; lower it when the reward collapses."""

    @property
    def update_bound(self) -> tuple[str, float]:
        return "clip_range", self.clip_range


class FlowGrpoSpec(ClippedSpec):
    """Flow-GRPO (arXiv 2505.05470): a clipped policy gradient on all stochastic denoising steps. The usual choice."""

    name: Literal["flow_grpo"] = "flow_grpo"


class _WindowedSpec(ClippedSpec):
    """Stochastic denoising steps in a window only."""

    window_size: DenoisingStepCount = 2
    """Stochastic denoising steps of each trajectory, which are the ones trained on; all others are deterministic.
    2 or 3 learn as well as all steps in Flow-GRPO-Fast. Training time grows in proportion."""

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


class FlowGrpoFastSpec(_WindowedSpec):
    """Flow-GRPO-Fast (github.com/yifan123/flow_grpo): stochastic in a short window that all trajectories of a group
    share, so training costs a fraction of Flow-GRPO's."""

    name: Literal["flow_grpo_fast"] = "flow_grpo_fast"
    position: Literal["random", "first"] = "random"
    """Where a group's window lies among the steps of `sampling.sde_start` and `sampling.num_sde_steps`. `random`:
    drawn for each group; Flow-GRPO's recipes draw from the first half of the steps (set `sampling.num_sde_steps` to
    that). `first`: always at their start."""


class MixGrpoSpec(_WindowedSpec):
    """MixGRPO (arXiv 2507.21802): stochastic in a window that moves over the denoising steps from batch to batch, and
    that all groups of a batch share."""

    name: Literal["mix_grpo"] = "mix_grpo"
    window_size: DenoisingStepCount = 4
    """Stochastic denoising steps of each trajectory, which are the ones trained on; all others are deterministic.
    4 of 25 is the paper's. Training time grows in proportion."""
    strategy: Literal["progressive", "random"] = "progressive"
    """How the window moves. `progressive`: from the noisiest steps to the last, then again from the start, which the
    paper found best. `random`: to a position drawn anew each time."""
    shift_every_num_batches: BatchCount = 25
    """Batches between two moves of the window. 25 is the authors' for the progressive window; their random window moves
    with every batch, which is 1. Lower it in short runs, so that the window reaches all steps."""
    stride: DenoisingStepCount = 1
    """Denoising steps by which the progressive window moves. 1 is the authors'; less than `window_size` makes
    successive windows overlap."""


class DanceGrpoSpec(ClippedSpec):
    """DanceGRPO (arXiv 2505.07818): a group shares its initial noise, the noise strength is constant, and a random part
    of the stochastic steps is trained on. Published for pictures and clips."""

    name: Literal["dance_grpo"] = "dance_grpo"
    sde_types: ClassVar[frozenset[SdeType]] = frozenset({SdeType.DANCE})
    shared_initial_noise: bool = True
    """Start all trajectories of a group from the same initial noise, so that they differ by the noise of their
    stochastic steps alone. On is the paper's choice: rewards then compare the steps that are trained on. Off gives
    groups more variety."""
    timestep_fraction: Annotated[float, Field(gt=0, le=1)] = 0.6
    """Share of the stochastic denoising steps that is trained on, drawn for each group. 0.6 is the paper's; training
    time grows in proportion."""

    @property
    def shares_initial_noise(self) -> bool:
        return self.shared_initial_noise

    def num_trained_steps(self, sampling: SamplingSpec) -> int:
        return max(1, round(self.timestep_fraction * len(sampling.sde_indices)))


class _OldMeansAlgorithm(_ReplayingAlgorithm):
    """A policy gradient that compares the mean of each step with the one that rollout computed."""

    sde_types: ClassVar[frozenset[SdeType]] = frozenset({SdeType.FLOW, SdeType.DANCE})

    @property
    def needs(self) -> AlgorithmNeeds:
        return AlgorithmNeeds(log_probs=True, states=True, old_means=True, reference=self.kl_coefficient > 0)


class GrpoGuardSpec(_OldMeansAlgorithm):
    """GRPO-Guard (arXiv 2510.22319): Flow-GRPO with ratios that are centred at 1 and equally scaled at all denoising
    steps, so that one clip range suits all of them. Made against over-optimisation."""

    name: Literal["grpo_guard"] = "grpo_guard"
    clip_range: Annotated[float, Field(gt=0, lt=1)] = 2e-6
    """Bound on the centred and scaled ratio: it is clipped to 1 ± this. 2e-6 is the paper's, smaller than Flow-GRPO's
    because the scaling shrinks the ratio's deviations. Raise it when most ratios are clipped and the reward hardly
    moves."""

    @property
    def update_bound(self) -> tuple[str, float]:
        return "clip_range", self.clip_range


class FlowDppoSpec(_OldMeansAlgorithm):
    """Flow-DPPO (arXiv 2606.11025): Flow-GRPO without a clip. Steps whose divergence from the old policy is above a
    bound get no gradient that would increase it."""

    name: Literal["flow_dppo"] = "flow_dppo"
    divergence_bound: PositiveCoefficient = 1e-5
    """Bound on the divergence of a denoising step from the old policy, mean((μ − μ_old)²) / (2 std²), without unit.
    1e-5 is the paper's. Raise it when most steps are masked (the clip fraction counts them); lower it when the reward
    collapses."""

    @property
    def update_bound(self) -> tuple[str, float]:
        return "divergence_bound", self.divergence_bound

    @property
    def needs(self) -> AlgorithmNeeds:
        return replace(super().needs, proximal_means=True)
