"""The algorithms by their names in a spec: the loss of each, and the denoising steps it trains on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import (
    Feedback,
    ForwardProcess,
    GroupPosition,
    GroupSteps,
    PolicyGradient,
    Preference,
)
from worker.engine.algorithms.dance_grpo import random_steps
from worker.engine.algorithms.diffusion_dpo import DiffusionDpo
from worker.engine.algorithms.diffusion_nft import DiffusionNft
from worker.engine.algorithms.flow_dppo import FlowDppo
from worker.engine.algorithms.flow_grpo import FlowGrpo, every_step
from worker.engine.algorithms.flow_grpo_fast import window as fast_window
from worker.engine.algorithms.grpo_guard import GrpoGuard
from worker.engine.algorithms.mix_grpo import window as mix_window
from worker.engine.algorithms.refl import Refl, late_step
from worker.engine.algorithms.reward_flow import RewardFlow, last_steps

Algorithm = PolicyGradient | ForwardProcess | Preference | Feedback


def no_step(spec: object, sampling: SamplingSpec, position: GroupPosition) -> GroupSteps:
    """No step is stochastic or stored: the algorithm trains on finished samples."""
    return GroupSteps()


@dataclass(frozen=True, slots=True)
class _Entry:
    """One algorithm. Both functions take the algorithm's own settings as first argument."""

    loss: Callable[..., Algorithm]
    """Builds the loss."""
    steps: Callable[[Any, SamplingSpec, GroupPosition], GroupSteps]
    """Chooses a group's denoising steps."""


ALGORITHMS: dict[str, _Entry] = {
    "flow_grpo": _Entry(FlowGrpo, every_step),
    "flow_grpo_fast": _Entry(FlowGrpo, fast_window),
    "mix_grpo": _Entry(FlowGrpo, mix_window),
    "dance_grpo": _Entry(FlowGrpo, random_steps),
    "grpo_guard": _Entry(GrpoGuard, every_step),
    "flow_dppo": _Entry(FlowDppo, every_step),
    "diffusion_nft": _Entry(DiffusionNft, no_step),
    "diffusion_dpo": _Entry(DiffusionDpo, no_step),
    "refl": _Entry(Refl, late_step),
    "reward_flow": _Entry(RewardFlow, last_steps),
}


def build_algorithm(spec: RunSpec) -> Algorithm:
    """The loss of the run's algorithm."""
    build = ALGORITHMS[spec.algorithm.name].loss
    if spec.algorithm.is_policy_gradient:
        return build(spec.algorithm, spec.pipeline.weight_cap)
    return build(spec.algorithm)


def steps_of_group(spec: RunSpec, batch: int, prompt_index: int) -> GroupSteps:
    """Which denoising steps of a training group are stochastic, and which are trained on; the same on every lane."""
    position = GroupPosition(run_seed=spec.seed, batch=batch, prompt_index=prompt_index)
    return ALGORITHMS[spec.algorithm.name].steps(spec.algorithm, spec.sampling, position)
