"""The sections of a `RunSpec`: each one a part of the form, the YAML and the REST body of the same name."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from worker.contracts.base import Contract, Count, Index
from worker.contracts.names import ModelFamily, RewardName, SdeType


class BaseModelSpec(Contract):
    """The policy's base weights: a hub id (`org/name`) or a path below one of `TANDEM_MODEL_ROOTS`."""

    path: Annotated[str, Field(min_length=1, max_length=400)] = "shapes"
    family: ModelFamily = ModelFamily.FLUX
    dtype: Literal["fp32", "bf16"] = "fp32"


class PromptSpec(Contract):
    """The prompts a run learns on: written inline, or an uploaded set named by its id. Exactly one of the two."""

    inline: tuple[Annotated[str, Field(min_length=1, max_length=2000)], ...] = ()
    prompt_set: str | None = None

    @model_validator(mode="after")
    def _exactly_one_source(self) -> Self:
        if bool(self.inline) == (self.prompt_set is not None):
            raise ValueError(
                "`prompts` must give either `inline` or `prompt_set`: write prompts or choose an uploaded set"
            )
        if len(set(self.inline)) != len(self.inline):
            raise ValueError("`prompts.inline` must not repeat a prompt: each group needs a prompt of its own")
        return self


class RewardSpec(Contract):
    """One scorer. `watched` rewards are measured and shown, never trained on, to make reward hacking visible."""

    name: RewardName
    weight: Annotated[float, Field(gt=0)] = 1.0
    watched: bool = False


class FlowGrpoSpec(Contract):
    """Flow-GRPO (arXiv 2505.05470): clipped policy gradient on the denoising steps of `sampling.sde_*`."""

    name: Literal["flow_grpo"] = "flow_grpo"
    clip_range: Annotated[float, Field(gt=0, lt=1)] = 1e-4
    advantage_std: Literal["group", "batch"] = "group"
    advantage_clip: Annotated[float, Field(gt=0)] = 5.0
    kl_coefficient: Annotated[float, Field(ge=0)] = 0.0


class LoraSpec(Contract):
    rank: Annotated[int, Field(ge=1, le=512)] = 16
    alpha: Annotated[float, Field(gt=0)] = 32.0
    targets: tuple[str, ...] = ()
    """Module name suffixes; empty means the model family's default targets. An unmatched target is an error."""


class OptimizerSpec(Contract):
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 3e-4
    beta1: Annotated[float, Field(ge=0, lt=1)] = 0.9
    beta2: Annotated[float, Field(ge=0, lt=1)] = 0.999
    weight_decay: Annotated[float, Field(ge=0)] = 1e-4
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0


class SamplingSpec(Contract):
    """How trajectories are drawn. Stochastic, trainable denoising steps are the window
    `[sde_start, sde_start + num_sde_steps)`; the final step (sigma 0) is never stochastic."""

    num_denoising_steps: Annotated[int, Field(ge=2, le=200)] = 10
    num_eval_denoising_steps: Annotated[int, Field(ge=1, le=200)] = 10
    height: Annotated[int, Field(ge=16, le=4096, multiple_of=8)] = 32
    width: Annotated[int, Field(ge=16, le=4096, multiple_of=8)] = 32
    guidance_scale: Annotated[float, Field(ge=0, le=30)] = 1.0
    sde_type: SdeType = SdeType.FLOW
    noise_level: Annotated[float, Field(gt=0, le=2)] = 0.7
    sde_start: Index = 0
    num_sde_steps: Count | None = None
    """`None`: every denoising step from `sde_start` but the final one."""

    @property
    def sde_indices(self) -> tuple[int, ...]:
        """The stochastic, trainable denoising steps, ascending."""
        last = self.num_denoising_steps - 1
        count = last - self.sde_start if self.num_sde_steps is None else self.num_sde_steps
        return tuple(range(self.sde_start, self.sde_start + count))

    @model_validator(mode="after")
    def _window_inside_schedule(self) -> Self:
        last = self.num_denoising_steps - 1
        if self.sde_start >= last:
            raise ValueError(
                f"`sampling.sde_start` must be < {last}, got {self.sde_start}: "
                "the final denoising step is deterministic, so at least one must precede it"
            )
        if self.num_sde_steps is not None and self.sde_start + self.num_sde_steps > last:
            raise ValueError(
                f"`sampling.num_sde_steps` must be ≤ {last - self.sde_start}, got {self.num_sde_steps}: "
                f"the window starts at {self.sde_start} and must end before the final of "
                f"{self.num_denoising_steps} denoising steps"
            )
        if self.sde_type is SdeType.CPS and self.noise_level > 1:
            raise ValueError(
                f"`sampling.noise_level` must be ≤ 1 for `cps`, got {self.noise_level}: "
                "its noise is sigma·sin(noise_level·π/2)"
            )
        return self


class BatchSpec(Contract):
    """The batch algebra, in prompts, groups and optimizer steps. See `worker.contracts.algebra`."""

    num_prompts_per_batch: Count = 8
    group_size: Annotated[int, Field(ge=2, le=1024)] = 8
    num_minibatches: Count = 1
    num_epochs_per_batch: Count = 1
    micro_batch_size: Count = 8
    """(trajectory, denoising step) pairs in one forward/backward."""
    fragment_size: Count | None = None
    """Trajectories generated at once by a lane, cut within one group; `None`: the whole group."""


class PipelineSpec(Contract):
    """How the lanes work together. At staleness 0 no switch here changes what is learnt."""

    placement: Literal["disaggregated"] = "disaggregated"
    gap: bool = True
    deterministic: bool = False


class LaneSpec(Contract):
    num_rollout: Annotated[int, Field(ge=1, le=4096)] = 1
    num_trainer: Annotated[int, Field(ge=1, le=4096)] = 1
    num_reward: Annotated[int, Field(ge=1, le=4096)] = 1


class DeepSpeedSpec(Contract):
    zero_stage: Literal[0, 1, 2] = 0


class EvaluationSpec(Contract):
    """Held-out evaluation: deterministic ODE sampling on seeds never trained on."""

    every_num_batches: Count | None = 10
    """`None`: only at the start and at the end."""
    num_samples_per_prompt: Annotated[int, Field(ge=1, le=256)] = 4
    prompts: tuple[str, ...] = ()
    """Empty: the training prompts, on held-out seeds."""


class CheckpointSpec(Contract):
    every_num_batches: Count | None = 10
    """`None`: only at the end and on request."""
    num_kept: Annotated[int, Field(ge=1, le=100)] = 3


class ReplayGateSpec(Contract):
    """Release gate on the first update of fresh data: sampling and replay must agree on the policy."""

    max_mean_error: Annotated[float, Field(gt=0)] = 1e-3
    """Bound on max|μ_replay − μ_rollout| / std."""
    max_ratio_error: Annotated[float, Field(gt=0)] = 1e-4
    """Bound on max|ratio − 1|."""
