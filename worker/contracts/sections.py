"""The sections of a `RunSpec`: each one a part of the form, the YAML and the REST body of the same name."""

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from worker.contracts.base import Contract, Count, Index
from worker.contracts.names import LaneRole, ModelFamily, Placement, SdeType, TrainerAssist
from worker.contracts.prompts import Prompt, require_different


class BaseModelSpec(Contract):
    """The policy's base weights: a hub id (`org/name`) or a path below one of `TANDEM_MODEL_ROOTS`."""

    path: Annotated[str, Field(min_length=1, max_length=400)] = "shapes"
    """Hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`. Safetensors only."""
    family: ModelFamily = ModelFamily.FLUX
    """Which diffusers pipeline the weights belong to."""
    dtype: Literal["fp32", "bf16"] = "fp32"
    """Precision of the weights and of the forward pass; LoRA layers and the maths of the policy stay fp32."""


class PromptSpec(Contract):
    """The prompts a run learns on: written inline, or an uploaded set named by its id. Exactly one of the two."""

    inline: tuple[Prompt, ...] = ()
    """One prompt a line: its text, or an object with `text` and any of `negative`, `metadata`, `pictures`, `id`."""
    prompt_set: str | None = None
    """Id of an uploaded prompt set."""

    @model_validator(mode="after")
    def _exactly_one_source(self) -> Self:
        if bool(self.inline) == (self.prompt_set is not None):
            raise ValueError(
                "`prompts` must give either `inline` or `prompt_set`: write prompts or choose an uploaded set"
            )
        require_different(self.inline, "prompts.inline")
        return self


class LoraSpec(Contract):
    rank: Annotated[int, Field(ge=1, le=512)] = 16
    """Rank of the low-rank update."""
    alpha: Annotated[float, Field(gt=0)] = 32.0
    """Scale: the update is multiplied by alpha / rank."""
    targets: tuple[str, ...] = ()
    """Endings of module names. Empty: the model family's own. A target that matches nothing is an error."""


class OptimizerSpec(Contract):
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 3e-4
    """Constant learning rate of AdamW."""
    beta1: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """Decay of the first moment."""
    beta2: Annotated[float, Field(ge=0, lt=1)] = 0.999
    """Decay of the second moment."""
    weight_decay: Annotated[float, Field(ge=0)] = 1e-4
    """Decoupled weight decay."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """The gradient is scaled down to this norm."""


class EmaSpec(Contract):
    """A moving average of the trained weights: what evaluation, requested samples and the exported LoRA use. Training
    data are drawn by the policy itself."""

    decay: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of itself that the average keeps at each update. 0: no average."""
    every_num_optimizer_steps: Count = 8
    """Optimizer steps between updates."""


class SamplingSpec(Contract):
    """How trajectories are drawn. Stochastic, trainable denoising steps are the window
    `[sde_start, sde_start + num_sde_steps)`; the final step (sigma 0) is never stochastic."""

    num_denoising_steps: Annotated[int, Field(ge=2, le=200)] = 10
    """Denoising steps of a training trajectory."""
    num_eval_denoising_steps: Annotated[int, Field(ge=1, le=200)] = 10
    """Denoising steps of evaluation and of requested samples, all deterministic."""
    height: Annotated[int, Field(ge=16, le=4096, multiple_of=8)] = 32
    """A multiple of 8."""
    width: Annotated[int, Field(ge=16, le=4096, multiple_of=8)] = 32
    """A multiple of 8."""
    num_frames: Annotated[int, Field(ge=1, le=1024)] = 1
    """1 draws pictures; more draws clips, where the model family makes video."""
    fps: Annotated[float, Field(gt=0, le=120)] = 16.0
    """Frames per second at which clips play."""
    guidance_scale: Annotated[float, Field(ge=0, le=30)] = 1.0
    """Guidance of rollout and evaluation; 1 means none. Embedded where the model has it, else from two predictions
    (true CFG)."""
    guidance_scale_2: Annotated[float, Field(ge=1, le=30)] | None = None
    """Guidance of the low-noise expert, where a model has two (Wan2.2 A14B). Empty: `guidance_scale` for both."""
    train_guidance_scale: Annotated[float, Field(ge=0, le=30)] | None = None
    """Guidance of the policy that is trained: trajectories are drawn with `guidance_scale` and scored with this, both
    experts where there are two. Empty: the same. 1 trains the model to do without."""
    negative_prompt: Annotated[str, Field(max_length=2000)] = ""
    """What true CFG steers away from."""
    batched_cfg: bool = False
    """True CFG in one forward pass of twice the batch instead of two: for GPUs with room to spare."""
    sde_type: SdeType = SdeType.FLOW
    """Of the stochastic steps. flow: Flow-GRPO's SDE; dance: DanceGRPO's, as noisy at every step; cps:
    coefficient-preserving sampling."""
    noise_level: Annotated[float, Field(gt=0, le=2)] = 0.7
    """How much noise a stochastic denoising step adds: exploration."""
    sde_start: Index = 0
    """First stochastic denoising step, counted from 0."""
    num_sde_steps: Count | None = None
    """Only these are trained on. Empty: all from the first stochastic one but the final."""

    @property
    def training_guidance(self) -> float:
        """The guidance scale of the policy that is trained."""
        return self.guidance_scale if self.train_guidance_scale is None else self.train_guidance_scale

    @property
    def training_guidance_2(self) -> float | None:
        """The same of the low-noise expert, where it has a scale of its own."""
        return self.guidance_scale_2 if self.train_guidance_scale is None else None

    @property
    def trains_as_it_samples(self) -> bool:
        """Whether the policy that is trained has the guidance that it is sampled with."""
        trained = (self.training_guidance, self.training_guidance_2)
        return trained == (self.guidance_scale, self.guidance_scale_2)

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
    """Groups in a batch: one prompt each."""
    group_size: Annotated[int, Field(ge=2, le=1024)] = 8
    """Trajectories of one prompt, compared with each other."""
    num_minibatches: Count = 1
    """Optimizer steps in one pass through the batch; divides num_prompts_per_batch."""
    num_epochs_per_batch: Count = 1
    """Passes through the batch."""
    micro_batch_size: Count = 8
    """(trajectory, denoising step) pairs in one forward/backward."""
    fragment_size: Count | None = None
    """Trajectories generated at once by a lane; divides group_size. Empty: the whole group."""


class PipelineSpec(Contract):
    """How the lanes work together. At staleness 0 no switch here changes what is learnt."""

    placement: Placement = Placement.DISAGGREGATED
    """colocated: all lanes generate, then all train. disaggregated: rollout and trainer lanes overlap. auto: whatever
    is predicted to be fastest for these lanes, with its own split and switches."""
    gap: bool = True
    """Train complete groups while others still generate. Colocated lanes never do."""
    tsp: bool = True
    """Spread single (trajectory, denoising step) pairs over trainer lanes; off: whole trajectories."""
    tag: TrainerAssist = TrainerAssist.OFF
    """Idle trainer lanes generate too. greedy: whenever fragments wait; search: where the batch is predicted to end
    sooner for it."""
    max_staleness: Literal[0, 1] = 0
    """0: strictly on-policy. 1: generation may begin the next batch on the version before."""
    importance_cap: Annotated[float, Field(ge=1, le=100)] | None = None
    """Stale samples are weighed by their importance ratio, cut at this. Empty: they are clipped like fresh ones."""
    deterministic: bool = False
    """Accumulate in index order: bitwise repeatable on one trainer rank, at the price of waiting in line."""

    @property
    def trainers_generate(self) -> bool:
        """Whether trainer lanes may be told to generate, by right or by loan."""
        return self.placement is Placement.COLOCATED or self.tag is not TrainerAssist.OFF

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.placement is Placement.COLOCATED and self.max_staleness:
            raise ValueError(
                "`pipeline.max_staleness` must be 0 for colocated placement, got 1: "
                "lanes that train cannot generate the next batch meanwhile"
            )
        if self.placement is Placement.COLOCATED and self.tag is not TrainerAssist.OFF:
            raise ValueError(
                f"`pipeline.tag` must be `off` for colocated placement, got `{self.tag}`: every lane generates anyway"
            )
        if self.importance_cap is not None and self.max_staleness == 0:
            raise ValueError(
                f"`pipeline.importance_cap` must be empty at `max_staleness` 0, got {self.importance_cap}: "
                "no sample is stale"
            )
        return self


class LaneSpec(Contract):
    """For colocated and auto placement, rollout and trainer lanes are counted together."""

    num_rollout: Annotated[int, Field(ge=0, le=4096)] = 1
    """Lanes that generate."""
    num_trainer: Annotated[int, Field(ge=1, le=4096)] = 1
    """Lanes that train, together as one group."""
    num_reward: Annotated[int, Field(ge=1, le=4096)] = 1
    """Lanes that score."""
    rewards_on_gpus: bool = False
    """Reward lanes take GPUs where the pool has any: scorers with networks (CLIP, BLIP) are slow on CPU slots."""


class LaneBounds(NamedTuple):
    """How few and how many lanes of a role a run may have."""

    min: int
    max: int


class ElasticSpec(Contract):
    """How far the pool may shrink and grow the run while it works, in lanes by role.

    All empty: it keeps the lanes that it began with. For colocated and auto placement the bounds of rollout and trainer
    lanes are added up, as the lanes are.
    """

    min_rollout: Annotated[int, Field(ge=0, le=4096)] | None = None
    """Fewest lanes that generate: the pool may take others back for runs that are entitled to them. Empty:
    `lanes.num_rollout`."""
    max_rollout: Annotated[int, Field(ge=0, le=4096)] | None = None
    """Most lanes that generate: the run may borrow idle ones up to this. Empty: `lanes.num_rollout`."""
    min_trainer: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Fewest lanes that train. A change costs a checkpoint and new processes. Empty: `lanes.num_trainer`."""
    max_trainer: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Most lanes that train. Empty: `lanes.num_trainer`."""
    min_reward: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Fewest lanes that score. Empty: `lanes.num_reward`."""
    max_reward: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Most lanes that score. Empty: `lanes.num_reward`."""

    def bounds(self, role: LaneRole, num_lanes: int) -> LaneBounds:
        """The bounds of a role for which the spec asks for `num_lanes`."""
        low: int | None = getattr(self, f"min_{role}")
        high: int | None = getattr(self, f"max_{role}")
        return LaneBounds(num_lanes if low is None else low, num_lanes if high is None else high)

    def problems(self, lanes: LaneSpec) -> Iterator[str]:
        """What is wrong with the bounds for these lanes, one sentence each."""
        for role in LaneRole:
            wanted: int = getattr(lanes, f"num_{role}")
            low, high = self.bounds(role, wanted)
            if low > wanted:
                yield (
                    f"`elastic.min_{role}` must be ≤ `lanes.num_{role}` ({wanted}), got {low}: "
                    "a run begins with at least its fewest lanes"
                )
            if high < wanted:
                yield (
                    f"`elastic.max_{role}` must be ≥ `lanes.num_{role}` ({wanted}), got {high}: "
                    "a run begins with at most its most lanes"
                )


class EvaluationSpec(Contract):
    """Held-out evaluation: deterministic ODE sampling on seeds never trained on."""

    every_num_batches: Count | None = 10
    """On held-out seeds. Empty: only at the start and at the end."""
    num_samples_per_prompt: Annotated[int, Field(ge=1, le=256)] = 4
    """Held-out samples of each prompt."""
    prompts: tuple[Prompt, ...] = ()
    """Empty: the training prompts, on held-out seeds."""


class CheckpointSpec(Contract):
    every_num_batches: Count | None = 10
    """A lost run goes on from the newest. Empty: only at the end and on request."""
    num_kept: Annotated[int, Field(ge=1, le=100)] = 3
    """Older resumable checkpoints are deleted."""


class ReplayBounds(NamedTuple):
    """What the replay gate holds an update to."""

    mean_error: float
    ratio_error: float


class ReplayGateSpec(Contract):
    """Release gate on the first update of fresh data: sampling and replay must agree on the policy."""

    max_mean_error: Annotated[float, Field(gt=0)] | None = None
    """Bound on max|μ_replay − μ_rollout| / std. Empty: 0.001, and 0.1 in bf16, where a batch of another size already
    rounds differently."""
    max_ratio_error: Annotated[float, Field(gt=0)] | None = None
    """Bound on max|ratio − 1|. Empty: 0.0001, and 0.01 in bf16."""

    def bounds(self, dtype: Literal["fp32", "bf16"]) -> ReplayBounds:
        """For a model that computes in `dtype`."""
        usual = _REPLAY_BOUNDS[dtype]
        return ReplayBounds(
            usual.mean_error if self.max_mean_error is None else self.max_mean_error,
            usual.ratio_error if self.max_ratio_error is None else self.max_ratio_error,
        )


_REPLAY_BOUNDS = {"fp32": ReplayBounds(1e-3, 1e-4), "bf16": ReplayBounds(0.1, 0.01)}
"""On tiny models in bf16 the errors are up to 0.035 and 0.001, with nothing wrong but the size of micro-batches."""
