"""`RunSpec`: the one configuration of a run, for form, REST, Python client and engine; validated once, when it arrives.

The docstring below a field is its help in the form, the JSON schema and the API's documentation: the first sentence is
shown beside the input, the rest on demand. Invariant: a `RunSpec` that exists satisfies every rule below.
"""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.algorithms import DIFFERENTIABLE_REWARDS, AlgorithmSpec, FlowGrpoSpec
from worker.contracts.applicability import inapplicable
from worker.contracts.base import Contract
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.families import sampling_problems
from worker.contracts.lanes import ElasticSpec, LaneSpec, sharing_problems
from worker.contracts.mirror_names import MAX_MIRRORS, MirrorName
from worker.contracts.names import OldLogProbs, Placement, Priority, RewardDevice, RewardMixing, Tuning
from worker.contracts.optimizer import EmaSpec, OptimizerSpec
from worker.contracts.performance import PerformanceSpec, performance_problems
from worker.contracts.plain_json import json_problems
from worker.contracts.replay_bounds import ReplayBounds, ReplayGateSpec
from worker.contracts.rewards import RewardSpec, clip_problems
from worker.contracts.sections import (
    MAX_DEFAULT_EVALUATION_PROMPTS,
    BaseModelSpec,
    CheckpointSpec,
    EvaluationSpec,
    LoraSpec,
    PipelineSpec,
    PromptSpec,
    SamplingSpec,
)
from worker.contracts.shown_values import shown
from worker.contracts.spec_bounds import MAX_REWARDS, MAX_SEED, BatchCount
from worker.contracts.spec_yaml import read_yaml, write_yaml
from worker.contracts.stored_samples import StoredSamplesSpec


class RunSpec(Contract):
    """Everything that a user asks for in a run, by sections. Frozen; unknown fields are refused.

    Its JSON schema also lists, as `inapplicable`, which fields do not apply beside which values of others: see
    `worker.contracts.applicability`.
    """

    model_config = ConfigDict(json_schema_extra=lambda schema: schema.update(inapplicable=inapplicable()))

    base_model: BaseModelSpec = BaseModelSpec()
    prompts: PromptSpec
    rewards: Annotated[tuple[RewardSpec, ...], Field(min_length=1, max_length=MAX_REWARDS)]
    """The scorers of the samples, each named once; at least one is trained on. Watch one or two that are not trained
    on, to notice when a reward rises at the cost of the pictures."""
    reward_mixing: RewardMixing = RewardMixing.SUM
    """How several trained rewards become one advantage. `sum` adds the weighted raw scores, which suits rewards of like
    scale; `normalised` computes each reward's advantages first and averages them by weight (MixGRPO), which suits any
    others. It makes no difference for a single trained reward."""
    algorithm: AlgorithmSpec = FlowGrpoSpec()
    """How the policy learns from the rewards: an algorithm by `name`, with its settings. `flow_grpo` is the usual one
    to begin with; `flow_grpo_fast` and `diffusion_nft` train at a fraction of its cost."""
    tuning: Tuning = Tuning.LORA
    """Which weights are trained. `lora` trains low-rank layers, set up by `lora`, and is usual: megabytes to store and
    publish. `full` trains all weights of the transformer, about 16 bytes each over the trainer lanes; use it when a
    LoRA of high rank levels off, with a learning rate some 30 times smaller."""
    lora: LoraSpec = LoraSpec()
    optimizer: OptimizerSpec = OptimizerSpec()
    ema: EmaSpec = EmaSpec()
    sampling: SamplingSpec = SamplingSpec()
    batch: BatchSpec = BatchSpec()
    pipeline: PipelineSpec = PipelineSpec()
    lanes: LaneSpec = LaneSpec()
    elastic: ElasticSpec = ElasticSpec()
    deepspeed: DeepSpeedSpec = DeepSpeedSpec()
    performance: PerformanceSpec = PerformanceSpec()
    evaluation: EvaluationSpec = EvaluationSpec()
    stored_samples: StoredSamplesSpec = StoredSamplesSpec()
    checkpoint: CheckpointSpec = CheckpointSpec()
    replay_gate: ReplayGateSpec = ReplayGateSpec()
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0
    """Seed of prompt order, initial noise, stochastic steps and LoRA initialisation. Runs that differ in lanes or in
    `pipeline` switches alone train on the same samples at staleness 0. Repeat a result with three seeds before relying
    on it: RL runs vary with the seed."""
    num_batches: BatchCount = 20
    """Length of the run in batches; each batch ends with one new policy version. A few hundred are usual for large
    models, with 1 or 2 optimizer steps each; the tiny model of the demo learns in 20."""
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Attempts that the run has, the first included: when its driver is lost, the next attempt resumes from the newest
    checkpoint. Raise it for long runs on nodes that may be taken away."""

    mirrors: Annotated[tuple[MirrorName, ...], Field(max_length=MAX_MIRRORS)] = ()
    """Names of the project's mirrors that show this run too, in W&B, MLflow or TensorBoard, beside those that are for
    every run. The project's owners make them on the page of projects."""
    priority: Priority = Priority.NORMAL
    """Position in the queue: `high` before `normal` before `low`, older runs first among equals. It has no effect once
    the run has its lanes. Use `low` for sweeps, and `high` for work that somebody waits for."""

    @property
    def algebra(self) -> BatchAlgebra:
        """Every count of a batch. Raises `ValueError` for numbers that do not divide."""
        return BatchAlgebra.resolve(
            self.batch,
            self.sampling,
            num_trained_steps=self.algorithm.num_trained_steps(self.sampling),
            num_trained_members=self.algorithm.num_trained_members(self.batch.group_size),
        )

    @property
    def granted_lanes(self) -> LaneSpec:
        """The lanes to ask the pool for, by role. Colocated lanes all count as trainer lanes, since each joins the
        gang."""
        if self.pipeline.placement is not Placement.COLOCATED:
            return self.lanes
        num_lanes = self.lanes.num_rollout + self.lanes.num_trainer
        return self.lanes.model_copy(update={"num_rollout": 0, "num_trainer": num_lanes})

    @property
    def num_cards_to_share(self) -> int:
        """The lanes whose cards reward lanes may share: those that generate, which the pace of a gang does not depend
        on. Where the planner has yet to choose a placement, the lanes that it may choose."""
        lanes = self.lanes
        return lanes.num_rollout + (0 if self.pipeline.placement is Placement.DISAGGREGATED else lanes.num_trainer)

    def scoring_on(self, device: RewardDevice) -> Self:
        """The spec with its reward lanes on such a device. Of lanes that share cards, there are as many as cards at
        most, and never more than asked for."""
        shares = device is RewardDevice.SHARED_GPU
        number = min(self.lanes.num_reward, self.num_cards_to_share) if shares else self.lanes.num_reward
        lanes = self.lanes.model_copy(update={"rewards_on": device, "num_reward": number})
        elastic = ElasticSpec() if any(self.elastic.problems(lanes)) else self.elastic
        if any(sharing_problems(lanes, elastic, self.num_cards_to_share)):
            elastic = elastic.model_copy(update={"max_reward": None})
        return self.model_copy(update={"lanes": lanes, "elastic": elastic})

    @property
    def replay_bounds(self) -> ReplayBounds:
        """The bounds of the replay gate, for this model's precision."""
        return self.replay_gate.bounds(self.base_model.dtype)

    @property
    def recomputes_log_probs(self) -> bool:
        """Whether the trainer computes the log-probs that ratios divide by."""
        return self.algorithm.is_policy_gradient and self.sampling.old_log_probs is OldLogProbs.TRAINER

    @property
    def replays_before_update(self) -> bool:
        """Whether the weights before a batch's first update are kept through the batch, to recompute log-probs of data
        that is not stale. Where a batch holds one mini-batch, its own first pass gives them."""
        algebra, needs = self.algebra, self.algorithm.needs
        is_replayed_later = algebra.num_minibatches > 1 or (needs.old_means and algebra.num_epochs > 1)
        return self.recomputes_log_probs and is_replayed_later

    @property
    def switch_moves_memory(self) -> bool:
        """Whether a trainer lane that turns to generation, or back, has something to offload, gather or free: idle
        states, its trained weights, a sharded base."""
        deepspeed = self.deepspeed
        return self.tuning is Tuning.FULL or deepspeed.offload_idle_states or deepspeed.zero_stage == 3

    @property
    def evaluates_apart(self) -> bool:
        """Whether evaluation uses other weights than generation for training: an EMA, or the trained adapter beside an
        older one."""
        return bool(self.ema.decay) or self.algorithm.needs.second_adapter

    @property
    def max_evaluated_samples(self) -> int:
        """The most samples of an evaluation. How many prompts a set has is not known here."""
        num_prompts = min(len(self.prompts.inline) or MAX_DEFAULT_EVALUATION_PROMPTS, MAX_DEFAULT_EVALUATION_PROMPTS)
        return (len(self.evaluation.prompts) or num_prompts) * self.evaluation.num_samples_per_prompt

    @property
    def trained_rewards(self) -> tuple[RewardSpec, ...]:
        """The rewards that are not only watched."""
        return tuple(reward for reward in self.rewards if not reward.watched)

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, document: Any) -> Any:
        for _, problem in json_problems(document):
            raise ValueError(problem)
        return document

    @model_validator(mode="after")
    def _cross_field_rules(self) -> Self:
        keys = [reward.key for reward in self.rewards]
        if len(set(keys)) != len(keys):
            raise ValueError(
                f"`rewards` must name each reward once, got {', '.join(keys)}: give one of the same name a `label`"
            )
        if not self.trained_rewards:
            raise ValueError("`rewards` must hold at least one that is not `watched`: there is nothing to train on")
        if self.prompts.inline and self.batch.num_prompts_per_batch > len(self.prompts.inline):
            raise ValueError(
                f"`batch.num_prompts_per_batch` must be ≤ {len(self.prompts.inline)} (the prompts given), "
                f"got {self.batch.num_prompts_per_batch}: a batch holds each prompt at most once"
            )
        if self.pipeline.placement is Placement.DISAGGREGATED and not self.lanes.num_rollout:
            raise ValueError(
                "`lanes.num_rollout` must be ≥ 1 for disaggregated placement, got 0: no lane would generate"
            )
        for problem in self.elastic.problems(self.lanes):
            raise ValueError(problem)
        for problem in sharing_problems(self.lanes, self.elastic, self.num_cards_to_share):
            raise ValueError(problem)
        for problem in clip_problems(self.rewards, self.sampling.num_frames):
            raise ValueError(problem)
        for problem in sampling_problems(self.base_model.family, self.sampling):
            raise ValueError(problem)
        for problem in performance_problems(
            self.performance,
            self.base_model.family,
            self.sampling,
            self.deepspeed,
            deterministic=self.pipeline.deterministic,
        ):
            raise ValueError(problem)
        self._check_tuning()
        self._check_algorithm()
        _ = self.algebra
        return self

    @property
    def kernels(self) -> PerformanceSpec:
        """`performance` with `auto` decided, as far as the spec decides it."""
        return self.performance.chosen(
            self.base_model.family,
            self.sampling,
            self.deepspeed,
            dtype=self.base_model.dtype,
            deterministic=self.pipeline.deterministic,
        )

    def _check_tuning(self) -> None:
        if self.tuning is Tuning.FULL and self.base_model.dtype == "bf16" and not self.deepspeed.zero_stage:
            raise ValueError(
                "`deepspeed.config` must be `zero1` or higher for `tuning` full of `base_model.dtype` bf16, got "
                f"`{self.deepspeed.config}`: the fp32 master weights are part of ZeRO's optimizer state"
            )

        if self.tuning is Tuning.FULL and self.algorithm.needs.second_adapter:
            raise ValueError(
                f"`tuning` must be lora for {self.algorithm.name}, got full: its older policy is a second LoRA adapter"
            )

    def _check_algorithm(self) -> None:
        for problem in self.algorithm.problems(self.sampling, self.batch.group_size):
            raise ValueError(problem)
        if self.pipeline.importance_cap is not None and not self.algorithm.is_policy_gradient:
            raise ValueError(
                f"`pipeline.importance_cap` must be empty for {self.algorithm.name}, got "
                f"{self.pipeline.importance_cap}: its loss has no importance ratio"
            )
        if self.pipeline.max_staleness and self.recomputes_log_probs:
            raise ValueError(
                "`sampling.old_log_probs` must be rollout for `pipeline.max_staleness` 1, got trainer: "
                "`pipeline.stale_clip` proximal already clips stale samples around log-probs of the trainer's own"
            )
        if self.batch.filter_groups and not self.algorithm.ignores_equal_rewards:
            raise ValueError(
                f"`batch.filter_groups` must be false for {self.algorithm.name}, got true: its loss has a gradient on "
                "groups of equal rewards too, so leaving them out would change what is learnt"
            )
        if self.batch.max_resamples and not self.algorithm.learns_from_spread:
            raise ValueError(
                f"`batch.max_resamples` must be 0 for {self.algorithm.name}, got {self.batch.max_resamples}: "
                "it follows the gradient of the reward itself, so groups of equal rewards teach as much as others"
            )
        if self.algorithm.needs.differentiable_reward:
            for reward in self.trained_rewards:
                if reward.name not in DIFFERENTIABLE_REWARDS:
                    allowed = ", ".join(sorted(DIFFERENTIABLE_REWARDS))
                    raise ValueError(
                        f"`rewards` that {self.algorithm.name} trains on must be differentiable ({allowed}), got "
                        f"{reward.name}: mark it as `watched`, or choose another algorithm"
                    )

    @classmethod
    def from_yaml(cls, text: str) -> Self:
        """Parse YAML or JSON text. Raises `ValueError` (`YamlRefused` and pydantic's `ValidationError` included)."""
        return cls.from_document(read_yaml(text))

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """The spec that plain JSON stands for. Raises `ValueError` (pydantic's `ValidationError` included)."""
        if not isinstance(document, dict):
            raise ValueError(f"the spec must be a mapping of sections, got {shown(document)}: begin with `prompts:`")
        return cls.model_validate(document)

    def to_yaml(self) -> str:
        """YAML with every section written out, in the order of the fields."""
        return write_yaml(self.model_dump(mode="json"))
