"""The sections of a `RunSpec` on the model, its prompts and samples, the pipeline, and what is checked and saved.

The docstring below a field is its help in the form, the JSON schema and the API's documentation: the first sentence is
shown beside the input, the rest on demand.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from worker.contracts.base import Contract
from worker.contracts.names import (
    ModelFamily,
    OldLogProbs,
    Placement,
    Publishing,
    SdeType,
    StaleClip,
    TrainerAssist,
    VaeTiling,
)
from worker.contracts.prompts import Prompt, require_different
from worker.contracts.spec_bounds import (
    MAX_DENOISING_STEPS,
    MAX_INLINE_PROMPTS,
    MAX_LORA_TARGETS,
    MAX_MODULE_NAME_CHARS,
    MAX_SEQUENCE_LENGTH,
    BatchCount,
    DenoisingStepCount,
    PositiveCoefficient,
)

ModuleName = Annotated[str, Field(min_length=1, max_length=MAX_MODULE_NAME_CHARS)]


class BaseModelSpec(Contract):
    """The model that is trained, and the precision that it is computed in."""

    path: Annotated[str, Field(min_length=1, max_length=400)] = "shapes"
    """Diffusers checkpoint that is trained: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
    Weights must be safetensors; pickles are refused. The default, `shapes`, is the tiny model of the demo, which trains
    on CPU lanes."""
    family: ModelFamily = ModelFamily.FLUX
    """Architecture of the checkpoint: which diffusers pipeline it belongs to. It decides how guidance works and whether
    the model makes pictures or clips; a family that is not the checkpoint's own is refused when the model is loaded."""
    dtype: Literal["fp32", "bf16"] = "fp32"
    """Precision of the frozen weights and of the forward pass; LoRA layers, optimizer and log-probs stay fp32. bf16 is
    usual on GPUs: half the memory, and several times as fast. fp32 is for tiny models on CPU lanes, and for finding out
    whether a failing replay gate is a matter of rounding."""


class PromptSpec(Contract):
    """The prompts that a run trains on: written in the spec, or an uploaded prompt set. Exactly one of the two."""

    inline: Annotated[tuple[Prompt, ...], Field(max_length=MAX_INLINE_PROMPTS)] = ()
    """Prompts written in the spec, each at most once: texts, or objects with `text` and any of `negative`, `metadata`,
    `pictures` and `id`. A batch takes `batch.num_prompts_per_batch` of them in turn, so there must be at least that
    many."""
    prompt_set: Annotated[str, Field(min_length=1, max_length=36)] | None = None
    """Id of an uploaded prompt set, instead of `inline`. Use one for more than a few dozen prompts, or for prompts that
    several runs share."""

    @model_validator(mode="after")
    def _exactly_one_source(self) -> Self:
        if bool(self.inline) == (self.prompt_set is not None):
            raise ValueError(
                "`prompts` must give either `inline` or `prompt_set`: write prompts or choose an uploaded set"
            )
        require_different(self.inline, "prompts.inline")
        return self


class LoraSpec(Contract):
    """Low-rank layers beside the frozen weights (LoRA, arXiv 2106.09685); read where `tuning` is `lora`."""

    rank: Annotated[int, Field(ge=1, le=512)] = 16
    """Rank of each LoRA layer. Usual: 32 (Flow-GRPO on SD3.5 and FLUX.1), 64 (Qwen-Image), 128 (DanceGRPO on video).
    Trained parameters, optimizer memory and published bytes grow in proportion to it; raise it when the reward levels
    off too early."""
    alpha: PositiveCoefficient = 32.0
    """Scale of the LoRA: its output is multiplied by `alpha` / `rank`. Usual is twice the rank. Change the two
    together, since their quotient acts like a factor on the learning rate."""
    targets: Annotated[tuple[ModuleName, ...], Field(max_length=MAX_LORA_TARGETS)] = ()
    """Linear layers that get a LoRA, by module name or by the end of it, such as `attn.to_q`. Empty: the attention
    projections usual for the model family. A name that matches no layer of the family's transformer is refused, so
    that nothing is left out unnoticed."""


class SamplingSpec(Contract):
    """How trajectories are generated. The denoising steps `sde_start` … `sde_start + num_sde_steps - 1` are stochastic
    and are trained on; the others are deterministic, the final one (to sigma 0) always."""

    num_denoising_steps: Annotated[int, Field(ge=2, le=MAX_DENOISING_STEPS)] = 10
    """Denoising steps of a training trajectory; generation time grows in proportion. Usual: 6 (FLUX.1), 10 (SD3.5,
    Qwen-Image), 16 to 20 (video). Training works on far fewer steps than good pictures need (Flow-GRPO), so raise it
    only when training samples are too rough to be scored."""
    num_eval_denoising_steps: DenoisingStepCount = 10
    """Denoising steps of evaluation and of requested samples, which are all deterministic (ODE). Usual is what the
    model's pipeline recommends: 28 (FLUX.1), 40 (SD3.5), 50 (Qwen-Image). Lower it for distilled models or faster
    evaluations."""
    height: Annotated[int, Field(ge=16, le=4096, multiple_of=8)] = 32
    """Height of the samples in pixels, a multiple of 8; most hub models need a multiple of 16, which is checked against
    the checkpoint. 512 is usual for training. Tokens grow with the area, and memory and time with them."""
    width: Annotated[int, Field(ge=16, le=4096, multiple_of=8)] = 32
    """Width of the samples in pixels, a multiple of 8; most hub models need a multiple of 16, which is checked against
    the checkpoint. 512 is usual for training. Tokens grow with the area, and memory and time with them."""
    num_frames: Annotated[int, Field(ge=1, le=1024)] = 1
    """Frames of a sample: 1 makes pictures, more make clips with model families for video. Wan and HunyuanVideo take a
    multiple of 4 plus 1; usual for training are 33 and 53. Memory and time grow at least in proportion."""
    fps: Annotated[float, Field(gt=0, le=120)] = 16.0
    """Frames per second at which clips are stored and played. It changes neither generation nor rewards. Take the rate
    that the model was trained on: 16 for Wan2.1, 24 for Wan2.2 TI2V-5B."""
    guidance_scale: Annotated[float, Field(ge=0, le=30)] = 1.0
    """Guidance scale of rollout and evaluation; 1 means no guidance. FLUX and HunyuanVideo take it as an input of the
    model (3.5 for FLUX.1), the others compute it from two predictions (true CFG, usual 4 to 4.5), which doubles the
    forward passes. 1 is worth trying with true CFG: training then learns what guidance did, and Flow-GRPO's authors
    advise it."""
    guidance_scale_2: Annotated[float, Field(ge=1, le=30)] | None = None
    """Guidance scale of the expert for low noise, in models that have two experts (Wan2.2 A14B). Empty:
    `guidance_scale` holds for both. Wan's own pipeline uses 3 here beside 4 for the expert for high noise."""
    train_guidance_scale: Annotated[float, Field(ge=0, le=30)] | None = None
    """Guidance scale of the policy that is trained, for both experts where there are two. Empty: the same as in
    rollout, which keeps training on-policy. 1 draws trajectories with `guidance_scale` and trains the model to do as
    well without guidance, which spares half of the training passes under true CFG."""
    negative_prompt: Annotated[str, Field(max_length=2000)] = ""
    """Prompt that true CFG steers away from, the same for all samples. Empty is usual in training. It has an effect
    only with a guidance scale above 1."""
    max_sequence_length: Annotated[int, Field(ge=1, le=MAX_SEQUENCE_LENGTH)] | None = None
    """Tokens of the text encoder after which a prompt is cut off: T5's, or the language model's. Empty: what the
    family's pipeline takes (512; 256 for Stable Diffusion 3, FLUX.1-schnell and HunyuanVideo), which is also the most,
    but for Stable Diffusion 3 (512) and Qwen-Image (1024). Most families pad every prompt to it, so that a lower number
    saves time and memory in each pass; the model was trained with the usual one."""
    batched_cfg: bool = False
    """Compute both predictions of true CFG in one forward pass of twice the batch. Faster where a batch leaves the GPU
    underused, at the price of activation memory; leave it off when memory is short."""
    vae_tiling: VaeTiling = VaeTiling.AUTO
    """Whether the autoencoder decodes in tiles, wherever samples are decoded: in training, evaluation and previews.
    `auto` is usual; `enabled` is for samples whose decoding takes more memory than the policy, as clips of Wan of 720
    rows do. Tiles overlap and are blended, so pixels differ a little from those of whole samples: rewards see them, and
    runs with and without it are not to be compared closely. Samples no larger than a tile are not divided (1024 × 1024
    for most picture models, 256 × 256 for Qwen-Image, Wan and HunyuanVideo)."""
    sde_type: SdeType = SdeType.FLOW
    """Formula of the stochastic denoising steps. `flow` is Flow-GRPO's SDE; `dance` is DanceGRPO's, with the same noise
    strength at every step; `cps` replaces noise instead of adding to it, so samples stay cleaner (arXiv 2509.05952).
    Clip ranges are not comparable between them."""
    noise_level: Annotated[float, Field(gt=0, le=2)] = 0.7
    """Strength of the noise that a stochastic denoising step adds, without unit; it is what makes the trajectories of a
    group differ. Usual: 0.7 (SD3.5), 0.9 (FLUX.1), 1.2 (Qwen-Image), 0.25 to 0.3 for `dance`, 0.8 for `cps` (at most
    1). Raise it when the rewards within groups are nearly equal; lower it when training samples look grainy."""
    sde_start: Annotated[int, Field(ge=0, le=MAX_DENOISING_STEPS)] = 0
    """Index of the first stochastic denoising step, counted from 0, the noisiest. 0 is usual: early steps decide the
    composition, which is where exploration pays."""
    num_sde_steps: DenoisingStepCount | None = None
    """Number of stochastic denoising steps from `sde_start` on; only these are trained on, so training time grows in
    proportion. Empty: all but the final step, which is always deterministic. Algorithms with a window or a share of
    steps choose theirs among these."""

    old_log_probs: OldLogProbs = OldLogProbs.ROLLOUT
    """Who computes the log-probs that the ratio of new to old likelihood divides by. `rollout` is exact in fp32 and
    costs nothing. In bf16 generation and training round differently, by more than the clip ranges of `grpo_guard` and
    of `cps`: `trainer` recomputes them with the weights before the batch's first update. That is free in the first
    mini-batch and one forward pass for each pair of the others in the first epoch (`grpo_guard` and `flow_dppo`: in
    every optimizer step but the first). The run log says when rounding clips pairs."""

    @property
    def num_pixels(self) -> int:
        """Pixels of all frames of a sample."""
        return self.height * self.width * self.num_frames

    @property
    def training_guidance(self) -> float:
        """Guidance scale of the policy that is trained."""
        return self.guidance_scale if self.train_guidance_scale is None else self.train_guidance_scale

    @property
    def training_guidance_2(self) -> float | None:
        """`training_guidance` of the expert for low noise, where it has a scale of its own."""
        return self.guidance_scale_2 if self.train_guidance_scale is None else None

    @property
    def trains_as_it_samples(self) -> bool:
        """Whether training uses the guidance scales of rollout."""
        trained = (self.training_guidance, self.training_guidance_2)
        return trained == (self.guidance_scale, self.guidance_scale_2)

    @property
    def sde_indices(self) -> tuple[int, ...]:
        """Indices of the stochastic denoising steps, ascending."""
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


_USUAL_WEIGHT_CAP = 2.0
"""The threshold of truncated importance sampling in verl-omni."""


class PipelineSpec(Contract):
    """How generation, scoring and training overlap on the lanes. At staleness 0 no switch here changes the result, only
    the time that it takes; `max_staleness: 1`, `stale_clip` and `importance_cap` change what is trained on."""

    placement: Placement = Placement.DISAGGREGATED
    """Which lanes do what. `colocated`: every lane generates, then trains; needs no balance and is the baseline.
    `disaggregated`: rollout lanes and trainer lanes work at the same time, faster where both are kept busy. `auto`: the
    planner takes whichever is predicted to be fastest on these lanes, with its own split, fragment size and switches,
    and again while the run works, by what it has measured."""
    gap: bool = True
    """Train on groups as soon as they are complete and scored, while other groups of the batch are still generated
    (generation-axis pipeline). On is usual: off makes the trainer lanes wait for the whole batch. Colocated lanes
    generate first: each trains from when no fragment is left for it, or sooner if it is better at training than
    others, while these end theirs and rewards come in. It has no effect with `advantage_std: batch`, nor colocated in
    ZeRO 2 and 3."""
    tsp: bool = True
    """Share out (trajectory, denoising step) pairs over the trainer lanes one by one (time-step parallelism); off, all
    pairs of a trajectory go to one lane. On is usual: lanes wait less for each other, the more so with few trajectories
    for each lane."""
    tag: TrainerAssist = TrainerAssist.OFF
    """Whether idle trainer lanes are lent to generation (trainer-assisted generation). `greedy` lends whenever
    fragments wait that rollout lanes would not all end before; `search` only where the batch is predicted to end
    sooner, switching costs included. Use `search` where trainer lanes show long bubbles; lending coarse fragments
    greedily can be slower than `off` (UniRL measured 0.68× where lanes were lent whenever they idled)."""
    max_staleness: Literal[0, 1] = 0
    """Policy versions by which samples may be older than the trained weights. 0 is strictly on-policy. 1 lets rollout
    lanes begin the next batch with the version before, so that they do not wait for training; a trajectory never mixes
    versions. The published gain is 1.36× to 1.44× (UniRL, Wan2.1), with slightly more clipping."""
    stale_clip: StaleClip = StaleClip.PROXIMAL
    """Which policy the ratio of stale samples is clipped around. `proximal`: the newest weights before training on the
    batch, with each sample weighted by how much likelier they make it than the older weights that generated it
    (decoupled PPO, arXiv 2110.00641). `behaviour`: those older weights; a small clip range then silences a third or
    more of the stale samples before training on them begins."""
    importance_cap: Annotated[float, Field(ge=1, le=100)] | None = None
    """Upper bound on the weight of stale samples that `stale_clip: proximal` gives them (truncated importance
    sampling). Empty: 2. Likelihoods are means over all latent dimensions, so weights are close to 1 and the bound is
    rarely reached; lower it towards 1 when single samples dominate the update."""
    publishing: Publishing = Publishing.STORE
    """How rollout lanes get each new policy version. `store` is usual: a LoRA passes Ray's object store in a fraction
    of a second. `direct` broadcasts from the trainer lanes to the memory of the rollout lanes, over NCCL between GPUs,
    while those still generate; it is for all weights of a large model, and needs room for a second copy of them on
    each rollout lane. Lanes that a broadcast does not reach, and lent trainer lanes, fetch the copy in the store."""
    deterministic: bool = False
    """Accumulate gradients in the order of prompts, never of arrival, so that one trainer rank reaches bitwise the same
    weights in every run with these settings. Trainer lanes wait for the next in order, so it costs time. Turn it on to
    reproduce a result or to compare two changes exactly."""

    @property
    def weight_cap(self) -> float:
        """Upper bound on the weight of stale samples."""
        return _USUAL_WEIGHT_CAP if self.importance_cap is None else self.importance_cap

    @property
    def trainers_generate(self) -> bool:
        """Whether trainer lanes ever generate: always when colocated, else when they may be lent."""
        return self.placement is Placement.COLOCATED or self.tag is not TrainerAssist.OFF

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.placement is Placement.COLOCATED and self.max_staleness:
            raise ValueError(
                "`pipeline.max_staleness` must be 0 for colocated placement, got 1: "
                "a lane cannot train and generate the next batch at the same time"
            )
        if self.placement is Placement.COLOCATED and self.tag is not TrainerAssist.OFF:
            raise ValueError(
                f"`pipeline.tag` must be `off` for colocated placement, got `{self.tag}`: every lane generates anyway"
            )
        if self.placement is Placement.COLOCATED and self.publishing is Publishing.DIRECT:
            raise ValueError(
                "`pipeline.publishing` must be `store` for colocated placement, got `direct`: every lane trains, so "
                "there is no rollout lane to broadcast to"
            )
        if self.importance_cap is not None and self.max_staleness == 0:
            raise ValueError(
                f"`pipeline.importance_cap` must be empty at `max_staleness` 0, got {self.importance_cap}: "
                "no sample is stale"
            )
        if self.importance_cap is not None and self.stale_clip is StaleClip.BEHAVIOUR:
            raise ValueError(
                f"`pipeline.importance_cap` must be empty for `stale_clip` behaviour, got {self.importance_cap}: "
                "samples are weighted only where they are clipped around the proximal policy"
            )
        return self


MAX_DEFAULT_EVALUATION_PROMPTS = 64
"""How many prompts of the run are evaluated where the spec names no evaluation prompts: the first ones, so that an
evaluation of a large set stays short."""


class EvaluationSpec(Contract):
    """Held-out evaluation: deterministic (ODE) sampling on seeds that training never uses, at the start, at the end and
    in between."""

    every_num_batches: BatchCount | None = 10
    """Batches between two evaluations. 10 to 20 is usual; each evaluation occupies the rollout lanes for
    `num_samples_per_prompt` × prompts samples. Empty: only at the start and at the end."""
    num_samples_per_prompt: Annotated[int, Field(ge=1, le=256)] = 4
    """Samples of each evaluation prompt, from seeds that training never uses and that stay the same all through the
    run. 4 for a few prompts, 1 for dozens. More samples make the curve less noisy and the evaluation longer."""
    prompts: Annotated[tuple[Prompt, ...], Field(max_length=MAX_INLINE_PROMPTS)] = ()
    """Prompts to evaluate on, one a line. Empty: the first 64 training prompts at most, on seeds of evaluation. Give
    prompts that are not trained on to see whether what is learnt carries over."""


class CheckpointSpec(Contract):
    """Resumable checkpoints: trained weights, optimizer state and random states, in the store of
    `TANDEM_CHECKPOINTS`."""

    every_num_batches: BatchCount | None = 10
    """Batches between two resumable checkpoints; a run whose driver is lost repeats at most that many. 10 is usual, 25
    for all weights, whose checkpoints are large. Empty: only at the end, at a stop, and when a user asks for one."""
    num_kept: Annotated[int, Field(ge=1, le=100)] = 3
    """Newest resumable checkpoints that are kept; older ones are deleted. One of a LoRA takes megabytes, one of all
    weights about 14 bytes a parameter. Keep more to be able to go back after a collapse."""
