"""What a run asks of its lanes, whatever their number: model, batch, what is trained and how, passes, copies, scoring.

    RunSpec ─► Workload ─► seconds (`estimates`)
                      └──► bytes (`memory`)

Invariant: everything that a spec says and that changes what work costs or holds is a field here; nothing else is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.algorithms import DiffusionNftSpec, RewardFlowSpec
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind, Tuning
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.decoding import MAX_PIXELS_DECODED_TOGETHER
from worker.scheduling.profiles.hardware import Estimate
from worker.scheduling.profiles.known_models import profile_of
from worker.scheduling.profiles.model_profile import ModelProfile
from worker.scheduling.profiles.scorer_costs import NO_SCORING_COST, ScoringCost

STATE_BYTES = 16
"""For each trained parameter: fp32 weight and gradient, two fp32 moments (Rajbhandari et al., arXiv 1910.02054)."""
BACKWARD_FORWARDS: Mapping[Tuning, float] = {Tuning.LORA: 1.0, Tuning.FULL: 2.0}
"""A full backward pass is worth two forward ones, one for the gradient of activations and one for that of weights
(Korthikanti et al., arXiv 2205.05198, appendix A). Frozen weights do without the second; what LoRA's own matrices ask
for, forward and backward, is left out: rank ÷ width of an adapted layer, 1 to 4 % at ranks of 32 to 128."""
_WEIGHT_BYTES: Mapping[str, int] = {"fp32": 4, "bf16": 2}
_TRAINED_BYTES = 4
"""Of one LoRA weight, whatever the base's precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightTransfer:
    """How weights and roles change hands."""

    packing_bandwidth: Estimate = field(default=Estimate(1e9, 0.06e9, 4e9))
    """Bytes a second at which published weights are packed or bound to a model. Low: verl-omni's measured 6.8 s for a
    LoRA of 0.38 GB (its pull request on diffusion LoRA)."""
    shares_base: bool = True
    """Both roles of a lane work on one copy of the frozen weights. Otherwise a rollout engine has its own: each turn
    drops the one copy, loads the other from host memory, and moves the trainer's optimizer state out or in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySavings:
    """What spares a trainer lane's memory, beside its ZeRO stage."""

    recomputed_blocks: int = 1
    """0: none; n: every n-th."""
    optimizer_on_host: bool = False
    weights_on_host: bool = False
    idle_on_host: bool = False
    """Optimizer state and gradients, while the lane generates."""

    @classmethod
    def of(cls, spec: RunSpec, profile: ModelProfile) -> "MemorySavings":
        deepspeed = spec.deepspeed
        return cls(
            recomputed_blocks=deepspeed.recomputed_blocks(profile.parameters),
            optimizer_on_host=deepspeed.config.offloads_optimizer,
            weights_on_host=deepspeed.config.offloads_weights,
            idle_on_host=deepspeed.offload_idle_states,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardPasses:
    """One velocity asked for."""

    rows: int = 1
    """Through the transformer, for each one asked for: two with true CFG."""
    calls: int = 1
    """Of the transformer."""

    @classmethod
    def of(cls, spec: RunSpec, *guidance_scales: float | None) -> "ForwardPasses":
        """Under these scales, one for each expert; an empty one is as the first."""
        is_guided = any(scale not in (None, 1.0) for scale in guidance_scales)
        if FAMILY_TRAITS[spec.base_model.family].guidance is not GuidanceKind.TRUE_CFG or not is_guided:
            return cls()
        return cls(rows=2, calls=1 if spec.sampling.batched_cfg else 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmPasses:
    """Predictions that an algorithm asks for. What only watches (the replay gate, a KL that nothing trains on) is left
    out: 3 % of a pass."""

    sampling: ForwardPasses = ForwardPasses()
    """Under the guidance of rollout."""
    training: ForwardPasses = ForwardPasses()
    """Under the guidance of the policy that is trained."""
    num_scored: int = 0
    """Of each trajectory, under the guidance of training: where it is not that of rollout."""
    num_trained: int = 1
    """Of each unit of training, with a gradient: two samples of a preference, or several denoising steps."""
    num_judged: int = 0
    """Of each unit of training, without: by the reference policy, by an older one."""
    goes_through_decoder: bool = False
    """The gradient comes from a reward."""

    @classmethod
    def of(cls, spec: RunSpec) -> "AlgorithmPasses":
        algorithm, sampling = spec.algorithm, spec.sampling
        needs = algorithm.needs
        is_scored = needs.log_probs and not sampling.trains_as_it_samples
        num_trained = 2 if spec.algebra.num_trained_members is not None else 1
        if isinstance(algorithm, RewardFlowSpec):
            num_trained = algorithm.num_gradient_steps
        return cls(
            sampling=ForwardPasses.of(spec, sampling.guidance_scale, sampling.guidance_scale_2),
            training=ForwardPasses.of(spec, sampling.training_guidance, sampling.training_guidance_2),
            num_scored=spec.algebra.num_trained_denoising_steps if is_scored else 0,
            num_trained=num_trained,
            num_judged=num_trained * (needs.reference + needs.second_adapter),
            goes_through_decoder=needs.differentiable_reward,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCopies:
    """Policies that a trainer lane holds beside the one it trains."""

    reference: bool = False
    """Of full tuning alone: LoRA's reference is the base with its layers switched off."""
    stale: bool = False
    """What drew a batch that is trained a version later."""
    second: bool = False
    """DiffusionNFT's older policy."""
    num_shadow_copies: int = 0
    """In fp32: the moving average, what DiffusionNFT's older policy is made from."""
    publishes_two: bool = False
    """What generates, and what is evaluated."""

    @classmethod
    def of(cls, spec: RunSpec) -> "PolicyCopies":
        averages, follows = bool(spec.ema.decay), isinstance(spec.algorithm, DiffusionNftSpec)
        return cls(
            reference=spec.tuning is Tuning.FULL and spec.algorithm.needs.reference,
            stale=bool(spec.pipeline.max_staleness),
            second=spec.algorithm.needs.second_adapter,
            num_shadow_copies=averages + follows,
            publishes_two=averages or follows,
        )

    @property
    def older(self) -> bool:
        """One model holds whichever of the two there is."""
        return self.stale or self.second


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """All of it. Defaults are those of LoRA on a bf16 base, trained as Flow-GRPO does without a KL."""

    profile: ModelProfile
    algebra: BatchAlgebra
    height: int
    width: int
    num_frames: int = 1
    num_denoising_steps: int
    trained_parameters: float
    """Elements that the optimizer moves: of the adapter, or of the whole transformer."""
    tuning: Tuning = Tuning.LORA
    weight_bytes: int = 2
    """Of one weight of the base."""
    zero_stage: int = 0
    memory_savings: MemorySavings = MemorySavings()
    passes: AlgorithmPasses = AlgorithmPasses()
    copies: PolicyCopies = PolicyCopies()
    pixels_decoded_together: int = 0
    """Of several samples of a fragment; 0: one sample after the other."""
    scoring: ScoringCost = NO_SCORING_COST
    scores_on_devices: bool = False
    """Reward lanes have devices like the others; else each has a core."""
    weight_transfer: WeightTransfer = WeightTransfer()

    @classmethod
    def of(cls, spec: RunSpec) -> "Workload":
        """Of `lora.targets` only the family's own are known; others are reckoned with as those."""
        profile = profile_of(spec.base_model)
        is_full = spec.tuning is Tuning.FULL
        return cls(
            profile=profile,
            algebra=spec.algebra,
            height=spec.sampling.height,
            width=spec.sampling.width,
            num_frames=spec.sampling.num_frames,
            num_denoising_steps=spec.sampling.num_denoising_steps,
            trained_parameters=profile.parameters if is_full else profile.lora_parameters(spec.lora.rank),
            tuning=spec.tuning,
            weight_bytes=_WEIGHT_BYTES[spec.base_model.dtype],
            zero_stage=spec.deepspeed.zero_stage,
            memory_savings=MemorySavings.of(spec, profile),
            passes=AlgorithmPasses.of(spec),
            copies=PolicyCopies.of(spec),
            pixels_decoded_together=MAX_PIXELS_DECODED_TOGETHER,
            scoring=ScoringCost.of(spec),
            scores_on_devices=spec.lanes.rewards_on_gpus,
        )

    @property
    def is_full(self) -> bool:
        return self.tuning is Tuning.FULL

    @property
    def num_tokens(self) -> int:
        return self.profile.num_tokens(height=self.height, width=self.width, num_frames=self.num_frames)

    @property
    def num_pixels(self) -> int:
        """Of one sample, all frames."""
        return self.height * self.width * self.num_frames

    @property
    def weights_bytes(self) -> float:
        """Of the transformer."""
        return self.profile.parameters * self.weight_bytes

    @property
    def trained_bytes(self) -> float:
        """Of what is trained, as forward passes use it."""
        return self.trained_parameters * (self.weight_bytes if self.is_full else _TRAINED_BYTES)

    @property
    def published_bytes(self) -> float:
        """Of one policy version: by all ranks together, and to each lane that pulls it."""
        return self.trained_bytes * (2 if self.copies.publishes_two else 1)

    @property
    def state_bytes(self) -> float:
        """Trained weights, gradients and optimizer moments in fp32, on one lane and unpartitioned."""
        return self.trained_parameters * STATE_BYTES

    @property
    def num_units_per_micro_batch(self) -> int:
        """At most."""
        algebra = self.algebra
        num_members = min(algebra.micro_batch_size, algebra.num_units_per_group)
        return min(algebra.micro_batch_size, num_members * algebra.num_denoising_steps_per_micro_batch)

    @property
    def num_recomputed_layers(self) -> int:
        """Of those that a pass goes through."""
        every = self.memory_savings.recomputed_blocks
        return -(-self.profile.num_layers // every) if every else 0

    @property
    def num_training_calls(self) -> float:
        """Of the transformer for one micro-batch: forward, backward, and what is recomputed in between."""
        recomputed = self.num_recomputed_layers / self.profile.num_layers
        return self.passes.training.calls * (self.passes.num_trained * (2 + recomputed) + self.passes.num_judged)

    @property
    def unit_flops(self) -> float:
        """Of one unit of training, whatever it trains on."""
        recomputed = self.num_recomputed_layers / self.profile.num_layers
        forwards = self.passes.num_trained * (1 + BACKWARD_FORWARDS[self.tuning] + recomputed) + self.passes.num_judged
        flops = self.passes.training.rows * forwards * self.profile.forward_flops(self.num_tokens)
        # The decoder's own weights are frozen.
        return flops + 2 * self.decoding_flops if self.passes.goes_through_decoder else flops

    @property
    def trajectory_flops(self) -> float:
        """Of one trajectory generated, decoding included."""
        passes = self.passes
        num_rows = passes.sampling.rows * self.num_denoising_steps + passes.training.rows * passes.num_scored
        return num_rows * self.profile.forward_flops(self.num_tokens) + self.decoding_flops

    @property
    def num_sampling_calls(self) -> int:
        """Of the transformer, for one fragment."""
        passes = self.passes
        return passes.sampling.calls * self.num_denoising_steps + passes.training.calls * passes.num_scored

    @property
    def decoding_flops(self) -> float:
        """In fp32 they count twice: an accelerator's TF32 rate is half of its bf16 rate (makers' data sheets)."""
        flops = self.profile.decoding_flops(height=self.height, width=self.width, num_frames=self.num_frames)
        return 2 * flops if self.profile.decodes_in_fp32 and self.weight_bytes == _WEIGHT_BYTES["bf16"] else flops

    def with_algebra(self, algebra: BatchAlgebra) -> "Workload":
        return replace(self, algebra=algebra)

    def with_fragment_size(self, fragment_size: int) -> "Workload":
        num_fragments = self.algebra.num_trajectories // fragment_size
        update = {"fragment_size": fragment_size, "num_fragments": num_fragments}
        return self.with_algebra(self.algebra.model_copy(update=update))

    def at_staleness(self, max_staleness: int) -> "Workload":
        """As a plan may choose it."""
        return replace(self, copies=replace(self.copies, stale=bool(max_staleness)))
